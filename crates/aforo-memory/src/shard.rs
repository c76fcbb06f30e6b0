//! A lock's share of the counters.

use aforo_core::algorithm::sliding_log::{self, Log, Lump};
use aforo_core::{Algorithm, Cost, Moment, Quota, State, Weighed};

use crate::fingerprint::Fingerprint;
use crate::logs::Logs;
use crate::packed::Packed;
use crate::room::Room;
use crate::table::{Counter, Table};

/// Percent of the homes at which a table is swept, and grown if that does not help.
const CROWDED: usize = 85;
/// Percent of the homes up to which a sweep has helped.
const RELIEVED: usize = 75;
/// Places that a new key looks at, to drop what owes nothing.
const NEIGHBOURS: usize = 8;
/// Microseconds between two sweeps for want of room: a flood of keys into a full store cannot make them its own.
const WANT: u64 = 250_000;
/// Microseconds for which a key that was charged more than once is kept after its last charge, though it owes
/// nothing: a client that comes back keeps its place in a flood of keys that do not.
const GRACE: u64 = 10_000_000;

/// Counters behind one lock.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    table: Table,
    logs: Logs,
    swept_at: Moment,
}

/// Whether the store is better off without a counter.
#[inline]
fn is_idle(counter: &Counter, now: Moment) -> bool {
    let state = &counter.state;
    let kept = state.is_seen_again() && now.micros_since(state.charged_at()) < GRACE;
    !kept && state.state().is_clear(now)
}

impl Shard {
    /// The place of a counter, or that where it would be put.
    #[inline]
    pub(crate) fn find(&self, owner: Fingerprint) -> Result<usize, usize> {
        self.table.find(owner)
    }

    /// Weighs a cost against the counter at `place`, or against a fresh one.
    #[inline]
    pub(crate) fn weigh(&self, place: Option<usize>, quota: &Quota, cost: Cost, now: Moment) -> Weighed {
        let packed = place.and_then(|place| self.table.get(place)).map(|counter| counter.state);
        if quota.algorithm() == Algorithm::SlidingLog {
            return self.weigh_log(packed, quota, cost, now);
        }
        let state = packed.map_or(State::Fresh, |packed| packed.state());
        aforo_core::weigh(quota, &state, cost, now)
    }

    #[inline(never)]
    fn weigh_log(&self, packed: Option<Packed>, quota: &Quota, cost: Cost, now: Moment) -> Weighed {
        if let Some(ring) = packed.and_then(|packed| packed.log()).and_then(|ring| self.logs.get(ring)) {
            return sliding_log::weigh(quota, ring, cost, now);
        }
        let state = packed.map_or(State::Fresh, |packed| packed.state());
        sliding_log::weigh(quota, &Lump::from(&state), cost, now)
    }

    /// Writes a state down. `place` is where the counter was when it was weighed. Says whether a counter was added.
    #[inline]
    pub(crate) fn write(
        &mut self,
        place: Option<usize>,
        owner: Fingerprint,
        state: &State,
        now: Moment,
        room: &Room,
    ) -> bool {
        match Packed::new(state) {
            Some(packed) => self.put(place, owner, packed, now, room),
            None => {
                self.forget(owner, room);
                false
            }
        }
    }

    #[inline]
    fn put(&mut self, place: Option<usize>, owner: Fingerprint, packed: Packed, now: Moment, room: &Room) -> bool {
        let Some(counter) = place.and_then(|place| self.table.get_mut(place, owner)) else {
            return self.put_elsewhere(owner, packed, now, room);
        };
        let before = counter.state;
        counter.state = packed.seen_again();
        if let Some(ring) = before.log().filter(|&ring| packed.log() != Some(ring)) {
            self.logs.close(ring);
        }
        false
    }

