//! The coarse clock of a worker. Reading it is one load: exact enough for timeouts of seconds, and free.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often the clock moves.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Milliseconds since the worker started, as of the last tick.
pub(super) struct Clock {
    started: Instant,
    now: AtomicU64,
}

/// A point on a [`Clock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64);

/// Where a stamp is kept. A connection's task writes it and the sweep reads it; both run on the worker's thread, so the
/// order of memory is never in question. It is atomic only because hyper wants to be able to move a stream.
pub(super) struct StampCell(AtomicU64);

// === impl Clock ===

impl Clock {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), now: AtomicU64::new(1) }
    }

    pub(super) fn now(&self) -> Stamp {
        Stamp(self.now.load(Relaxed))
    }

    /// Catches up with real time.
    pub(super) fn tick(&self) {
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.now.store(passed + 1, Relaxed);
    }
}

// === impl Stamp ===

impl Stamp {
    /// Whether `limit` has surely passed since this stamp. A stamp may be a tick older than what it marks.
    pub(super) fn is_past(self, limit: Duration, now: Stamp) -> bool {
        let limit = u64::try_from((limit + TICK).as_millis()).unwrap_or(u64::MAX);
        now.0.saturating_sub(self.0) >= limit
    }
}

// === impl StampCell ===

impl StampCell {
    pub(super) fn unset() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(super) fn at(stamp: Stamp) -> Self {
        Self(AtomicU64::new(stamp.0))
    }

    pub(super) fn get(&self) -> Option<Stamp> {
        match self.0.load(Relaxed) {
            0 => None,
            at => Some(Stamp(at)),
        }
    }

    pub(super) fn set(&self, stamp: Stamp) {
        self.0.store(stamp.0, Relaxed);
    }

    pub(super) fn set_if_unset(&self, stamp: Stamp) {
        if self.0.load(Relaxed) == 0 {
            self.set(stamp);
        }
    }

    pub(super) fn clear(&self) {
        self.0.store(0, Relaxed);
    }
}
