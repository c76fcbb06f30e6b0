//! Token bucket: a debt that drains at the quota's rate and may not exceed the burst.
//!
//! It is the generic cell rate algorithm with an exact rational interval: where GCRA keeps the moment at which a key
//! owes nothing any more (its theoretical arrival time), this keeps the debt and the moment it was counted. Debt, not
//! tokens: what owes nothing need not exist, and raising the burst migrates nothing.

use crate::state::units;
use crate::{Cost, Moment, Quota, Standing, State, Wait, Weighed};

/// Grains owed, in the grain of the quota that they are weighed against, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debt {
    /// The grains.
    pub grains: u64,
    /// When they were counted.
    pub at: Moment,
}

/// What a debt comes to when a cost is weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    pub(crate) wait: Wait,
    /// With nothing taken.
    pub(crate) before: Debt,
    /// With the cost taken; equal to `before` if it does not fit.
    pub(crate) after: Debt,
}

/// A state as a debt, whatever it was counted by.
#[inline(always)]
fn debt_of(quota: &Quota, state: &State, now: Moment) -> Debt {
    match *state {
        State::TokenBucket { debt, at, grain } if grain.per_unit == quota.grain().per_unit => Debt { grains: debt, at },
        State::Fresh => Debt { grains: 0, at: now.floor_to(quota.grain().tick.into()) },
        // Counted in another grain or by another algorithm: whole units cross over.
        ref other => {
            let (used, at) = other.usage();
            Debt { grains: u64::from(used).saturating_mul(quota.grain().per_unit), at }
        }
    }
}

/// The debt on the tick that `now` lies in, or on its own if the clock has stepped back.
#[inline(always)]
fn drain(quota: &Quota, capacity: u64, debt: Debt, now: Moment) -> Debt {
    let grain = quota.grain();
    let (now, at) = (now.floor_to(grain.tick.into()), debt.at.ceil_to(grain.tick.into()));
    let from = now.max(at);
    let ticks = match grain.tick {
        1 => from.micros_since(at),
        tick => from.micros_since(at) / u64::from(tick),
    };
    let drained = ticks.saturating_mul(grain.per_tick.into());
    // A lowered burst leaves at most a full debt. It was full when it was counted, not now: else a wait would begin
    // anew each time it is asked for.
    Debt { grains: debt.grains.min(capacity).saturating_sub(drained), at: from }
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

fn owing(quota: &Quota, Debt { grains: debt, at }: Debt) -> State {
    if debt == 0 { State::Fresh } else { State::TokenBucket { debt, at, grain: quota.grain() } }
}

/// Weighs a cost against a debt in a bucket that holds `burst` units.
#[inline(always)]
pub(crate) fn weigh_debt(quota: &Quota, burst: u32, debt: Debt, cost: Cost, now: Moment) -> Weight {
    let capacity = capacity(quota, burst);
    let before = drain(quota, capacity, debt, now);
    if cost.units() > burst {
        return Weight { wait: Wait::FOREVER, before, after: before };
    }
    let charged = before.grains + u64::from(cost.units()) * quota.grain().per_unit;
    if charged > capacity {
        let fits_at = drained_at(quota, charged - capacity, before.at);
        return Weight { wait: Wait::micros(fits_at.micros_since(now)), before, after: before };
    }
    Weight { wait: Wait::NONE, before, after: Debt { grains: charged, ..before } }
}

/// Weighs a cost against a bucket that holds `burst` units.
pub fn weigh(quota: &Quota, burst: u32, state: &State, cost: Cost, now: Moment) -> Weighed {
    let Weight { wait, before, after } = weigh_debt(quota, burst, debt_of(quota, state, now), cost, now);
    Weighed { wait, from: now, before: owing(quota, before), after: owing(quota, after) }
}

/// What a debt leaves of the bucket.
#[inline(always)]
pub(crate) fn debt_standing(quota: &Quota, burst: u32, debt: Debt, now: Moment) -> Standing {
    let left = capacity(quota, burst).saturating_sub(debt.grains) / quota.grain().per_unit;
    Standing { remaining: left as u32, reset_micros: drained_at(quota, debt.grains, debt.at).micros_since(now) }
}

/// What is left of the bucket.
pub fn standing(quota: &Quota, burst: u32, state: &State, now: Moment) -> Standing {
    match *state {
        State::TokenBucket { debt, at, .. } => debt_standing(quota, burst, Debt { grains: debt, at }, now),
        _ => Standing { remaining: burst, reset_micros: 0 },
    }
}

/// The debt after a refused cost that is counted all the same: at most full.
pub(crate) fn overcharge(quota: &Quota, burst: u32, state: &State, cost: Cost, now: Moment) -> State {
    let capacity = capacity(quota, burst);
    let debt = drain(quota, capacity, debt_of(quota, state, now), now);
    let price = u64::from(cost.units()).saturating_mul(quota.grain().per_unit);
    owing(quota, Debt { grains: debt.grains.saturating_add(price).min(capacity), ..debt })
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
    owing(quota, Debt { grains: debt.saturating_sub(given), at })
}
