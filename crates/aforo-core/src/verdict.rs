//! What one rule answers.

use core::time::Duration;

use crate::Mode;

/// How long until a cost fits, in microseconds: the compact form of [`Retry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait(u64);

impl Wait {
    /// It fits now.
    pub const NONE: Wait = Wait(0);
    /// It can never fit.
    pub const FOREVER: Wait = Wait(u64::MAX);

    /// It fits after so many microseconds.
    ///
    /// At the end of time, where moments stand still, a wait could come out as none: a refusal stays one.
    #[inline]
    pub(crate) const fn micros(micros: u64) -> Wait {
        match micros {
            0 => Wait(1),
            u64::MAX => Wait(u64::MAX - 1),
            micros => Wait(micros),
        }
    }

    /// The wait; `None` if waiting cannot help.
    #[inline]
    pub const fn as_micros(self) -> Option<u64> {
        if self.0 == u64::MAX { None } else { Some(self.0) }
    }
}

/// When the same cost would fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// It fits now.
    Now,
    /// It fits this long from now if nothing else is taken meanwhile, and not a microsecond earlier.
    After(Duration),
    /// It exceeds what could ever fit.
    Never,
}

impl From<Wait> for Retry {
    fn from(wait: Wait) -> Retry {
        match wait.as_micros() {
            Some(0) => Retry::Now,
            Some(micros) => Retry::After(Duration::from_micros(micros)),
            None => Retry::Never,
        }
    }
}

/// One rule's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the rule only reports.
    pub mode: Mode,
    /// The most units that can be had at once.
    pub limit: u32,
    /// Whole units that are left, after this request.
    pub remaining: u32,
    /// How long until this cost fits.
    pub wait: Wait,
    /// Microseconds until the counter is as new (of a fixed window: until it ends).
    pub reset_micros: u64,
}

impl Verdict {
    /// Whether the cost fits. A shadow rule that says no stops nobody.
    #[inline]
    pub const fn allowed(&self) -> bool {
        self.wait.0 == 0
    }

    /// Whether this verdict refuses the request.
    #[inline]
    pub const fn refuses(&self) -> bool {
        self.wait.0 != 0 && matches!(self.mode, Mode::Enforce)
    }

    /// When the same cost would fit.
    pub fn retry(&self) -> Retry {
        self.wait.into()
    }

    /// How long until the counter is as new (of a fixed window: until it ends).
    pub const fn reset_after(&self) -> Duration {
        Duration::from_micros(self.reset_micros)
    }
}
