//! The clock that tokens are verified by.

use std::time::SystemTime;

use aforo_core::{Clock, Moment};

/// The system's wall clock, asked each time. A store's clock follows the wall clock of its start; an expiry names a date, and
/// a clock that was wrong then and has been put right must not decide about it.
#[derive(Debug)]
pub(super) struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Moment {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Moment::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}
