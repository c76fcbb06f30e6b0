//! What nobody can do without: the key, finding it, and one exchange.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::workload::Name;
use crate::{KEYS, Limiter, Terms};

/// Only the key, as every row includes it.
pub(crate) struct Formatting;

impl Limiter for Formatting {
    type Desk = ();

    fn new(_: Terms) -> Formatting {
        Formatting
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        black_box(key);
    }
}

/// A map that nobody may add to, so that it needs no lock, and one compare-and-swap. No clock, no quota: no limiter.
pub(crate) struct Floor(HashMap<Box<str>, AtomicU64, foldhash::fast::RandomState>);

impl Limiter for Floor {
    type Desk = ();

    fn new(_: Terms) -> Floor {
        let names = (0..KEYS as u32).map(|number| Name::of(number).as_str().into());
        Floor(names.map(|name| (name, AtomicU64::new(0))).collect())
    }

    #[inline]
    fn ask(&self, (): &mut (), key: &str) {
        if let Some(counter) = self.0.get(key) {
            let mut count = counter.load(Ordering::Relaxed);
            while let Err(now) = counter.compare_exchange_weak(count, count + 1, Ordering::AcqRel, Ordering::Relaxed) {
                count = now;
            }
            black_box(count);
        }
    }
}
