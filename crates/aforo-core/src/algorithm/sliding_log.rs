//! Sliding log: one entry a unit, kept for a window's length.
//!
//! The entries are the store's: this module reads them through [`Log`] and says what they mean.

use crate::{Cost, Moment, Quota, Standing, State, Wait, Weighed};

/// The units that were taken, oldest first, one entry each.
pub trait Log {
    /// How many entries there are.
    fn len(&self) -> u32;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the entry at `index` was taken; `index` is below [`Log::len`].
    fn at(&self, index: u32) -> Moment;
}

/// A log all of whose units came at one moment: what a state says of a log that is not at hand.
#[derive(Clone, Copy, Debug)]
pub struct Lump {
    units: u32,
    at: Moment,
}

impl From<&State> for Lump {
    fn from(state: &State) -> Lump {
        let (units, at) = state.usage();
        Lump { units, at }
    }
}

impl Log for Lump {
    fn len(&self) -> u32 {
        self.units
    }

    fn at(&self, _: u32) -> Moment {
        self.at
    }
}

/// How many of the oldest entries have left the window at `from`.
pub fn expired(quota: &Quota, log: &impl Log, from: Moment) -> u32 {
    let (mut low, mut high) = (0, log.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if from.micros_since(log.at(middle)) >= quota.window_micros() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn summary(quota: &Quota, live: u32, newest: Moment) -> State {
    match live {
        0 => State::Fresh,
        _ => State::SlidingLog { live, newest, window: quota.window_micros() },
    }
}

/// Weighs a cost against a log. The states it gives are summaries; the store adds and removes the entries.
pub fn weigh(quota: &Quota, log: &impl Log, cost: Cost, now: Moment) -> Weighed {
    let newest = if log.is_empty() { now } else { log.at(log.len() - 1) };
    // Entries stay in order: a clock that has stepped back waits at the newest.
    let from = now.max(newest);
    let gone = expired(quota, log, from);
    let live = log.len() - gone;
    let before = summary(quota, live, newest);
    let (limit, units) = (quota.limit(), cost.units());
    if units > limit {
        return Weighed::refused(Wait::FOREVER, from, before);
    }
    if units > 0 && units > limit.saturating_sub(live) {
        let leaving = units - limit.saturating_sub(live) + live.saturating_sub(limit);
        let fits_at = log.at(gone + leaving - 1).plus_micros(quota.window_micros());
        return Weighed::refused(Wait::micros(fits_at.micros_since(from)), from, before);
    }
    let after = if units == 0 { before } else { summary(quota, live + units, from) };
    Weighed { wait: Wait::NONE, from, before, after }
}

/// What is left of the log.
pub fn standing(quota: &Quota, state: &State, from: Moment) -> Standing {
    let State::SlidingLog { live, newest, window } = *state else {
        return Standing { remaining: quota.limit(), reset_micros: 0 };
    };
    Standing {
        remaining: quota.limit().saturating_sub(live),
        reset_micros: newest.plus_micros(window).micros_since(from),
    }
}

/// The summary after a refused cost that is counted all the same: the oldest entries make room.
pub(crate) fn overcharge(quota: &Quota, state: &State, cost: Cost, from: Moment) -> State {
    let live = if let State::SlidingLog { live, .. } = *state { live } else { 0 };
    match cost.units() {
        0 => *state,
        units => summary(quota, live.saturating_add(units).min(quota.limit()), from),
    }
}
