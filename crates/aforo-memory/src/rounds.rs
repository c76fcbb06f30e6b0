//! Who cleans up when no task does: decisions, in turn.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use aforo_core::Moment;

/// Microseconds from one visit to the next under steady traffic.
const PACE: u64 = 4_000;
/// The most shards that one decision visits, when traffic is thin.
const MOST: u64 = 4;

/// The round through the shards: one shard each four milliseconds, or up to four with each decision where decisions
/// are rarer than that. A thousand shards are seen to within seconds under traffic, and within minutes by one request
/// a second.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    visited_at: AtomicU64,
    next: AtomicUsize,
}

impl Rounds {
    /// How many shards the decision made at `now` should visit.
    #[inline]
    pub(crate) fn due(&self, now: Moment) -> u64 {
        let visited_at = self.visited_at.load(Ordering::Relaxed);
        // Wrapping: a clock that was set back does not end the round.
        match now.as_micros().wrapping_sub(visited_at) {
            ..PACE => 0,
            silence => self.claim(visited_at, now, silence),
        }
    }

    #[cold]
    fn claim(&self, visited_at: u64, now: Moment, silence: u64) -> u64 {
        let claimed =
            self.visited_at.compare_exchange(visited_at, now.as_micros(), Ordering::Relaxed, Ordering::Relaxed);
        if claimed.is_ok() { (silence / PACE).min(MOST) } else { 0 }
    }

    /// The shard whose turn it is, of so many.
    pub(crate) fn next(&self, shards: usize) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) % shards
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_due_after_a_while_and_more_after_a_silence() {
        let rounds = Rounds::default();
        let at = |millis: u64| Moment::from_millis(1_000_000 + millis);
        assert_eq!(rounds.due(at(0)), 4);
        assert_eq!(rounds.due(at(3)), 0);
        assert_eq!(rounds.due(at(4)), 1);
        assert_eq!(rounds.due(at(4)), 0);
        assert_eq!(rounds.due(at(12)), 2);
        assert_eq!(rounds.due(at(60_000)), 4);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_end_the_round() {
        let rounds = Rounds::default();
        assert!(rounds.due(Moment::from_millis(9_000_000)) > 0);
        assert!(rounds.due(Moment::from_millis(1_000_000)) > 0);
        assert_eq!(rounds.due(Moment::from_millis(1_000_001)), 0);
    }

    #[test]
    fn every_shard_has_its_turn() {
        let rounds = Rounds::default();
        let turns: Vec<_> = (0..6).map(|_| rounds.next(3)).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
    }
}
