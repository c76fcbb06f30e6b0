//! Denials that are remembered: nearly free, and never longer than the server would uphold them.

use std::time::{Duration, Instant};

use aforo_core::Quota;
use aforo_redis::RedisStore;
use aforo_testkit::eventually;
use aforo_testkit::servers::RedisServer;

use crate::asking::{MONTH, costing, counting_denials, each_algorithm, hit, peek, refund, settled, sole, store, take};

/// For how long other processes' refunds may go unseen, and what a busy machine adds.
const UNSEEN: Duration = Duration::from_millis(250 + 250);

/// Calls of the script so far.
fn calls(server: &RedisServer) -> u64 {
    server.calls("evalsha") + server.calls("eval")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_costs_the_server_one_call_in_a_hundred_at_most() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for quota in each_algorithm(5, MONTH) {
        let hit = hit("rule", "client", quota);
        while take(&store, &[hit]).await.allowed() {}
        let (before, begun) = (calls(&server), Instant::now());
        let clients: Vec<_> = (0..16).map(|_| tokio::spawn(knocks(store.clone(), hit, begun))).collect();
        let mut refused = 0;
        for client in clients {
            refused += client.await.unwrap();
        }
        let asked = calls(&server) - before;
        assert!(asked > 0, "it is asked again now and then");
        assert!(refused >= 100 * asked, "{refused} denials cost {asked} calls: {quota:?}");
        assert!(store.forget(&hit.key).await.unwrap());
    }
}

/// Knocks for long enough that the server must be asked again, and counts the denials.
async fn knocks(store: RedisStore, hit: aforo_core::Hit, begun: Instant) -> u64 {
    let mut refused = 0;
    while begun.elapsed() < Duration::from_millis(600) {
        assert!(!take(&store, &[hit]).await.allowed());
        refused += 1;
        if refused % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_ends_when_the_server_would_end_it() {
    let server = RedisServer::start();
    let (store, other) = (settled(&server).await, store(&server.url()));
    for quota in each_algorithm(5, Duration::from_millis(300)) {
        let hit = hit("rule", "client", quota);
        let remembered = store.remembered();
        // A machine that stands still for longer than the window has nothing to remember, and tries again.
        for round in 0.. {
            while take(&store, &[hit]).await.allowed() {}
            // A look is always the server's. Nobody else takes, so what was free stays free.
            loop {
                let free = peek(&other, &[hit]).await.allowed();
                let admitted = take(&store, &[hit]).await.allowed();
                assert!(admitted || !free, "refused though there is room: {quota:?}");
                if admitted {
                    break;
                }
            }
            if round > 0 && store.remembered() > remembered {
                break;
            }
            assert!(round < 20, "nothing is remembered: {quota:?}");
        }
        assert!(store.forget(&hit.key).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_waits_as_long_as_a_remembered_denial_says_is_let_in() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for quota in each_algorithm(5, Duration::from_millis(100)) {
        let hit = hit("rule", "client", quota);
        for _ in 0..5 {
            while take(&store, &[hit]).await.allowed() {}
            let remembered = store.remembered();
            let denial = sole(take(&store, &[hit]).await);
            let told = Instant::now();
            if store.remembered() == remembered {
                continue;
            }
            let wait = Duration::from_micros(denial.wait.as_micros().unwrap());
            eventually("the wait is over", || (told.elapsed() >= wait).then_some(()));
            assert!(take(&store, &[hit]).await.allowed(), "not let in after {wait:?}: {quota:?}");
        }
        let _ = store.forget(&hit.key).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refund_a_reset_and_a_raised_quota_end_a_denial_at_once() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    let raised = each_algorithm(6, MONTH);
    for (number, (quota, raised)) in each_algorithm(5, MONTH).into_iter().zip(raised).enumerate() {
        let hit = hit(&number.to_string(), "client", quota);
        let taken_at = take(&store, &[costing(5, hit)]).await.taken_at();
        let refused = async || {
            let remembered = store.remembered();
            assert!(!take(&store, &[hit]).await.allowed());
            assert!(!take(&store, &[hit]).await.allowed());
            assert!(store.remembered() > remembered, "{quota:?}");
        };
        refused().await;
        let _ = refund(&store, &[hit], taken_at).await;
        assert!(take(&store, &[hit]).await.allowed(), "refunded: {quota:?}");
        refused().await;
        assert!(take(&store, &[aforo_core::Hit { quota: raised, ..hit }]).await.allowed(), "raised: {quota:?}");
        refused().await;
        assert!(store.forget(&hit.key).await.unwrap());
        assert!(take(&store, &[hit]).await.allowed(), "reset: {quota:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refund_and_a_reset_of_another_process_are_seen_within_a_quarter_of_a_second() {
    let server = RedisServer::start();
    let (store, other) = (settled(&server).await, store(&server.url()));
    for (number, quota) in each_algorithm(5, MONTH).into_iter().enumerate() {
        let hit = hit(&number.to_string(), "client", quota);
        let taken_at = take(&other, &[costing(5, hit)]).await.taken_at();
        let let_in = async || {
            let begun = Instant::now();
            while !take(&store, &[hit]).await.allowed() {}
            assert!(begun.elapsed() < UNSEEN, "{:?}: {quota:?}", begun.elapsed());
        };
        assert!(!take(&store, &[hit]).await.allowed());
        let _ = refund(&other, &[hit], taken_at).await;
        let_in().await;
        assert!(!take(&store, &[hit]).await.allowed());
        assert!(other.forget(&hit.key).await.unwrap());
        let_in().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_counts_denials_asks_each_time() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for (number, quota) in each_algorithm(5, MONTH).into_iter().enumerate() {
        let rule = number.to_string();
        let strict = counting_denials(costing(6, hit(&rule, "client", quota)));
        let before = calls(&server);
        for _ in 0..20 {
            assert!(!take(&store, &[strict, hit("other", "client", Quota::per_hour(1_000))]).await.allowed());
        }
        // The first one may have to be told the script.
        assert!((20..=22).contains(&(calls(&server) - before)), "{quota:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cost_that_fits_is_not_refused_because_a_larger_one_was() {
    let server = RedisServer::start();
    let store = store(&server.url());
    for (number, quota) in each_algorithm(5, MONTH).into_iter().enumerate() {
        let hit = hit(&number.to_string(), "client", quota);
        assert!(take(&store, &[costing(3, hit)]).await.allowed());
        for _ in 0..3 {
            assert!(!take(&store, &[costing(3, hit)]).await.allowed());
        }
        assert!(take(&store, &[costing(2, hit)]).await.allowed(), "{quota:?}");
    }
}
