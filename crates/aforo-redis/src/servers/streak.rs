//! Streaks: failures in a row, and when they are enough to stop asking.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Fewer than these may be one late packet that held up those behind it.
const ENOUGH: u32 = 5;

/// Failures without an answer in between.
///
/// Their number alone would not do: a single late packet fails all the calls that were on their way with it. So they
/// must also have lasted for some deadlines: five, with the one that the first of them waited, but no more than about
/// a second.
#[derive(Debug)]
pub(super) struct Streak {
    patience: Duration,
    /// Whether `run` holds anything, so that an answer costs no lock while all is well.
    begun: AtomicBool,
    run: Mutex<Option<Run>>,
}

#[derive(Debug)]
struct Run {
    failures: u32,
    since: Instant,
}

impl Streak {
    /// For calls that may take `timeout`.
    pub(super) fn new(timeout: Duration) -> Streak {
        let patience = (timeout * 4).min(Duration::from_secs(1)).max(timeout);
        Streak { patience, begun: AtomicBool::new(false), run: Mutex::new(None) }
    }

    /// There was an answer: the streak has ended.
    pub(super) fn answered(&self) {
        if self.begun.load(Ordering::Relaxed) {
            *self.run.lock() = None;
            self.begun.store(false, Ordering::Relaxed);
        }
    }

    /// There was none, as was known at `now`. Whether it is time to stop asking.
    pub(super) fn failed(&self, now: Instant) -> bool {
        let mut run = self.run.lock();
        let run = run.get_or_insert(Run { failures: 0, since: now });
        run.failures = run.failures.saturating_add(1);
        self.begun.store(true, Ordering::Relaxed);
        run.failures >= ENOUGH && now.saturating_duration_since(run.since) >= self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(50);

    #[test]
    fn a_burst_of_failures_at_one_moment_is_not_enough() {
        let (streak, now) = (Streak::new(TIMEOUT), Instant::now());
        assert!((0..1000).all(|_| !streak.failed(now)));
    }

    #[test]
    fn a_few_failures_over_a_long_time_are_not_enough() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        assert!((0..4).all(|hour| !streak.failed(start + Duration::from_secs(3600 * hour))));
    }

    #[test]
    fn failures_in_a_row_for_five_deadlines_are_enough() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        let enough: Vec<bool> = (0..5).map(|n| streak.failed(start + TIMEOUT * n)).collect();
        assert_eq!(enough, [false, false, false, false, true]);
    }

    #[test]
    fn an_answer_in_between_begins_anew() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        for n in 0..100 {
            assert!(!streak.failed(start + TIMEOUT * n));
            if n % 4 == 3 {
                streak.answered();
            }
        }
    }

    #[test]
    fn a_long_timeout_does_not_mean_a_long_wait() {
        let (streak, start) = (Streak::new(Duration::from_secs(1)), Instant::now());
        assert!((0..4).all(|_| !streak.failed(start)));
        assert!(streak.failed(start + Duration::from_secs(1)));
    }
}
