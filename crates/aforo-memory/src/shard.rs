//! A lock's share of the counters.

use aforo_core::algorithm::sliding_log::{self, Log, Lump};
use aforo_core::{Algorithm, Cost, Hit, Moment, Quota, State, Verdict, Weighed};

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

/// A hit's counter, as it was when it was looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    /// Whose it is.
    pub(crate) owner: Fingerprint,
    /// Where it was, if there is one.
    pub(crate) place: Option<usize>,
    /// What the hit takes, and what earlier hits of the same key take: two hits of one key fit only together.
    pub(crate) cost: Cost,
    /// When it is weighed.
    pub(crate) now: Moment,
    /// What bounds the number of counters.
    pub(crate) room: &'a Room,
}

/// Whether the store is better off without a counter.
#[inline(always)]
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

    /// Decides a take from the token bucket that was just found at `place`, if its debt is counted in the quota's own
    /// grain; nothing else.
    #[inline(always)]
    pub(crate) fn take(&mut self, place: usize, hit: &Hit, now: Moment) -> Option<Verdict> {
        let Algorithm::TokenBucket { burst } = hit.quota.algorithm() else { return None };
        let state = self.table.state_mut(place)?;
        let debt = state.debt_in(hit.quota.grain()).filter(|_| !hit.count_denied)?;
        let charge = |debt| *state = state.with_debt(debt);
        Some(aforo_core::decide_debt(hit, burst, debt, now, charge))
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

    fn weigh_log(&self, packed: Option<Packed>, quota: &Quota, cost: Cost, now: Moment) -> Weighed {
        if let Some(ring) = packed.and_then(|packed| packed.log()).and_then(|ring| self.logs.get(ring)) {
            return sliding_log::weigh(quota, ring, cost, now);
        }
        let state = packed.map_or(State::Fresh, |packed| packed.state());
        sliding_log::weigh(quota, &Lump::from(&state), cost, now)
    }

    /// Writes down what was weighed. Says whether a counter was added.
    #[inline]
    pub(crate) fn charge(&mut self, found: &Found<'_>, hit: &Hit, weighed: &Weighed) -> bool {
        match hit.quota.algorithm() {
            Algorithm::SlidingLog => self.append(found, hit, weighed),
            _ => self.write(found, &weighed.after),
        }
    }

    /// Writes down what was refused. Says whether a counter was added.
    pub(crate) fn overcharge(&mut self, found: &Found<'_>, hit: &Hit, weighed: &Weighed) -> bool {
        match hit.quota.algorithm() {
            Algorithm::SlidingLog => self.append(found, hit, weighed),
            _ => self.write(found, &aforo_core::overcharge(&hit.quota, weighed, found.cost)),
        }
    }

    /// Gives back what was taken then.
    pub(crate) fn refund(&mut self, found: &Found<'_>, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        if hit.quota.algorithm() == Algorithm::SlidingLog {
            return self.take_out(found, hit, taken_at);
        }
        let after = aforo_core::refund(&hit.quota, weighed, found.cost, taken_at);
        if after != weighed.before {
            self.write(found, &after);
        }
    }

    #[inline]
    fn write(&mut self, found: &Found<'_>, state: &State) -> bool {
        match Packed::new(state) {
            Some(packed) => self.put(found, packed),
            None => {
                self.forget(found.owner, found.room);
                false
            }
        }
    }

    #[inline]
    fn put(&mut self, found: &Found<'_>, packed: Packed) -> bool {
        let Some(counter) = found.place.and_then(|place| self.table.get_mut(place, found.owner)) else {
            return self.put_elsewhere(found, packed);
        };
        let before = counter.state;
        counter.state = packed.seen_again();
        if let Some(ring) = before.log().filter(|&ring| packed.log() != Some(ring)) {
            self.logs.close(ring);
        }
        false
    }

    /// For a new key, and for one whose place was moved by another key of the same request.
    fn put_elsewhere(&mut self, found: &Found<'_>, packed: Packed) -> bool {
        if let Ok(place) = self.find(found.owner) {
            return self.put(&Found { place: Some(place), ..*found }, packed);
        }
        // Not swept: that might drop what another hit of the same request is about to write.
        if self.table.is_fuller_than(CROWDED) {
            self.table.resize(self.table.len() + 1);
        }
        self.table.insert(Counter { owner: found.owner, state: packed });
        true
    }

    /// Adds units to a log, whether they fit or not: the oldest entries make room.
    fn append(&mut self, found: &Found<'_>, hit: &Hit, weighed: &Weighed) -> bool {
        let Hit { quota, cost, .. } = hit;
        // Looked for again: an earlier hit of the same request may have added it.
        let place = self.find(found.owner).ok();
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
            Some(packed) => self.put(&Found { place, ..*found }, packed.with_log(number)),
            None => false,
        }
    }

    fn take_out(&mut self, found: &Found<'_>, hit: &Hit, taken_at: Moment) {
        let place = self.find(found.owner).ok();
        let Some(counter) = place.and_then(|place| self.table.get_mut(place, found.owner)) else { return };
        // Counted by another algorithm, there is no entry of that moment.
        let Some(number) = counter.state.log() else { return };
        let Some(ring) = self.logs.get_mut(number) else { return };
        ring.give_back(hit.cost.units(), taken_at);
        match Packed::new(&ring.summary(&hit.quota)) {
            Some(packed) => counter.state = packed.with_log(number).seen_again(),
            None => {
                self.forget(found.owner, found.room);
            }
        }
    }

    /// Drops a counter. Says whether there was one.
    pub(crate) fn forget(&mut self, owner: Fingerprint, room: &Room) -> bool {
        self.find(owner).is_ok_and(|place| self.retain(place, place + 1, room, |_| false) > 0)
    }

    /// Sees to it that a counter can be added at `place`: drops what owes nothing nearby, and everywhere if the table
    /// or the whole store is full.
    pub(crate) fn make_room(&mut self, place: usize, now: Moment, room: &Room) {
        self.retain(place, place + NEIGHBOURS, room, |counter| !is_idle(counter, now));
        if self.table.is_fuller_than(CROWDED) {
            self.sweep(now, room);
            if self.table.is_fuller_than(RELIEVED) {
                self.table.resize(self.table.len() + 1);
            }
        }
        if room.is_full() && now.as_micros().wrapping_sub(self.swept_at.as_micros()) >= WANT {
            self.sweep(now, room);
        }
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
