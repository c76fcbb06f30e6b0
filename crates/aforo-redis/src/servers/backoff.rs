//! Backoff: how long to wait before the next attempt.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// Waits that double, from about 50 ms to about a second.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Backoff {
        Backoff { next: FIRST }
    }

    /// The next wait.
    pub(super) fn next(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(LONGEST);
        jittered(wait)
    }
}

/// Between three quarters of it and all of it: many processes that lost one server must not return in step.
pub(super) fn jittered(wait: Duration) -> Duration {
    // Each state of the standard hasher is seeded anew, which is all the randomness that this needs.
    let random = RandomState::new().hash_one(());
    let quarter = wait / 4;
    let share = u32::try_from(random % 1024).unwrap_or_default();
    wait - quarter * share / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_second_and_no_further() {
        let mut backoff = Backoff::new();
        let waits: Vec<Duration> = (0..8).map(|_| backoff.next()).collect();
        for (wait, full) in waits.into_iter().zip([50, 100, 200, 400, 800, 1000, 1000, 1000]) {
            let full = Duration::from_millis(full);
            assert!(wait <= full && wait >= full * 3 / 4, "{wait:?} of {full:?}");
        }
    }
}
