//! Servers that are not there.

use std::time::{Duration, Instant};

use aforo_testkit::servers::RedisServer;

use crate::clients::{Clients, TIMEOUT, a_while, counted, given_up, patient, plenty, recovered, store, take};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_load_is_back_with_its_next_start() {
    let server = RedisServer::start();
    let (store, hit) = (store(&server.url()), plenty("client"));
    let _ = counted(&patient(&server.url()), hit).await;
    recovered(&store);
    let clients = Clients::start(16, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    let killed = Instant::now();
    server.kill();
    let given_up = given_up(&store);
    assert!(given_up.duration_since(killed) < Duration::from_secs(1));
    a_while(Duration::from_millis(200)).await;
    let restarting = Instant::now();
    server.restart();
    recovered(&store);
    assert!(restarting.elapsed() < Duration::from_secs(4), "{:?}", restarting.elapsed());
    a_while(Duration::from_millis(200)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    // It has started empty: what it holds was taken since. Nothing that was asked meanwhile has come late.
    let late = takes.since(restarting.checked_sub(TIMEOUT).unwrap());
    assert!(late.admitted() > 0);
    late.assert_counted_but_who_waited(counted(&patient(&server.url()), hit).await);
    assert!(takes.since(killed).failed() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_starts_before_its_server_fails_at_once_and_finds_it_when_it_comes() {
    let server = RedisServer::start();
    server.kill();
    let (store, hit) = (store(&server.url()), plenty("client"));
    given_up(&store);
    let clients = Clients::start(4, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    server.restart();
    recovered(&store);
    a_while(Duration::from_millis(100)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    assert!(takes.failed() > 0 && takes.admitted() > 0);
    takes.assert_counted_but_who_waited(counted(&patient(&server.url()), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_found_by_name_each_time() {
    let server = RedisServer::start();
    let (store, hit) = (store(&format!("redis://localhost:{}", server.port())), plenty("client"));
    recovered(&store);
    assert_eq!(take(&store, hit).await.answer, Ok(true));
    server.kill();
    given_up(&store);
    server.restart();
    recovered(&store);
    assert_eq!(take(&store, hit).await.answer, Ok(true));
}
