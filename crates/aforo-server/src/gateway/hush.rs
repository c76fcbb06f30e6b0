//! A line in the log for a fault that may happen ten thousand times a second.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use super::clock::{Clock, StampCell};

const QUIET: Duration = Duration::from_secs(1);

/// Lets one line a second through, and says how many it held back.
pub(super) struct Hush {
    clock: Arc<Clock>,
    last: StampCell,
    held: Cell<u64>,
}

impl Hush {
    pub(super) fn new(clock: Arc<Clock>) -> Self {
        Self { clock, last: StampCell::unset(), held: Cell::new(0) }
    }

    /// Calls `line` with the number of lines that were held back before it, or holds this one back.
    pub(super) fn say(&self, line: impl FnOnce(u64)) {
        let now = self.clock.now();
        if self.last.get().is_some_and(|last| !last.is_past(QUIET, now)) {
            self.held.set(self.held.get() + 1);
        } else {
            self.last.set(now);
            line(self.held.take());
        }
    }
}
