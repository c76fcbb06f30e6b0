//! Networks that lose, hold back and break.

use std::time::{Duration, Instant};

use aforo_core::{Op, Store};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::proxy::{Fault, Proxy};
use aforo_testkit::servers::RedisServer;

use crate::clients::{Clients, a_while, counted, given_up, patient, plenty, recovered, store};

const THIRTY_LATE: Fault = Fault::Late { percent: 30, by: Duration::from_millis(200) };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_that_are_late_make_nobody_wait_beyond_the_deadline_and_count_once() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let (store, hit) = (store(&proxy.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    proxy.replies(THIRTY_LATE);
    proxy.requests(THIRTY_LATE);
    a_while(Duration::from_secs(2)).await;
    proxy.pass();
    recovered(&store);
    a_while(Duration::from_millis(300)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.failed() > 0 && takes.admitted() > 0);
    takes.assert_counted(counted(&patient(&server.url()), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_the_time_gets_an_answer_though_packets_are_late() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let (store, hit) = (patient(&proxy.url()), plenty("client"));
    recovered(&store);
    proxy.replies(THIRTY_LATE);
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_secs(1)).await;
    let takes = clients.stop().await;
    assert_eq!(takes.failed(), 0);
    assert_eq!(takes.admitted(), counted(&patient(&server.url()), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_black_hole_keeps_nobody_longer_than_the_deadline() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    proxy.black_hole();
    let (store, hit) = (store(&proxy.url()), plenty("client"));
    let clients = Clients::start(8, &store, &[hit]);
    let begun = Instant::now();
    assert!(given_up(&store).duration_since(begun) < Duration::from_secs(1));
    a_while(Duration::from_millis(300)).await;
    proxy.pass();
    recovered(&store);
    a_while(Duration::from_millis(100)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    assert!(takes.failed() > 0 && takes.admitted() > 0);
    takes.assert_counted(counted(&patient(&server.url()), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_reset_again_and_again_count_nothing_twice() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let (store, hit) = (store(&proxy.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(8, &store, &[hit]);
    for _ in 0..5 {
        a_while(Duration::from_millis(200)).await;
        proxy.reset();
    }
    recovered(&store);
    a_while(Duration::from_millis(200)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    assert!(takes.admitted() > 0);
    takes.assert_counted(counted(&patient(&server.url()), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_that_are_flushed_under_load_fail_nobody_and_count_once() {
    let server = RedisServer::start();
    let url = server.url();
    let store = RedisStore::new(Settings::new(url.parse().unwrap()).timeout(Duration::from_secs(10)));
    let hit = plenty("client");
    let takes: Vec<_> = (0..2_000)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.decide(Op::Take, &aforo_core::Hits::one(hit)).await })
        })
        .collect();
    let mut flushes = 0;
    while !takes.iter().all(tokio::task::JoinHandle::is_finished) {
        server.command(&["SCRIPT", "FLUSH"]);
        flushes += 1;
    }
    for take in takes {
        assert!(take.await.unwrap().unwrap().allowed());
    }
    assert_eq!(counted(&store, hit).await, 2_000, "after {flushes} flushes");
    assert!(server.calls("eval") > 1, "they were met");
}
