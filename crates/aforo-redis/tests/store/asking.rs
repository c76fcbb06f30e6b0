//! How the tests ask.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Decision, Hit, Key, Moment, Op, Quota, Store, Verdict};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::eventually;
use aforo_testkit::servers::RedisServer;

/// A window in which nothing comes back while a test lasts.
pub(crate) const MONTH: Duration = Duration::from_secs(30 * 86_400);

/// Settings that are patient: what is tested here is what is answered, not when.
pub(crate) fn patient(url: &str) -> Settings {
    Settings::new(url.parse().unwrap()).timeout(Duration::from_secs(10))
}

/// A store as in production, but for its patience.
pub(crate) fn store(url: &str) -> RedisStore {
    RedisStore::new(patient(url))
}

/// A store that has asked over every connection, so that what comes next is not its first question.
pub(crate) async fn settled(server: &RedisServer) -> RedisStore {
    let store = store(&server.url());
    let _ = peek(&store, &[hit("first", "question", Quota::per_hour(1))]).await;
    eventually("both connections are open", || {
        let clients = server.command(&["CLIENT", "LIST"]).text();
        (clients.matches("cmd=eval").count() == 2).then_some(())
    });
    store
}

/// So many units by every algorithm.
pub(crate) fn each_algorithm(limit: u32, window: Duration) -> [Quota; 5] {
    [
        Algorithm::TokenBucket { burst: limit },
        Algorithm::FixedWindow(Anchor::Epoch),
        Algorithm::FixedWindow(Anchor::FirstHit),
        Algorithm::SlidingWindow,
        Algorithm::SlidingLog,
    ]
    .map(|algorithm| Quota::counted_by(algorithm, limit, window).unwrap())
}

/// One unit of a rule's quota.
pub(crate) fn hit(rule: &str, subject: &str, quota: Quota) -> Hit {
    Hit::new(Key::new(rule.as_bytes(), subject.as_bytes()).unwrap(), quota)
}

/// The same hit at another cost.
pub(crate) fn costing(units: u32, hit: Hit) -> Hit {
    Hit { cost: Cost::new(units), ..hit }
}

/// The same hit, charged also when it is refused.
pub(crate) fn counting_denials(hit: Hit) -> Hit {
    Hit { count_denied: true, ..hit }
}

pub(crate) async fn take(store: &RedisStore, hits: &[Hit]) -> Decision {
    decide(store, Op::Take, hits).await
}

pub(crate) async fn peek(store: &RedisStore, hits: &[Hit]) -> Decision {
    decide(store, Op::Peek, hits).await
}

pub(crate) async fn refund(store: &RedisStore, hits: &[Hit], taken_at: Moment) -> Decision {
    decide(store, Op::Refund { taken_at }, hits).await
}

async fn decide(store: &RedisStore, op: Op, hits: &[Hit]) -> Decision {
    let answer = store.decide(op, &hits.iter().copied().collect()).await;
    answer.unwrap_or_else(|error| panic!("{op:?} of {hits:?}: {error}"))
}

/// The verdict of the only hit.
pub(crate) fn sole(decision: Decision) -> Verdict {
    *decision.verdicts().next().unwrap()
}

/// How many of so many takes at once are admitted.
pub(crate) async fn admitted(store: &RedisStore, hits: &[Hit], takes: usize) -> usize {
    let takes: Vec<_> = (0..takes)
        .map(|_| {
            let (store, hits) = (store.clone(), hits.to_vec());
            tokio::spawn(async move { take(&store, &hits).await.allowed() })
        })
        .collect();
    let mut admitted = 0;
    for take in takes {
        admitted += usize::from(take.await.unwrap());
    }
    admitted
}

/// What clients send while something is done, as MONITOR shows it: one line a command, without those that scripts run.
pub(crate) async fn sent_during(server: &RedisServer, work: impl Future) -> Vec<String> {
    let mut monitor = server.connect().unwrap();
    monitor.ask(&["MONITOR"]).unwrap();
    let _ = work.await;
    server.command(&["ECHO", "that was all"]);
    let lines = std::iter::from_fn(|| Some(monitor.reply().unwrap().text()));
    lines.take_while(|line| !line.contains("that was all")).filter(|line| !line.contains(" lua] ")).collect()
}
