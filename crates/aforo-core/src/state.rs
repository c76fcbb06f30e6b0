//! What a store remembers of one key.

use crate::algorithm::{fixed_window, sliding_window};
use crate::{Anchor, Grain, Moment};

/// What has been used of one counter, and when: never a rate, so that a changed quota takes effect with the next
/// decision.
///
/// A counter that owes nothing need not exist: absent is [`State::Fresh`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing is owed.
    #[default]
    Fresh,
    /// A token bucket's debt.
    TokenBucket {
        /// Grains owed at `at`.
        debt: u64,
        /// When that was, on a whole tick.
        at: Moment,
        /// The grains that `debt` counts.
        grain: Grain,
    },
    /// One window's count.
    FixedWindow {
        /// Units taken in the window.
        used: u32,
        /// A moment in the window; of a window that began at its first hit, its beginning.
        at: Moment,
        /// The window, in microseconds.
        window: u64,
        /// Where windows begin.
        anchor: Anchor,
    },
    /// Two windows' counts.
    SlidingWindow {
        /// Units taken in the window before.
        previous: u32,
        /// Units taken in the window of `at`.
        current: u32,
        /// A moment in the current window.
        at: Moment,
        /// The window, in microseconds.
        window: u64,
    },
    /// A summary of a log; the entries are the store's.
    SlidingLog {
        /// Units taken within the window before `newest`.
        live: u32,
        /// When the newest was taken.
        newest: Moment,
        /// The window, in microseconds.
        window: u64,
    },
}

impl State {
    /// From when on nothing is owed, so that the state may be forgotten.
    pub fn clear_at(&self) -> Moment {
        match *self {
            State::Fresh => Moment::EPOCH,
            State::TokenBucket { debt, at, grain } => {
                at.plus_micros(debt.div_ceil(u64::from(grain.per_tick).max(1)).saturating_mul(grain.tick.into()))
            }
            State::FixedWindow { used: 0, .. } => Moment::EPOCH,
            State::FixedWindow { at, window, anchor, .. } => {
                fixed_window::start_of(at, window, anchor).plus_micros(window)
            }
            State::SlidingWindow { previous, current, at, window } => match (previous, current) {
                (0, 0) => Moment::EPOCH,
                (_, 0) => sliding_window::start_of(at, window).plus_micros(window),
                _ => sliding_window::start_of(at, window).plus_micros(window.saturating_mul(2)),
            },
            State::SlidingLog { live: 0, .. } => Moment::EPOCH,
            State::SlidingLog { newest, window, .. } => newest.plus_micros(window),
        }
    }

    /// Whether nothing is owed at `now`.
    #[inline]
    pub fn is_clear(&self, now: Moment) -> bool {
        match *self {
            // The one case that a store asks about millions of times: no division.
            State::TokenBucket { debt, at, grain } => {
                let ticks = now.micros_since(at) / u64::from(grain.tick).max(1);
                ticks.saturating_mul(grain.per_tick.into()) >= debt
            }
            _ => self.clear_at() <= now,
        }
    }

    /// When the counter was last charged.
    #[inline]
    pub fn charged_at(&self) -> Moment {
        match *self {
            State::Fresh => Moment::EPOCH,
            State::TokenBucket { at, .. } | State::FixedWindow { at, .. } | State::SlidingWindow { at, .. } => at,
            State::SlidingLog { newest, .. } => newest,
        }
    }

    /// Units in use when the counter was last charged, whatever the algorithm: what a rule that changes its
    /// algorithm carries over. Rounded up, so that a change is never a gift.
    pub fn usage(&self) -> (u32, Moment) {
        match *self {
            State::Fresh => (0, Moment::EPOCH),
            State::TokenBucket { debt, at, grain } => (units(debt, grain), at),
            State::FixedWindow { used, at, .. } => (used, at),
            State::SlidingWindow { previous, current, at, window } => {
                let left = window - at.micros_since(sliding_window::start_of(at, window));
                let weighted = (u128::from(previous) * u128::from(left)).div_ceil(u128::from(window.max(1)));
                (u32::try_from(weighted + u128::from(current)).unwrap_or(u32::MAX), at)
            }
            State::SlidingLog { live, newest, .. } => (live, newest),
        }
    }
}

/// Whole units in a debt, rounded up.
pub(crate) fn units(debt: u64, grain: Grain) -> u32 {
    u32::try_from(debt.div_ceil(grain.per_unit.max(1))).unwrap_or(u32::MAX)
}
