//! The clock of the store: the processor's counter, anchored to the Unix epoch once.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use aforo_core::{Clock, Moment};

/// Nanoseconds after which the counter is compared with the system's monotonic clock again.
const TRUSTED: u64 = 64_000_000;
/// A comparison that took longer than this many nanoseconds was interrupted, and says nothing.
const INTERRUPTED: u64 = 20_000;

/// The system's time, read from the processor's counter: a few nanoseconds where a system call's fast path takes twenty.
///
/// It takes the wall clock once, when it is made, and follows the system's monotonic clock from there: setting the
/// wall clock moves no window and drains no bucket. Making one calibrates the counter, which takes milliseconds the
/// first time in a process and microseconds later: make one and keep it.
pub struct SystemClock {
    counter: quanta::Clock,
    began: Instant,
    /// Nanoseconds from the Unix epoch to `began`.
    epoch: u64,
    /// What the counter showed, in nanoseconds, when it was last compared.
    compared: AtomicU64,
    /// Nanoseconds to add to the counter, wrapping.
    offset: AtomicU64,
    /// The last moment told before `offset` was changed: a correction backwards waits here until it is caught up.
    floor: AtomicU64,
}

impl SystemClock {
    /// A clock that shows the system's time of now.
    pub fn new() -> SystemClock {
        let counter = quanta::Clock::new();
        // A system that believes to live before 1970 counts from 1970.
        let epoch = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let began = Instant::now();
        let shown = counter.delta_as_nanos(0, counter.raw());
        let epoch = u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX);
        SystemClock {
            counter,
            began,
            epoch,
            compared: AtomicU64::new(shown),
            offset: AtomicU64::new(epoch.wrapping_sub(shown)),
            floor: AtomicU64::new(epoch),
        }
    }

    #[inline]
    fn counted(&self) -> u64 {
        self.counter.delta_as_nanos(0, self.counter.raw())
    }

    /// Compares the counter with the system's monotonic clock, so that a calibration that is off by a millionth does
    /// not become seconds over weeks.
    #[cold]
    fn compare(&self, last: u64, counted: u64) {
        if self.compared.compare_exchange(last, counted, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let before = self.counted();
        let truth = self.epoch.saturating_add(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let after = self.counted();
        if after.saturating_sub(before) > INTERRUPTED {
            return;
        }
        let told = after.wrapping_add(self.offset.load(Ordering::Relaxed));
        // A counter that has leapt ahead was compared before anybody was told: no reason to wait for that moment.
        self.floor.fetch_max(told.min(truth.saturating_add(TRUSTED)), Ordering::Relaxed);
        // Released after the floor: who sees the new offset sees the floor that belongs to it.
        self.offset.store(truth.wrapping_sub(before), Ordering::Release);
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Moment {
        let counted = self.counted();
        let last = self.compared.load(Ordering::Relaxed);
        // Wrapping: a counter that was set back is compared at once.
        if counted.wrapping_sub(last) >= TRUSTED {
            self.compare(last, counted);
        }
        let offset = self.offset.load(Ordering::Acquire);
        Moment::from_micros(counted.wrapping_add(offset).max(self.floor.load(Ordering::Relaxed)) / 1000)
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl fmt::Debug for SystemClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SystemClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall() -> u64 {
        SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros() as u64
    }

    #[test]
    fn it_shows_the_time_of_the_system() {
        let clock = SystemClock::new();
        let (before, shown, after) = (wall(), clock.now().as_micros(), wall());
        assert!(shown + 5_000 > before && shown < after + 5_000, "{before} {shown} {after}");
    }

    #[test]
    fn it_never_steps_back_and_is_corrected_on_the_way() {
        let clock = SystemClock::new();
        let first = clock.compared.load(Ordering::Relaxed);
        let mut last = clock.now();
        let begun = Instant::now();
        while clock.compared.load(Ordering::Relaxed) == first && begun.elapsed().as_secs() < 5 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        assert_ne!(clock.compared.load(Ordering::Relaxed), first, "the counter was never compared");
    }

    #[test]
    fn a_counter_that_runs_ahead_waits_for_the_truth() {
        let clock = SystemClock::new();
        clock.offset.fetch_add(30_000_000, Ordering::Relaxed);
        let ahead = clock.now();
        let mut last = ahead;
        let begun = Instant::now();
        // Due at once; repeated in case a comparison was interrupted.
        while clock.offset.load(Ordering::Relaxed).wrapping_add(clock.counted()) > last.as_micros() * 1000 + 10_000_000
        {
            clock.compared.store(0, Ordering::Relaxed);
            let now = clock.now();
            assert!(now >= last);
            last = now;
            assert!(begun.elapsed().as_secs() < 5, "never corrected");
        }
        let truth = clock.epoch / 1000 + clock.began.elapsed().as_micros() as u64;
        assert!(clock.now() >= ahead && clock.now().as_micros() < truth + 40_000);
    }

    #[test]
    fn a_counter_that_is_set_back_is_put_right_by_the_next_reading() {
        let clock = SystemClock::new();
        let before = clock.now();
        // As if the counter had shown an hour more until now.
        let hour = 3_600_000_000_000;
        clock.compared.fetch_add(hour, Ordering::Relaxed);
        clock.offset.fetch_sub(hour, Ordering::Relaxed);
        let begun = Instant::now();
        while clock.now() < before.plus_micros(1) {
            clock.compared.fetch_add(hour, Ordering::Relaxed);
            assert!(begun.elapsed().as_secs() < 5, "it stands still");
        }
    }
}
