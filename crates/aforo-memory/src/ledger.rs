//! The counters of one request, held while it is decided.

use aforo_core::{Cost, Hit, Hits, Ledger, MAX_HITS, Moment, Op, State, Weighed};
use parking_lot::MutexGuard;

use crate::counters::Counters;
use crate::fingerprint::Fingerprint;
use crate::shard::{Found, Shard};

/// Where one hit is counted.
struct Seat<'a> {
    found: Found<'a>,
    /// Which of the guards holds its shard; of no meaning in the overflow.
    guard: usize,
    in_overflow: bool,
    /// Whether room for a new counter was taken and is not used yet.
    reserved: bool,
}

/// The shards of all hits, locked.
pub(crate) struct Held<'a> {
    counters: &'a Counters,
    op: Op,
    seats: [Option<Seat<'a>>; MAX_HITS],
    guards: [Option<MutexGuard<'a, Shard>>; MAX_HITS],
    overflow: Option<MutexGuard<'a, Shard>>,
    written: bool,
}

impl<'a> Held<'a> {
    /// Locks the shards of `hits`, each once, in ascending order, and makes room for the keys that are new.
    pub(crate) fn lock(counters: &'a Counters, op: Op, hits: &Hits, now: Moment) -> Held<'a> {
        let mut held = Held {
            counters,
            op,
            seats: [const { None }; MAX_HITS],
            guards: [const { None }; MAX_HITS],
            overflow: None,
            written: false,
        };
        let mut shards = [usize::MAX; MAX_HITS];
        for ((index, hit), shard) in hits.iter().enumerate().zip(&mut shards) {
            let owner = counters.owner(&hit.key);
            *shard = counters.shard_of(owner);
            let found = Found { owner, place: None, cost: held.cost(owner, hit), now, room: counters.room() };
            held.seats[index] = Some(Seat { found, guard: 0, in_overflow: false, reserved: false });
        }
        let mut ascending = shards;
        ascending.sort_unstable();
        for (index, guard) in held.guards.iter_mut().enumerate() {
            if index == 0 || ascending[index - 1] != ascending[index] {
                *guard = counters.lock(ascending[index]);
            }
        }
        for (seat, shard) in held.seats.iter_mut().flatten().zip(shards) {
            seat.guard = ascending.iter().position(|&locked| locked == shard).unwrap_or_default();
        }
        if op == Op::Take {
            (0..hits.len()).for_each(|index| held.make_room(index));
        }
        held
    }

    /// All that is dropped for a new key is dropped before anything is weighed: what was found stays where it is
    /// until it is written, and what was reserved is what is added.
    fn make_room(&mut self, index: usize) {
        if let Some((seat, shard)) = self.at(index)
            && let Err(place) = shard.find(seat.found.owner)
        {
            shard.make_room(place, seat.found.now, seat.found.room);
        }
    }

    /// What a hit takes, together with the earlier hits of its key.
    fn cost(&self, owner: Fingerprint, hit: &Hit) -> Cost {
        let earlier = self.seats.iter().flatten().rfind(|seat| seat.found.owner == owner);
        let taken = earlier.map_or(0, |seat| seat.found.cost.units());
        Cost::new(hit.cost.units().saturating_add(taken))
    }

    /// Gives back the room that was reserved and not used, then unlocks.
    pub(crate) fn release(self) {
        for seat in self.seats.iter().flatten().filter(|seat| seat.reserved) {
            seat.found.room.give_back(1);
        }
    }

    /// A hit's seat and its shard. Every hit has them.
    fn at(&mut self, index: usize) -> Option<(&mut Seat<'a>, &mut Shard)> {
        let seat = self.seats.get_mut(index)?.as_mut()?;
        let guard = if seat.in_overflow { &mut self.overflow } else { self.guards.get_mut(seat.guard)? };
        Some((seat, guard.as_mut()?))
    }

    fn weigh_at(&mut self, index: usize, hit: &Hit) -> Option<Weighed> {
        let written = self.written;
        let (seat, shard) = self.at(index)?;
        match shard.find(seat.found.owner) {
            // What is weighed after something was written is what it has come to, for this hit alone.
            place if written => Some(shard.weigh(place.ok(), &hit.quota, hit.cost, seat.found.now)),
            Ok(place) => {
                seat.found.place = Some(place);
                Some(shard.weigh(Some(place), &hit.quota, seat.found.cost, seat.found.now))
            }
            Err(_) => self.weigh_absent(index, hit),
        }
    }

    /// Weighs against a fresh counter if there is room for one, else against an overflow counter.
    fn weigh_absent(&mut self, index: usize, hit: &Hit) -> Option<Weighed> {
        let (op, counters) = (self.op, self.counters);
        let (seat, shard) = self.at(index)?;
        let fits = match op {
            Op::Take => {
                seat.reserved = seat.found.room.take();
                seat.reserved
            }
            Op::Peek | Op::Refund { .. } => !seat.found.room.is_full(),
        };
        if fits || seat.in_overflow {
            return Some(shard.weigh(None, &hit.quota, seat.found.cost, seat.found.now));
        }
        seat.in_overflow = true;
        seat.found.owner = counters.overflow_owner(&hit.key, seat.found.owner);
        seat.found.room = counters.overflow_room();
        self.overflow.get_or_insert_with(|| counters.lock_overflow());
        self.weigh_at(index, hit)
    }
}

impl Ledger for Held<'_> {
    fn weigh(&mut self, index: usize, hit: &Hit, now: Moment) -> Weighed {
        self.weigh_at(index, hit).unwrap_or_else(|| aforo_core::weigh(&hit.quota, &State::Fresh, hit.cost, now))
    }

    fn charge(&mut self, index: usize, hit: &Hit, weighed: &Weighed) {
        self.written = true;
        if let Some((seat, shard)) = self.at(index) {
            let added = shard.charge(&seat.found, hit, weighed);
            seat.reserved &= !added;
        }
    }

    fn overcharge(&mut self, index: usize, hit: &Hit, weighed: &Weighed) {
        self.written = true;
        if let Some((seat, shard)) = self.at(index) {
            let added = shard.overcharge(&seat.found, hit, weighed);
            seat.reserved &= !added;
        }
    }

    fn refund(&mut self, index: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        self.written = true;
        if let Some((seat, shard)) = self.at(index) {
            shard.refund(&seat.found, hit, weighed, taken_at);
        }
    }
}
