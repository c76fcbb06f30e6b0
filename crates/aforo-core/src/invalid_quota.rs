//! Why there is no such quota.

use core::fmt;

/// Why there is no such quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidQuota {
    /// The limit is zero.
    ZeroLimit,
    /// The burst is zero.
    ZeroBurst,
    /// The window is shorter than 1 ms.
    WindowTooShort,
    /// The window is longer than 366 days.
    WindowTooLong,
    /// The window is not a whole number of microseconds.
    WindowTooFine,
    /// A sliding log of more than 10,000 units.
    LogTooLong,
    /// No tick from 1 µs to 1 s that divides the window keeps the count below 2^52.
    NotExact,
}

impl InvalidQuota {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            InvalidQuota::ZeroLimit => "a limit of zero allows nothing: ask for that by `nothing`",
            InvalidQuota::ZeroBurst => "a burst of zero allows nothing: it is at least 1",
            InvalidQuota::WindowTooShort => "the window is shorter than 1 ms",
            InvalidQuota::WindowTooLong => "the window is longer than 366 days",
            InvalidQuota::WindowTooFine => "the window is not a whole number of microseconds",
            InvalidQuota::LogTooLong => "a sliding log keeps every unit: its limit is at most 10,000",
            InvalidQuota::NotExact => {
                "so large a limit cannot be counted exactly over so long a window: take a smaller limit, a shorter window or one of whole seconds"
            }
        }
    }
}

impl fmt::Display for InvalidQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl core::error::Error for InvalidQuota {}
