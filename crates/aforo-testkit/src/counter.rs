//! One counter, with the entries of its log if it has one.

use std::borrow::Cow;

use aforo_core::algorithm::sliding_log::{self, Log};
use aforo_core::{Algorithm, Cost, Moment, Quota, Standing, State, Weighed, standing};

/// A counter as the engine keeps it: what a store holds for one key, in its plainest form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    state: State,
    entries: Entries,
}

/// The entries of a sliding log, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries(Vec<Moment>);

impl Log for Entries {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn at(&self, index: u32) -> Moment {
        self.0[index as usize]
    }
}

impl Counter {
    /// What is kept, in summary.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Weighs a cost.
    pub fn weigh(&self, quota: &Quota, cost: Cost, now: Moment) -> Weighed {
        match quota.algorithm() {
            Algorithm::SlidingLog => sliding_log::weigh(quota, self.entries(quota).as_ref(), cost, now),
            _ => aforo_core::weigh(quota, &self.state, cost, now),
        }
    }

    /// Takes a cost if it fits, and says what was weighed.
    pub fn take(&mut self, quota: &Quota, cost: Cost, now: Moment) -> Weighed {
        let weighed = self.weigh(quota, cost, now);
        if weighed.allowed() && cost.units() > 0 {
            self.charge(quota, cost, &weighed);
        }
        weighed
    }

    /// Writes a cost down that was weighed and fits.
    pub fn charge(&mut self, quota: &Quota, cost: Cost, weighed: &Weighed) {
        self.write(quota, cost, weighed, weighed.after);
    }

    /// Writes a cost down that was weighed and refused.
    pub fn overcharge(&mut self, quota: &Quota, cost: Cost, weighed: &Weighed) {
        self.write(quota, cost, weighed, aforo_core::overcharge(quota, weighed, cost));
    }

    /// Gives a cost back that was taken at that moment.
    pub fn refund(&mut self, quota: &Quota, cost: Cost, weighed: &Weighed, taken_at: Moment) {
        if quota.algorithm() != Algorithm::SlidingLog {
            self.state = aforo_core::refund(quota, weighed, cost, taken_at);
            return;
        }
        let Entries(mut entries) = self.entries.clone();
        // Counted by another algorithm, there is no entry of that moment; and what has left the window is left alone.
        let logged = matches!(self.state, State::SlidingLog { .. }) && entries.contains(&taken_at);
        if !logged || weighed.before == State::Fresh {
            return;
        }
        let mut left = cost.units();
        entries.retain(|at| {
            let given_back = left > 0 && *at == taken_at;
            left -= u32::from(given_back);
            !given_back
        });
        self.keep(quota, entries);
    }

    /// What is left after a cost was weighed and nothing was taken.
    pub fn standing(&self, quota: &Quota, now: Moment) -> Standing {
        let weighed = self.weigh(quota, Cost::new(0), now);
        standing(quota, &weighed.before, weighed.from)
    }

    fn write(&mut self, quota: &Quota, cost: Cost, weighed: &Weighed, state: State) {
        if quota.algorithm() != Algorithm::SlidingLog {
            *self = Counter { state, entries: Entries::default() };
            return;
        }
        let Entries(mut entries) = self.entries(quota).into_owned();
        let limit = quota.limit() as usize;
        entries.retain(|at| weighed.from.micros_since(*at) < quota.window_micros());
        entries.extend(std::iter::repeat_n(weighed.from, limit.min(cost.units() as usize)));
        entries.drain(..entries.len().saturating_sub(limit));
        self.keep(quota, entries);
        assert_eq!(self.state, state, "the engine's summary says what the entries say");
    }

    fn keep(&mut self, quota: &Quota, entries: Vec<Moment>) {
        self.state = match entries.last() {
            Some(&newest) => State::SlidingLog { live: entries.len() as u32, newest, window: quota.window_micros() },
            None => State::Fresh,
        };
        self.entries = Entries(entries);
    }

    /// The log, or the units of another algorithm as entries of one moment; no more of those than matter.
    fn entries(&self, quota: &Quota) -> Cow<'_, Entries> {
        match self.state {
            State::SlidingLog { .. } => Cow::Borrowed(&self.entries),
            ref other => {
                let (units, at) = other.usage();
                Cow::Owned(Entries(vec![at; units.min(quota.limit()) as usize]))
            }
        }
    }
}
