//! How many requests were answered how, since the start.

use std::sync::atomic::{AtomicU64, Ordering};

use aforo_policy::Answer;

/// Counts of answers. Each is only ever added to, so that reading them needs no lock.
#[derive(Debug, Default)]
pub struct Totals {
    allowed: AtomicU64,
    denied: AtomicU64,
    exempt: AtomicU64,
}

/// What the counts were at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
    /// Requests that met a rule and passed.
    pub allowed: u64,
    /// Requests that were refused.
    pub denied: u64,
    /// Requests that met no rule.
    pub exempt: u64,
}

impl Totals {
    /// Adds an answer.
    pub fn add(&self, answer: &Answer) {
        let count = match answer.allowed() {
            false => &self.denied,
            true if answer.rules().next().is_none() => &self.exempt,
            true => &self.allowed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts now.
    pub fn counted(&self) -> Counted {
        Counted {
            allowed: self.allowed.load(Ordering::Relaxed),
            denied: self.denied.load(Ordering::Relaxed),
            exempt: self.exempt.load(Ordering::Relaxed),
        }
    }
}
