//! Waiting for what another process does.

use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
const DEADLINE: Duration = Duration::from_secs(20);

/// Looks every few milliseconds until there is something, and returns it.
///
/// # Panics
///
/// If there is nothing within 20 seconds.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
