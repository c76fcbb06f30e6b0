//! The only code that counts: one function for each thing that can happen to a counter, each pure.

use crate::algorithm::{fixed_window, sliding_log, sliding_window, token_bucket};
use crate::{Algorithm, Cost, Moment, Quota, State, Wait};

/// What a counter answers to a cost, before anyone knows whether the request is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// How long until the cost fits.
    pub wait: Wait,
    /// The moment that waits and resets are counted from: now, unless the clock has stepped back behind the window
    /// that the counter knows.
    pub from: Moment,
    /// The state as it is now, with nothing taken.
    pub before: State,
    /// The state with the cost taken; equal to `before` if it does not fit.
    pub after: State,
}

impl Weighed {
    /// Whether the cost fits.
    #[inline]
    pub const fn allowed(&self) -> bool {
        matches!(self.wait, Wait::NONE)
    }

    #[inline]
    pub(crate) const fn refused(wait: Wait, from: Moment, before: State) -> Weighed {
        Weighed { wait, from, before, after: before }
    }
}

/// Weighs a cost against a counter.
///
/// A state that was counted under another quota, or by another algorithm, is first carried over: the units that it
/// says were used stay used. A sliding log is weighed as if all its units had come at its newest one's moment; a
/// store that keeps the entries asks [`sliding_log::weigh`].
pub fn weigh(quota: &Quota, state: &State, cost: Cost, now: Moment) -> Weighed {
    match quota.algorithm() {
        Algorithm::TokenBucket { burst } => token_bucket::weigh(quota, burst, state, cost, now),
        Algorithm::FixedWindow(anchor) => fixed_window::weigh(quota, anchor, state, cost, now),
        Algorithm::SlidingWindow => sliding_window::weigh(quota, state, cost, now),
        Algorithm::SlidingLog => sliding_log::weigh(quota, &sliding_log::Lump::from(state), cost, now),
    }
}

/// What is left of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whole units left.
    pub remaining: u32,
    /// Microseconds until the counter is as new (of a fixed window: until it ends).
    pub reset_micros: u64,
}

/// What is left of a counter whose state `weigh` has brought up to `from`.
pub fn standing(quota: &Quota, state: &State, from: Moment) -> Standing {
    match quota.algorithm() {
        Algorithm::TokenBucket { burst } => token_bucket::standing(quota, burst, state, from),
        Algorithm::FixedWindow(anchor) => fixed_window::standing(quota, anchor, state, from),
        Algorithm::SlidingWindow => sliding_window::standing(quota, state, from),
        Algorithm::SlidingLog => sliding_log::standing(quota, state, from),
    }
}

/// The state after a refused request that is counted all the same (`count_denied`).
///
/// It never holds more than the quota, so who stops knocking is let in as soon as after using all of it: within a
/// bucket's time to full, within a window, or within two where two counters slide.
pub fn overcharge(quota: &Quota, weighed: &Weighed, cost: Cost) -> State {
    match quota.algorithm() {
        Algorithm::TokenBucket { burst } => token_bucket::overcharge(quota, burst, &weighed.before, cost, weighed.from),
        Algorithm::FixedWindow(anchor) => fixed_window::overcharge(quota, anchor, &weighed.before, cost, weighed.from),
        Algorithm::SlidingWindow => sliding_window::overcharge(quota, &weighed.before, cost, weighed.from),
        Algorithm::SlidingLog => sliding_log::overcharge(quota, &weighed.before, cost, weighed.from),
    }
}

/// The state after `cost` that was taken at `taken_at` has been given back.
///
/// If the window that it was taken in is gone, nothing changes. A sliding log's entries are the store's to remove.
pub fn refund(quota: &Quota, weighed: &Weighed, cost: Cost, taken_at: Moment) -> State {
    match quota.algorithm() {
        Algorithm::TokenBucket { .. } => token_bucket::refund(quota, &weighed.before, cost, taken_at, weighed.from),
        Algorithm::FixedWindow(anchor) => fixed_window::refund(quota, anchor, &weighed.before, cost, taken_at),
        Algorithm::SlidingWindow => sliding_window::refund(quota, &weighed.before, cost, taken_at),
        Algorithm::SlidingLog => weighed.before,
    }
}
