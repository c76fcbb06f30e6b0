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
/// must also have lasted: for five deadlines, with the one that the first of them waited, if nothing came from the
/// server in all that time; four times as long if answers came, only too late. The first is a server that is gone, the
/// second one that is of no use to callers with such a timeout.
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
    silent_since: Instant,
    heard: u64,
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

    /// There was none, as was known at `now`, when things had come from the server `heard` times. Whether it is time to
    /// stop asking.
    pub(super) fn failed(&self, now: Instant, heard: u64) -> bool {
        let mut run = self.run.lock();
        let run = run.get_or_insert(Run { failures: 0, since: now, silent_since: now, heard });
        run.failures = run.failures.saturating_add(1);
        if run.heard != heard {
            run.heard = heard;
            run.silent_since = now;
        }
        self.begun.store(true, Ordering::Relaxed);
        let silent = now.saturating_duration_since(run.silent_since);
        let failing = now.saturating_duration_since(run.since);
        run.failures >= ENOUGH && (silent >= self.patience || failing >= self.patience * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(50);

    #[test]
    fn a_burst_of_failures_at_one_moment_is_not_enough() {
        let (streak, now) = (Streak::new(TIMEOUT), Instant::now());
        assert!((0..1000).all(|_| !streak.failed(now, 0)));
    }

    #[test]
    fn a_few_failures_over_a_long_time_are_not_enough() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        assert!((0..4).all(|hour| !streak.failed(start + Duration::from_secs(3600 * hour), 0)));
    }

    #[test]
    fn silence_for_five_deadlines_is_enough() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        let enough: Vec<bool> = (0..5).map(|n| streak.failed(start + TIMEOUT * n, 7)).collect();
        assert_eq!(enough, [false, false, false, false, true]);
    }

    #[test]
    fn late_answers_are_borne_four_times_as_long() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        let enough = (0..).position(|n| streak.failed(start + TIMEOUT * n, (n / 3).into()));
        assert_eq!(enough, Some(16));
    }

    #[test]
    fn an_answer_in_between_begins_anew() {
        let (streak, start) = (Streak::new(TIMEOUT), Instant::now());
        for n in 0..100 {
            assert!(!streak.failed(start + TIMEOUT * n, 0));
            if n % 4 == 3 {
                streak.answered();
            }
        }
    }

    #[test]
    fn a_long_timeout_does_not_mean_a_long_wait() {
        let (streak, start) = (Streak::new(Duration::from_secs(1)), Instant::now());
        assert!((0..4).all(|_| !streak.failed(start, 0)));
        assert!(streak.failed(start + Duration::from_secs(1), 0));
    }
}