    /// For a new key, and for one whose place was moved by another key of the same request.
    #[inline(never)]
    fn put_elsewhere(&mut self, owner: Fingerprint, packed: Packed, now: Moment, room: &Room) -> bool {
        if let Ok(place) = self.find(owner) {
            return self.put(Some(place), owner, packed, now, room);
        }
        if self.table.is_fuller_than(CROWDED) {
            self.sweep(now, room);
            if self.table.is_fuller_than(RELIEVED) {
                self.table.resize(self.table.len() + 1);
            }
        }
        self.table.insert(Counter { owner, state: packed });
        true
    }

    /// Adds units to a log, whether they fit or not: the oldest entries make room. Says whether a counter was added.
    #[inline(never)]
    pub(crate) fn append(
        &mut self,
        owner: Fingerprint,
        (quota, cost): (&Quota, Cost),
        weighed: &Weighed,
        now: Moment,
        room: &Room,
    ) -> bool {
        // Looked for again: an earlier hit of the same request may have added it.
        let place = self.find(owner).ok();
        let before = place.and_then(|place| self.table.get(place)).and_then(|counter| counter.state.log());
        let number = before.unwrap_or_else(|| self.logs.open());
        let Some(ring) = self.logs.get_mut(number) else { return false };
        if ring.is_empty()
            && let State::SlidingLog { live, newest, .. } = weighed.before
        {
            // Another algorithm has counted until now: its units came at its moment.
            ring.push(live.min(quota.limit()), newest);
        }
        ring.expire(quota, weighed.from);
        ring.push(cost.units().min(quota.limit()), weighed.from);
        ring.keep_newest(quota.limit());
        match Packed::new(&ring.summary(quota)) {
            Some(packed) => self.put(place, owner, packed.with_log(number), now, room),
            None => false,
        }
    }

    /// Takes the units of one moment out of a log.
    #[inline(never)]
    pub(crate) fn take_out(&mut self, owner: Fingerprint, quota: &Quota, cost: Cost, taken_at: Moment, room: &Room) {
        let Some(counter) = self.find(owner).ok().and_then(|place| self.table.get_mut(place, owner)) else { return };
        // Counted by another algorithm, there is no entry of that moment.
        let Some(number) = counter.state.log() else { return };
        let Some(ring) = self.logs.get_mut(number) else { return };
        ring.give_back(cost.units(), taken_at);
        match Packed::new(&ring.summary(quota)) {
            Some(packed) => counter.state = packed.with_log(number).seen_again(),
            None => {
                self.forget(owner, room);
            }
        }
    }

    /// Drops a counter. Says whether there was one.
    #[inline(never)]
    pub(crate) fn forget(&mut self, owner: Fingerprint, room: &Room) -> bool {
        self.find(owner).is_ok_and(|place| self.retain(place, place + 1, room, |_| false) > 0)
    }

    /// Drops what owes nothing from a few places on.
    pub(crate) fn sweep_near(&mut self, place: usize, now: Moment, room: &Room) {
        self.retain(place, place + NEIGHBOURS, room, |counter| !is_idle(counter, now));
    }

    /// Sweeps for want of room. Says whether it was time to.
    pub(crate) fn sweep_in_want(&mut self, now: Moment, room: &Room) -> bool {
        let due = now.as_micros().wrapping_sub(self.swept_at.as_micros()) >= WANT;
        if due {
            self.sweep(now, room);
        }
        due
    }

    /// Drops all that owe nothing, and gives back memory that is not needed any more.
    pub(crate) fn sweep(&mut self, now: Moment, room: &Room) {
        self.swept_at = now;
        self.retain(0, usize::MAX, room, |counter| !is_idle(counter, now));
        if self.table.is_sparse() {
            self.table.resize(0);
        }
    }

    fn retain(&mut self, from: usize, until: usize, room: &Room, keep: impl Fn(&Counter) -> bool) -> usize {
        let logs = &mut self.logs;
        let dropped = self.table.retain(from, until, |counter| {
            let kept = keep(counter);
            if !kept && let Some(ring) = counter.state.log() {
                logs.close(ring);
            }
            kept
        });
        room.give_back(dropped);
        dropped
    }
}
