//! Reports: what the log hears of calls that failed.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::trouble::Trouble;

const AT_MOST_EVERY: Duration = Duration::from_secs(1);

/// Reports of single failures: one line a second, with the number of those that were left out.
#[derive(Debug, Default)]
pub(super) struct Reports {
    latest: Mutex<Option<Latest>>,
}

#[derive(Debug)]
struct Latest {
    at: Instant,
    left_out: u64,
}

impl Reports {
    pub(super) fn failed(&self, trouble: &Trouble) {
        if let Some(left_out) = self.due(Instant::now()) {
            tracing::warn!(%trouble, left_out, "a call to the store failed");
        }
    }

    /// How many were left out before this one, unless this one is to be left out too.
    fn due(&self, now: Instant) -> Option<u64> {
        let mut latest = self.latest.lock();
        let left_out = match latest.as_mut() {
            Some(latest) if now.saturating_duration_since(latest.at) < AT_MOST_EVERY => {
                latest.left_out += 1;
                return None;
            }
            Some(latest) => latest.left_out,
            None => 0,
        };
        *latest = Some(Latest { at: now, left_out: 0 });
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_says_how_many_it_stands_for() {
        let (reports, start) = (Reports::default(), Instant::now());
        assert_eq!(reports.due(start), Some(0));
        assert!((0..10).all(|_| reports.due(start).is_none()));
        assert_eq!(reports.due(start + AT_MOST_EVERY), Some(10));
        assert_eq!(reports.due(start + AT_MOST_EVERY * 2), Some(0));
    }
}
