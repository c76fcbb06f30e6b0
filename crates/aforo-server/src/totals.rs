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
}

/// Adds to one tally.
#[derive(Clone, Debug)]
pub struct Counting(Arc<Tally>);

/// What the counts were at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
    /// Requests that met a rule and passed.
    pub allowed: u64,
    /// Requests that were refused.
    pub denied: u64,
    /// Requests that met no rule.
    pub exempt: u64,
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
        }
    }
}

impl Observe for Counting {
    fn answered(&self, answer: &Answer) {
        let count = match answer.outcome() {
            Outcome::Denied | Outcome::StoreDownDenied | Outcome::FallbackDenied => &self.0.denied,
            Outcome::Exempt => &self.0.exempt,
            Outcome::Allowed | Outcome::StoreDownAllowed | Outcome::FallbackAllowed => &self.0.allowed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}
