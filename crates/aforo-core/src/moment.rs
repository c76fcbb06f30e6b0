//! Time as the engine counts it: whole microseconds since the Unix epoch.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// A point in time, in whole microseconds since the Unix epoch.
///
/// A double holds it exactly until the year 2255, so a store that computes in doubles agrees with this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The Unix epoch.
    pub const EPOCH: Moment = Moment(0);

    /// The moment so many microseconds after the Unix epoch.
    #[inline]
    pub const fn from_micros(micros: u64) -> Moment {
        Moment(micros)
    }

    /// The moment so many milliseconds after the Unix epoch.
    #[inline]
    pub const fn from_millis(millis: u64) -> Moment {
        Moment(millis.saturating_mul(1000))
    }

    /// Microseconds since the Unix epoch.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Microseconds from `earlier` to here; zero if `earlier` is later.
    #[inline]
    pub const fn micros_since(self, earlier: Moment) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment so many microseconds later; at the end of time it stays there.
    #[inline]
    pub const fn plus_micros(self, micros: u64) -> Moment {
        Moment(self.0.saturating_add(micros))
    }

    /// This moment moved back to a whole multiple of `tick` microseconds.
    #[inline]
    pub(crate) const fn floor_to(self, tick: u64) -> Moment {
        if tick <= 1 { self } else { Moment(self.0 - self.0 % tick) }
    }

    /// This moment moved forward to a whole multiple of `tick` microseconds.
    #[inline]
    pub(crate) const fn ceil_to(self, tick: u64) -> Moment {
        if tick <= 1 { self } else { Moment(self.0.div_ceil(tick).saturating_mul(tick)) }
    }
}

/// Where a store reads the time.
///
/// A clock may stand still and may step back: the algorithms never count backwards.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Moment;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Moment {
        (**self).now()
    }
}

/// A clock that moves when it is told to: for tests, and for running a policy over recorded traffic.
///
/// ```
/// use aforo_core::{Clock, ManualClock, Moment};
/// use core::time::Duration;
///
/// let clock = ManualClock::at(Moment::from_millis(1_000));
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now(), Moment::from_millis(1_005));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that shows `moment`.
    pub const fn at(moment: Moment) -> ManualClock {
        ManualClock(AtomicU64::new(moment.0))
    }

    /// Moves the clock forward by whole microseconds; what is finer is dropped.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        let moved = |at: u64| Some(at.saturating_add(micros));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
    }

    /// Moves the clock to `moment`, forwards or backwards.
    pub fn set(&self, moment: Moment) {
        self.0.store(moment.0, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment(self.0.load(Ordering::Relaxed))
    }
}
