//! How many requests were answered how, since the start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aforo_http::Observe;
use aforo_policy::{Answer, Outcome};

/// Counts of answers. Each thread that answers has a tally of its own, so that counting is no meeting place.
#[derive(Debug, Default)]
pub struct Totals {
    tallies: Mutex<Vec<Arc<Tally>>>,
}

/// One thread's counts.
#[derive(Debug, Default)]
pub struct Tally {
    allowed: AtomicU64,
    denied: AtomicU64,
    exempt: AtomicU64,
    store_down_allowed: AtomicU64,
    store_down_denied: AtomicU64,
}

/// Adds to one tally.
#[derive(Clone, Debug)]
pub struct Counting(Arc<Tally>);

/// What the counts were at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
    /// Requests that met a rule and passed, as the store decided or the one that stands in for it.
    pub allowed: u64,
    /// Requests that were refused so.
    pub denied: u64,
    /// Requests that met no rule.
    pub exempt: u64,
    /// Requests that passed because the store was down: nobody counted them.
    pub store_down_allowed: u64,
    /// Requests that were refused because the store was down.
    pub store_down_denied: u64,
}

impl Totals {
    /// A tally for one more thread.
    pub fn counting(&self) -> Counting {
        let tally = Arc::<Tally>::default();
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&tally));
        Counting(tally)
    }

    /// The counts now.
    pub fn counted(&self) -> Counted {
        let tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Tally) -> &AtomicU64| tallies.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum();
        Counted {
            allowed: sum(|tally| &tally.allowed),
            denied: sum(|tally| &tally.denied),
            exempt: sum(|tally| &tally.exempt),
            store_down_allowed: sum(|tally| &tally.store_down_allowed),
            store_down_denied: sum(|tally| &tally.store_down_denied),
        }
    }
}

impl Observe for Counting {
    fn answered(&self, answer: &Answer) {
        let count = match answer.outcome() {
            Outcome::Allowed | Outcome::FallbackAllowed => &self.0.allowed,
            Outcome::Denied | Outcome::FallbackDenied => &self.0.denied,
            Outcome::Exempt => &self.0.exempt,
            Outcome::StoreDownAllowed => &self.0.store_down_allowed,
            Outcome::StoreDownDenied => &self.0.store_down_denied,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}
