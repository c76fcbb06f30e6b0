//! Reports: what the log hears of calls that failed, and of servers that come and go.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::standing::Standing;
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

/// Reports of how a server is: one line a second, with the number of changes that were left out. What it has come to is
/// told in the end.
#[derive(Debug, Default)]
pub(super) struct Changes {
    latest: Mutex<Option<Told>>,
}

#[derive(Debug)]
struct Told {
    at: Instant,
    standing: Standing,
    left_out: u64,
}

impl Changes {
    /// Tells how the server is, once it is due. Whether it has changed is known to who says so.
    pub(super) fn tell(&self, server: &str, standing: &Standing, changed: bool) {
        let Some((before, left_out)) = self.due(standing, changed, Instant::now()) else { return };
        match (standing, before) {
            (Standing::Down { trouble, .. }, _) => tracing::warn!(server, %trouble, left_out, "the store is down"),
            (Standing::Hindered { trouble, .. }, _) => {
                tracing::warn!(server, %trouble, left_out, "the store answers, and refuses to write: takes fail");
            }
            (_, Some(Standing::Down { since, .. })) => {
                tracing::info!(server, down_for = ?since.elapsed(), left_out, "the store answers again");
            }
            (_, Some(Standing::Hindered { since, .. })) => {
                tracing::info!(server, hindered_for = ?since.elapsed(), left_out, "the store takes writes again");
            }
            _ => tracing::debug!(server, left_out, "the store answers"),
        }
    }

    /// Whether the log says something else than how the server is.
    pub(super) fn owes(&self, standing: &Standing) -> bool {
        self.latest.lock().as_ref().is_some_and(|told| !told.standing.is_like(standing))
    }

    /// What was told before this, and how many changes were left out in between; unless this one is to be left out too.
    fn due(&self, standing: &Standing, changed: bool, now: Instant) -> Option<(Option<Standing>, u64)> {
        let mut latest = self.latest.lock();
        match latest.as_mut() {
            // Being connected to is on the way to one or the other.
            _ if matches!(standing, Standing::Connecting) => return None,
            // Connections that were replaced are no news.
            Some(told) if told.standing.is_like(standing) && (!changed || told.left_out == 0) => return None,
            Some(told) if now.saturating_duration_since(told.at) < AT_MOST_EVERY => {
                told.left_out += u64::from(changed);
                return None;
            }
            _ => {}
        }
        let told = latest.replace(Told { at: now, standing: standing.clone(), left_out: 0 });
        // What was left out and is told now, because it lasts, is left out no more.
        let late = u64::from(!changed);
        Some(told.map_or((None, 0), |told| (Some(told.standing), told.left_out.saturating_sub(late))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down() -> Standing {
        Standing::Down { since: Instant::now(), trouble: Trouble::unreachable("gone") }
    }

    #[test]
    fn a_server_that_comes_and_goes_is_told_of_once_a_second_and_in_the_end_as_it_is() {
        let (changes, start) = (Changes::default(), Instant::now());
        let left_out =
            |standing: &Standing, changed, now| changes.due(standing, changed, now).map(|(_, left_out)| left_out);
        assert_eq!(left_out(&Standing::Answering, true, start), Some(0));
        assert_eq!(left_out(&Standing::Connecting, true, start), None);
        assert_eq!(left_out(&Standing::Answering, true, start), None);
        for _ in 0..50 {
            assert_eq!(left_out(&down(), true, start), None);
            assert_eq!(left_out(&Standing::Answering, true, start), None);
        }
        assert!(!changes.owes(&Standing::Answering));
        assert_eq!(left_out(&down(), true, start), None);
        assert!(changes.owes(&down()));
        assert_eq!(left_out(&down(), false, start + AT_MOST_EVERY), Some(100));
        assert_eq!(left_out(&down(), false, start + AT_MOST_EVERY * 2), None);
    }

    #[test]
    fn one_line_a_second_says_how_many_it_stands_for() {
        let (reports, start) = (Reports::default(), Instant::now());
        assert_eq!(reports.due(start), Some(0));
        assert!((0..10).all(|_| reports.due(start).is_none()));
        assert_eq!(reports.due(start + AT_MOST_EVERY), Some(10));
        assert_eq!(reports.due(start + AT_MOST_EVERY * 2), Some(0));
    }
}
