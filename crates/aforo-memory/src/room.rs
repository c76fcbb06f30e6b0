//! How many keys there may be, and how many there are.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The bound on the number of keys. It is touched when a key comes or goes, not by each decision.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    keys: AtomicUsize,
    overflowed: AtomicU64,
}

impl Room {
    pub(crate) const fn new(most: NonZeroUsize) -> Room {
        Room { most: most.get(), keys: AtomicUsize::new(0), overflowed: AtomicU64::new(0) }
    }

    /// Keys that have a counter of their own.
    pub(crate) fn keys(&self) -> usize {
        self.keys.load(Ordering::Relaxed)
    }

    /// The most of them that there may be.
    pub(crate) const fn most(&self) -> usize {
        self.most
    }

    /// Whether there is no room for one more.
    pub(crate) fn is_full(&self) -> bool {
        self.keys() >= self.most
    }

    /// Takes the room of one key, if there is any.
    pub(crate) fn take(&self) -> bool {
        if self.keys.fetch_add(1, Ordering::Relaxed) < self.most {
            return true;
        }
        self.give_back(1);
        false
    }

    /// Gives back the room of so many keys.
    pub(crate) fn give_back(&self, keys: usize) {
        if keys > 0 {
            self.keys.fetch_sub(keys, Ordering::Relaxed);
        }
    }

    /// Counts a decision that an overflow counter took part in.
    pub(crate) fn count_overflow(&self) {
        self.overflowed.fetch_add(1, Ordering::Relaxed);
    }

    /// Decisions that an overflow counter took part in.
    pub(crate) fn overflowed(&self) -> u64 {
        self.overflowed.load(Ordering::Relaxed)
    }
}
