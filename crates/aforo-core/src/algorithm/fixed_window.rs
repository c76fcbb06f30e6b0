//! Fixed window: a count that starts again with each window.

use crate::{Anchor, Cost, Moment, Quota, Standing, State, Wait, Weighed};

/// The beginning of the window that holds `at`.
#[inline]
pub(crate) fn start_of(at: Moment, window: u64, anchor: Anchor) -> Moment {
    match anchor {
        Anchor::Epoch => at.floor_to(window),
        Anchor::FirstHit => at,
    }
}

/// Units used in the window of `from`, which is now or, if the clock has stepped back behind the window that the
/// counter knows, that window's beginning; and the moment by which the state names the window.
#[inline]
fn settle(quota: &Quota, anchor: Anchor, state: &State, now: Moment) -> (u32, Moment, Moment) {
    let window = quota.window_micros();
    let (used, at) = state.usage();
    if used == 0 {
        return (0, now, now);
    }
    let start = start_of(at, window, anchor);
    let from = now.max(start);
    if from.micros_since(start) >= window {
        return (0, from, from);
    }
    let named_by = match anchor {
        Anchor::Epoch => at.max(from),
        Anchor::FirstHit => start,
    };
    (used, from, named_by)
}

#[inline]
fn counting(quota: &Quota, anchor: Anchor, used: u32, at: Moment) -> State {
    match used {
        0 => State::Fresh,
        _ => State::FixedWindow { used, at, window: quota.window_micros(), anchor },
    }
}

#[inline]
fn until_end(quota: &Quota, anchor: Anchor, at: Moment, from: Moment) -> u64 {
    let window = quota.window_micros();
    start_of(at, window, anchor).plus_micros(window).micros_since(from)
}

/// Weighs a cost against a window's count.
#[inline]
pub fn weigh(quota: &Quota, anchor: Anchor, state: &State, cost: Cost, now: Moment) -> Weighed {
    let (used, from, at) = settle(quota, anchor, state, now);
    let before = counting(quota, anchor, used, at);
    let units = cost.units();
    if units > quota.limit() {
        return Weighed::refused(Wait::FOREVER, from, before);
    }
    if units > 0 && units > quota.limit().saturating_sub(used) {
        return Weighed::refused(Wait::micros(until_end(quota, anchor, at, from)), from, before);
    }
    Weighed { wait: Wait::NONE, from, before, after: counting(quota, anchor, used + units, at) }
}

/// What is left of the window.
#[inline]
pub fn standing(quota: &Quota, anchor: Anchor, state: &State, from: Moment) -> Standing {
    let (used, at) = match *state {
        State::FixedWindow { used, at, .. } => (used, at),
        // A window that begins with its first hit has not begun.
        _ if anchor == Anchor::FirstHit => return Standing { remaining: quota.limit(), reset_micros: 0 },
        _ => (0, from),
    };
    Standing { remaining: quota.limit().saturating_sub(used), reset_micros: until_end(quota, anchor, at, from) }
}

/// The count after a refused cost that is counted all the same: at most full.
pub(crate) fn overcharge(quota: &Quota, anchor: Anchor, state: &State, cost: Cost, from: Moment) -> State {
    let (used, _, at) = settle(quota, anchor, state, from);
    let full = used.saturating_add(cost.units()).min(quota.limit());
    counting(quota, anchor, used.max(full), at)
}

/// The count after a cost has been given back, if it was taken in the same window.
pub(crate) fn refund(quota: &Quota, anchor: Anchor, state: &State, cost: Cost, taken_at: Moment) -> State {
    let State::FixedWindow { used, at, window, .. } = *state else {
        return *state;
    };
    let start = start_of(at, window, anchor);
    if taken_at < start || taken_at.micros_since(start) >= window {
        return *state;
    }
    counting(quota, anchor, used.saturating_sub(cost.units()), at)
}
