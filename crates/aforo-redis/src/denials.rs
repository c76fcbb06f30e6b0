//! Denials remembered: who was refused a moment ago is refused again without a call, for as long as nothing can have
//! changed that.
//!
//! What is remembered is not the refusal but the counters that it was made of. The engine is asked about them again, under
//! the quotas of the day, and twice in effect: at the latest moment that the server's clock can show by now it must still
//! refuse, so that nobody is refused whom the server would admit; and the wait is told from the earliest, so that nobody
//! comes back too soon.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aforo_core::{Cost, Decision, Hits, Key, MAX_HITS, Moment, Op, Quota, State};
use foldhash::quality::RandomState;

use crate::counters::{Counter, Counters};
use crate::store::Told;

/// How long a counter is taken for what it was. Other processes only add to it, which changes no refusal, unless they
/// refund or reset: that is seen so much later.
const FRESH: Duration = Duration::from_millis(250);
/// Locks, so that threads seldom wait for each other.
const SHARDS: usize = 64;
/// The most counters to a lock: 16,384 together, some four megabytes.
const ROOM: usize = 256;

/// The counters of those who were refused, as this process last saw them.
#[derive(Debug)]
pub(crate) struct Denials {
    shards: [Mutex<HashMap<Key, Seen, RandomState>>; SHARDS],
    hasher: RandomState,
    answered: AtomicU64,
}

/// A counter as it was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    counter: Counter,
    /// The server's clock, when it decided.
    now: Moment,
    /// Our clock, before the question was sent: the server's has moved on by no more since.
    asked_at: Instant,
    /// Our clock, when the answer had come: the server's has moved on by no less since.
    told_at: Instant,
    /// What was asked. A sliding log is known only as far as it matters to that.
    cost: Cost,
    quota: Quota,
}

impl Denials {
    pub(crate) fn new() -> Denials {
        Denials {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::default(),
            answered: AtomicU64::new(0),
        }
    }

    /// The answer to a take, if it is a refusal for sure. `clock` is a test's.
    pub(crate) fn answer(&self, hits: &Hits, clock: Option<Moment>) -> Option<Decision> {
        let mut counters = [Counter::Known(State::Fresh); MAX_HITS];
        // The earliest and the latest that it can be by the server's clock.
        let (mut now, mut latest) = (clock.unwrap_or(Moment::EPOCH), clock.unwrap_or(Moment::EPOCH));
        for (hit, counter) in hits.iter().zip(&mut counters) {
            // A denial that is counted must be told to the server.
            if hit.count_denied {
                return None;
            }
            let seen = *self.shard(&hit.key).get(&hit.key)?;
            let known = match seen.counter {
                Counter::Known(_) => true,
                Counter::Log(..) => seen.quota == hit.quota && seen.cost == hit.cost,
                Counter::Unknown => false,
            };
            let age = seen.asked_at.elapsed();
            // A log that has been seen later does not say what it was.
            let stepped_back = clock.is_some_and(|clock| clock < seen.now);
            if !known || stepped_back || age >= FRESH {
                return None;
            }
            *counter = seen.counter;
            if clock.is_none() {
                now = now.max(seen.later_by(seen.told_at.elapsed()));
                latest = latest.max(seen.later_by(age));
            }
        }
        let (decision, _) = Counters::remembered(now, counters).decide(Op::Take, hits);
        let doubt = latest.micros_since(now);
        if decision.allowed() || decision.wait().as_micros().is_some_and(|wait| wait <= doubt) {
            return None;
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        Some(decision)
    }

    /// Takes note of counters. Only a refusal makes new ones worth it, and a refund, after which an older refusal that is
    /// still on its way must not count.
    pub(crate) fn learn(&self, op: Op, hits: &Hits, told: &Told) {
        let notable = match op {
            Op::Take => !told.decision.allowed(),
            Op::Refund { .. } => true,
            Op::Peek => return,
        };
        for (hit, counter) in hits.iter().zip(&told.after) {
            let seen = Seen {
                counter: *counter,
                now: told.before.now,
                asked_at: told.asked_at,
                told_at: told.told_at,
                cost: hit.cost,
                quota: hit.quota,
            };
            let mut shard = self.shard(&hit.key);
            match shard.get_mut(&hit.key) {
                Some(known) if known.is_before(&seen) => *known = seen,
                Some(_) => {}
                None if notable => insert(&mut shard, hit.key, seen),
                None => {}
            }
        }
    }

    /// Forgets what was seen of those counters.
    pub(crate) fn forget<'a>(&self, keys: impl IntoIterator<Item = &'a Key>) {
        for key in keys {
            self.shard(key).remove(key);
        }
    }

    /// Denials that were answered without a call, so far.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    fn shard(&self, key: &Key) -> MutexGuard<'_, HashMap<Key, Seen, RandomState>> {
        let place = self.hasher.hash_one(key.blocks()) as usize % SHARDS;
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Whether the server decided this before that. Its clock may have stepped back, so it tells the order only where ours
    /// does not.
    fn is_before(&self, other: &Seen) -> bool {
        self.told_at <= other.asked_at || self.now <= other.now
    }

    /// The server's clock, so much later.
    fn later_by(&self, time: Duration) -> Moment {
        self.now.plus_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }
}

/// Makes room by dropping what is too old to be used. Where there is none, the next question simply costs a call.
fn insert(shard: &mut HashMap<Key, Seen, RandomState>, key: Key, seen: Seen) {
    if shard.len() >= ROOM {
        shard.retain(|_, seen| seen.asked_at.elapsed() < FRESH);
    }
    if shard.len() < ROOM {
        shard.insert(key, seen);
    }
}

#[cfg(test)]
mod tests;
