//! Sliding window of two counters: this window's, and the previous one's weighted by the part of it that still lies
//! within a window's length of now.
//!
//! Without division: `previous · (w − elapsed) + (current + cost) · w ≤ limit · w`, in ticks that keep every product
//! below 2^53.

use crate::{Cost, Moment, Quota, Standing, State, Wait, Weighed};

/// The beginning of the window that holds `at`.
#[inline]
pub(crate) fn start_of(at: Moment, window: u64) -> Moment {
    at.floor_to(window)
}

/// Both counts as they stand in the window of `from`, which is now or, if the clock has stepped back behind the
/// window that the counter knows, that window's beginning.
struct Counts {
    previous: u32,
    current: u32,
    from: Moment,
}

#[inline]
fn settle(quota: &Quota, state: &State, now: Moment) -> Counts {
    let window = quota.window_micros();
    let (previous, current, at) = match *state {
        State::Fresh => return Counts { previous: 0, current: 0, from: now },
        State::SlidingWindow { previous, current, at, window: counted_in } if counted_in == window => {
            (previous, current, at)
        }
        // Counted in windows of another length or by another algorithm: what was in use then crosses over.
        ref other => {
            let (used, at) = other.usage();
            (0, used, at)
        }
    };
    let start = start_of(at, window);
    let from = now.max(start);
    let (previous, current) = match from.micros_since(start) / window {
        0 => (previous, current),
        1 => (current, 0),
        _ => (0, 0),
    };
    // A lowered limit leaves at most a full window of each: that much can be outweighed within two windows.
    Counts { previous: previous.min(quota.limit()), current: current.min(quota.limit()), from }
}

#[inline]
fn counting(quota: &Quota, previous: u32, current: u32, at: Moment) -> State {
    match (previous, current) {
        (0, 0) => State::Fresh,
        _ => State::SlidingWindow { previous, current, at, window: quota.window_micros() },
    }
}

/// Ticks since the window began, and in all of it.
#[inline]
fn ticks(quota: &Quota, from: Moment) -> (u64, u64) {
    let (window, tick) = (quota.window_micros(), u64::from(quota.grain().tick));
    (from.micros_since(start_of(from, window)) / tick, window / tick)
}

/// Weighs a cost against both counts.
#[inline]
pub fn weigh(quota: &Quota, state: &State, cost: Cost, now: Moment) -> Weighed {
    let Counts { previous, current, from } = settle(quota, state, now);
    let before = counting(quota, previous, current, from);
    let (limit, units) = (u64::from(quota.limit()), u64::from(cost.units()));
    if units > limit {
        return Weighed::refused(Wait::FOREVER, from, before);
    }
    let (elapsed, window) = ticks(quota, from);
    let asked = u64::from(current) + units;
    let weighted = u64::from(previous) * (window - elapsed) + asked * window;
    if units > 0 && weighted > limit * window {
        let fits = fits_at(limit, window, previous, current, units);
        let at = start_of(from, quota.window_micros()).plus_micros(fits * u64::from(quota.grain().tick));
        return Weighed::refused(Wait::micros(at.micros_since(from)), from, before);
    }
    Weighed { wait: Wait::NONE, from, before, after: counting(quota, previous, asked as u32, from) }
}

/// Ticks from the beginning of the present window until `units` fit, if nothing else comes.
fn fits_at(limit: u64, window: u64, previous: u32, current: u32, units: u64) -> u64 {
    // The first tick at which `count`, ageing over the window, leaves `room`.
    let aged = |count: u32, room: u64| window - (room * window / u64::from(count.max(1))).min(window);
    match limit.checked_sub(u64::from(current) + units) {
        Some(room) => aged(previous, room),
        None => window + aged(current, limit - units),
    }
}

/// What is left of the window.
#[inline]
pub fn standing(quota: &Quota, state: &State, from: Moment) -> Standing {
    let State::SlidingWindow { previous, current, .. } = *state else {
        return Standing { remaining: quota.limit(), reset_micros: 0 };
    };
    let (elapsed, window) = ticks(quota, from);
    let weighted = u64::from(previous) * (window - elapsed) + u64::from(current) * window;
    let remaining = (u64::from(quota.limit()) * window).saturating_sub(weighted) / window;
    let end = start_of(from, quota.window_micros()).plus_micros(quota.window_micros()).micros_since(from);
    let reset_micros = if current > 0 { end + quota.window_micros() } else { end };
    Standing { remaining: remaining as u32, reset_micros }
}

/// The counts after a refused cost that is counted all the same: at most a full window.
pub(crate) fn overcharge(quota: &Quota, state: &State, cost: Cost, from: Moment) -> State {
    let Counts { previous, current, from } = settle(quota, state, from);
    counting(quota, previous, current.saturating_add(cost.units()).min(quota.limit()), from)
}

/// The counts after a cost has been given back, if it was taken in one of their windows.
pub(crate) fn refund(quota: &Quota, state: &State, cost: Cost, taken_at: Moment) -> State {
    let State::SlidingWindow { previous, current, at, window } = *state else {
        return *state;
    };
    let start = start_of(at, window);
    let units = cost.units();
    if taken_at >= start && taken_at.micros_since(start) < window {
        counting(quota, previous, current.saturating_sub(units), at)
    } else if taken_at < start && start.micros_since(start_of(taken_at, window)) == window {
        counting(quota, previous.saturating_sub(units), current, at)
    } else {
        *state
    }
}
