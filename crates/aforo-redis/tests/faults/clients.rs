//! Clients that take again and again, and what becomes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aforo_core::{Algorithm, Anchor, Hit, Hits, Key, Op, Quota, Store, StoreErrorKind};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::eventually;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// How long a take may last.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(100);

/// What a take may last beyond it on a machine that is busy with other tests.
const SLACK: Duration = Duration::from_millis(250);

/// As the clients' store.
pub(crate) fn store(url: &str) -> RedisStore {
    RedisStore::new(Settings::new(url.parse().unwrap()).timeout(TIMEOUT))
}

/// A store that waits as long as it takes, to look what was counted.
pub(crate) fn patient(url: &str) -> RedisStore {
    RedisStore::new(Settings::new(url.parse().unwrap()).timeout(Duration::from_secs(10)))
}

/// Plenty, and nothing of it comes back while a test lasts.
pub(crate) fn plenty(subject: &str) -> Hit {
    let month = Duration::from_secs(30 * 86_400);
    let quota = Quota::counted_by(Algorithm::FixedWindow(Anchor::FirstHit), 1_000_000, month).unwrap();
    Hit::new(Key::new(b"plenty", subject.as_bytes()).unwrap(), quota)
}

/// What the server has counted by now.
pub(crate) async fn counted(store: &RedisStore, hit: Hit) -> usize {
    let looked = store.decide(Op::Peek, &Hits::one(hit)).await.unwrap();
    let verdict = looked.verdicts().next().unwrap();
    (verdict.limit - verdict.remaining) as usize
}

/// One take, as its client saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) asked_at: Instant,
    pub(crate) waited: Duration,
    pub(crate) answer: Result<bool, StoreErrorKind>,
}

/// Takes once.
pub(crate) async fn take(store: &RedisStore, hit: Hit) -> Take {
    take_all(store, &Hits::one(hit)).await
}

async fn take_all(store: &RedisStore, hits: &Hits) -> Take {
    let asked_at = Instant::now();
    let answer = store.decide(Op::Take, hits).await;
    Take { asked_at, waited: asked_at.elapsed(), answer: answer.map(|d| d.allowed()).map_err(|error| error.kind()) }
}

/// Clients at work.
pub(crate) struct Clients {
    enough: Arc<AtomicBool>,
    each: Vec<JoinHandle<Vec<Take>>>,
}

impl Clients {
    /// So many clients, each of which takes every few milliseconds, once it has its answer to the last one.
    pub(crate) fn start(count: usize, store: &RedisStore, hits: &[Hit]) -> Clients {
        let enough = Arc::new(AtomicBool::new(false));
        let client = |_| {
            let (store, enough) = (store.clone(), Arc::clone(&enough));
            let hits: Hits = hits.iter().copied().collect();
            tokio::spawn(async move {
                let mut takes = Vec::new();
                let mut pace = interval(Duration::from_millis(4));
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                while !enough.load(Ordering::Relaxed) {
                    takes.push(take_all(&store, &hits).await);
                    pace.tick().await;
                }
                takes
            })
        };
        Clients { each: (0..count).map(client).collect(), enough }
    }

    /// Sends them home, and collects what they saw.
    pub(crate) async fn stop(self) -> Takes {
        self.enough.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for client in self.each {
            all.extend(client.await.unwrap());
        }
        Takes(all)
    }
}

/// What clients saw.
#[derive(Debug)]
pub(crate) struct Takes(Vec<Take>);

impl Takes {
    /// Those that were asked after that moment.
    pub(crate) fn since(&self, moment: Instant) -> Takes {
        Takes(self.0.iter().filter(|take| take.asked_at >= moment).copied().collect())
    }

    pub(crate) fn admitted(&self) -> usize {
        self.0.iter().filter(|take| take.answer == Ok(true)).count()
    }

    pub(crate) fn failed(&self) -> usize {
        self.0.iter().filter(|take| take.answer.is_err()).count()
    }

    /// Those without an answer that were not turned away at once: they were sent, or waited to be.
    pub(crate) fn waited_in_vain(&self) -> usize {
        let waited = |take: &&Take| take.answer.is_err() && take.waited > Duration::from_millis(1);
        self.0.iter().filter(waited).count()
    }

    /// Nobody waited beyond the deadline, but for a little; half of those who waited in vain for as good as nothing.
    #[track_caller]
    pub(crate) fn assert_prompt(&self) {
        let mut waits: Vec<Duration> = self.0.iter().map(|take| take.waited).collect();
        waits.sort_unstable();
        assert!(waits.last().is_none_or(|longest| *longest <= TIMEOUT + SLACK), "one waited {:?}", waits.last());
        let mut in_vain: Vec<Duration> =
            self.0.iter().filter(|take| take.answer.is_err()).map(|take| take.waited).collect();
        in_vain.sort_unstable();
        let median = in_vain.get(in_vain.len() / 2).copied().unwrap_or_default();
        assert!(median <= TIMEOUT + SLACK / 10, "half of those without an answer waited {median:?} and longer");
    }

    /// Nobody was refused: there is plenty, and trouble is no refusal.
    #[track_caller]
    pub(crate) fn assert_nobody_refused(&self) {
        let refused = self.0.iter().filter(|take| take.answer == Ok(false)).count();
        assert_eq!(refused, 0);
    }

    /// What was admitted was counted once, and nothing else but what has failed, whose answer may be what was lost.
    #[track_caller]
    pub(crate) fn assert_counted(&self, counted: usize) {
        let (admitted, failed) = (self.admitted(), self.failed());
        let range = admitted..=admitted + failed;
        assert!(range.contains(&counted), "{counted} counted, {admitted} admitted, {failed} failed");
    }

    /// The same, and who was turned away at once has left nothing behind.
    #[track_caller]
    pub(crate) fn assert_counted_but_who_waited(&self, counted: usize) {
        let (admitted, in_vain) = (self.admitted(), self.waited_in_vain());
        let range = admitted..=admitted + in_vain;
        assert!(range.contains(&counted), "{counted} counted, {admitted} admitted, {in_vain} waited in vain");
    }
}

/// Waits until the breaker is open, and says since when.
pub(crate) fn given_up(store: &RedisStore) -> Instant {
    eventually("the store is given up", || match store.health().state {
        aforo_redis::State::Down { since, .. } => Some(since),
        _ => None,
    })
}

/// Waits until takes fail although there are answers, and says how.
pub(crate) fn hindered(store: &RedisStore) -> aforo_redis::State {
    eventually("the store is hindered", || {
        let state = store.health().state;
        matches!(state, aforo_redis::State::Hindered { .. }).then_some(state)
    })
}

/// Waits until it is closed again.
pub(crate) fn recovered(store: &RedisStore) {
    eventually("the store answers again", || store.health().state.is_answering().then_some(()));
}

/// Waits until clients have worked for a while.
pub(crate) async fn a_while(time: Duration) {
    let mut until = interval(time);
    until.tick().await;
    until.tick().await;
}
