//! Token bucket: a debt that drains at the quota's rate and may not exceed the burst.
//!
//! It is the generic cell rate algorithm with an exact rational interval: where GCRA keeps the moment at which a key
//! owes nothing any more (its theoretical arrival time), this keeps the debt and the moment it was counted. Debt, not
//! tokens: what owes nothing need not exist, and raising the burst migrates nothing.

use crate::state::units;
use crate::{Cost, Moment, Quota, Standing, State, Wait, Weighed};

/// The debt at `from`, the tick that `now` lies in or the state's own if the clock has stepped back.
#[inline(always)]
fn settle(quota: &Quota, capacity: u64, state: &State, now: Moment) -> (u64, Moment) {
    let grain = quota.grain();
    let now = now.floor_to(grain.tick.into());
    let (debt, at) = match *state {
        State::TokenBucket { debt, at, grain: counted_in } if counted_in.per_unit == grain.per_unit => (debt, at),
        State::Fresh => return (0, now),
        // Counted in another grain or by another algorithm: whole units cross over.
        ref other => {
            let (used, at) = other.usage();
            (u64::from(used).saturating_mul(grain.per_unit), at)
        }
    };
    let at = at.ceil_to(grain.tick.into());
    let from = now.max(at);
    let ticks = match grain.tick {
        1 => from.micros_since(at),
        tick => from.micros_since(at) / u64::from(tick),
    };
    let drained = ticks.saturating_mul(grain.per_tick.into());
    // A lowered burst leaves at most a full debt. It was full when it was counted, not now: else a wait would begin
    // anew each time it is asked for.
    (debt.min(capacity).saturating_sub(drained), from)
}

#[inline(always)]
fn capacity(quota: &Quota, burst: u32) -> u64 {
    u64::from(burst) * quota.grain().per_unit
}

/// The moment at which a debt has drained by `grains`.
#[inline(always)]
fn drained_at(quota: &Quota, grains: u64, at: Moment) -> Moment {
    let grain = quota.grain();
    let ticks = if grain.per_tick == 1 { grains } else { grains.div_ceil(grain.per_tick.into()) };
    at.plus_micros(ticks.saturating_mul(grain.tick.into()))
}

#[inline(always)]
fn owing(quota: &Quota, debt: u64, at: Moment) -> State {
    if debt == 0 { State::Fresh } else { State::TokenBucket { debt, at, grain: quota.grain() } }
}

/// Weighs a cost against a bucket that holds `burst` units.
#[inline(always)]
pub fn weigh(quota: &Quota, burst: u32, state: &State, cost: Cost, now: Moment) -> Weighed {
    let capacity = capacity(quota, burst);
    let (debt, at) = settle(quota, capacity, state, now);
    let before = owing(quota, debt, at);
    if cost.units() > burst {
        return Weighed::refused(Wait::FOREVER, now, before);
    }
    let charged = debt + u64::from(cost.units()) * quota.grain().per_unit;
    if charged > capacity {
        let fits_at = drained_at(quota, charged - capacity, at);
        return Weighed::refused(Wait::micros(fits_at.micros_since(now)), now, before);
    }
    Weighed { wait: Wait::NONE, from: now, before, after: owing(quota, charged, at) }
}

/// What is left of the bucket.
#[inline(always)]
pub fn standing(quota: &Quota, burst: u32, state: &State, now: Moment) -> Standing {
    let State::TokenBucket { debt, at, .. } = *state else {
        return Standing { remaining: burst, reset_micros: 0 };
    };
    let left = capacity(quota, burst).saturating_sub(debt) / quota.grain().per_unit;
    Standing { remaining: left as u32, reset_micros: drained_at(quota, debt, at).micros_since(now) }
}

/// The debt after a refused cost that is counted all the same: at most full.
pub(crate) fn overcharge(quota: &Quota, burst: u32, state: &State, cost: Cost, now: Moment) -> State {
    let capacity = capacity(quota, burst);
    let (debt, at) = settle(quota, capacity, state, now);
    let price = u64::from(cost.units()).saturating_mul(quota.grain().per_unit);
    owing(quota, debt.saturating_add(price).min(capacity), at)
}

/// The debt after a cost has been given back; unchanged once the bucket must have drained since.
pub(crate) fn refund(quota: &Quota, state: &State, cost: Cost, taken_at: Moment, now: Moment) -> State {
    let State::TokenBucket { debt, at, grain } = *state else {
        return *state;
    };
    if u128::from(now.micros_since(taken_at)) >= quota.time_to_full().as_micros() {
        return *state;
    }
    let given = u64::from(cost.units().min(units(debt, grain))).saturating_mul(grain.per_unit);
    owing(quota, debt.saturating_sub(given), at)
}
