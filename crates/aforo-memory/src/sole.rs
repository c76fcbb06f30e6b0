//! The common case: a request with one hit, whose key has a counter.

use aforo_core::{Hit, Ledger, Moment, Weighed};
use parking_lot::MutexGuard;

use crate::shard::{Found, Shard};

/// A counter that was found, and its shard, locked.
///
/// No room has to be reserved and no other shard to be held: this case costs half of what
/// [`Held`](crate::ledger::Held) does.
pub(crate) struct Sole<'a> {
    shard: MutexGuard<'a, Shard>,
    found: Found<'a>,
    written: bool,
}

impl<'a> Sole<'a> {
    pub(crate) fn new(shard: MutexGuard<'a, Shard>, found: Found<'a>) -> Sole<'a> {
        Sole { shard, found, written: false }
    }
}

impl Ledger for Sole<'_> {
    fn weigh(&mut self, _: usize, hit: &Hit, now: Moment) -> Weighed {
        if self.written {
            // A refund may have dropped it.
            self.found.place = self.shard.find(self.found.owner).ok();
        }
        self.shard.weigh(self.found.place, &hit.quota, hit.cost, now)
    }

    fn charge(&mut self, _: usize, hit: &Hit, weighed: &Weighed) {
        self.written = true;
        self.shard.charge(&self.found, hit, weighed);
    }

    fn overcharge(&mut self, _: usize, hit: &Hit, weighed: &Weighed) {
        self.written = true;
        self.shard.overcharge(&self.found, hit, weighed);
    }

    fn refund(&mut self, _: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        self.written = true;
        self.shard.refund(&self.found, hit, weighed, taken_at);
    }
}
