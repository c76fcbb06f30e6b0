//! Servers that answer, and will not do it.

use std::time::Duration;

use aforo_core::{Hit, Key, Quota, StoreErrorKind};
use aforo_redis::State;
use aforo_testkit::servers::{RedisServer, Sentinels};

use crate::clients::{Clients, TIMEOUT, a_while, counted, given_up, hindered, patient, plenty, recovered, store, take};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_memory_fails_takes_at_once_and_upholds_denials() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]);
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    let exhausted = Hit::new(Key::new(b"one", b"client").unwrap(), Quota::per_hour(1));
    assert_eq!(take(&store, exhausted).await.answer, Ok(true));
    server.set("maxmemory", "1");
    for _ in 0..20 {
        let failed = take(&store, hit).await;
        assert_eq!(failed.answer, Err(StoreErrorKind::Other));
        assert!(failed.waited < TIMEOUT, "{failed:?}");
    }
    assert_eq!(take(&store, exhausted).await.answer, Ok(false));
    let State::Hindered { trouble, .. } = store.health().state else { panic!("{:?}", store.health()) };
    assert!(trouble.contains("OOM"), "{trouble}");
    // The breaker is closed: nobody was turned away unasked.
    assert_eq!(store.health().errors.not_asked, 0);
    server.set("maxmemory", "0");
    assert_eq!(take(&store, hit).await.answer, Ok(true));
    assert_eq!(counted(&patient(&server.url()), hit).await, 1);
    recovered(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_are_demanded_and_missing_hinder_the_store_until_they_are_not() {
    let server = RedisServer::start();
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    server.set("min-replicas-to-write", "2");
    assert_eq!(take(&store, hit).await.answer, Err(StoreErrorKind::Other));
    // Nobody asks meanwhile: it is neither forgotten nor kept for ever.
    let State::Hindered { since, .. } = hindered(&store) else { unreachable!() };
    a_while(Duration::from_millis(2_500)).await;
    let State::Hindered { since: still, trouble } = store.health().state else { panic!("{:?}", store.health()) };
    assert_eq!(still, since);
    assert!(trouble.contains("NOREPLICAS"), "{trouble}");
    server.set("min-replicas-to-write", "0");
    recovered(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_comes_to_a_full_memory_knows_it_without_being_asked() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]);
    server.set("maxmemory", "1");
    let store = store(&server.url());
    hindered(&store);
    server.set("maxmemory", "0");
    recovered(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_script_may_not_run_is_not_tried_by_everybody() {
    let server = RedisServer::start();
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    server.command(&["ACL", "SETUSER", "default", "-pexpire", "-set"]);
    assert_eq!(take(&store, hit).await.answer, Err(StoreErrorKind::Script));
    given_up(&store);
    server.command(&["ACL", "SETUSER", "default", "+@all"]);
    recovered(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_is_missing_is_asked_for() {
    let server = RedisServer::with_password("right");
    let store = store(&format!("redis://127.0.0.1:{}", server.port()));
    given_up(&store);
    let State::Down { trouble, .. } = store.health().state else { panic!("{:?}", store.health()) };
    assert!(trouble.contains("asks for a password: write redis://:PASSWORD@HOST"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sentinel_that_is_named_as_a_server_is_suspected_to_be_one() {
    let primary = RedisServer::start();
    let sentinels = Sentinels::start(&primary, 1);
    let store = store(&format!("redis://127.0.0.1:{}", sentinels.nodes()[0].port()));
    given_up(&store);
    let State::Down { trouble, .. } = store.health().state else { panic!("{:?}", store.health()) };
    assert!(trouble.contains("if it is a Sentinel, write redis-sentinel://"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_that_is_wrong_either_way_is_told_with_the_right_scheme() {
    let server = RedisServer::with_tls();
    let url = server.url();
    let plain = store(&url.split('?').next().unwrap().replace("rediss://", "redis://"));
    given_up(&plain);
    let State::Down { trouble, .. } = plain.health().state else { panic!("{:?}", plain.health()) };
    assert!(trouble.contains("rediss"), "{trouble}");
    let server = RedisServer::start();
    let secure = store(&format!("rediss://127.0.0.1:{}", server.port()));
    given_up(&secure);
    let State::Down { trouble, .. } = secure.health().state else { panic!("{:?}", secure.health()) };
    assert!(trouble.contains("redis instead of rediss"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_trouble_and_no_refusal_until_it_is_right() {
    let server = RedisServer::with_password("right");
    let url = format!("redis://:wrong@127.0.0.1:{}", server.port());
    let (store, hit) = (store(&url), plenty("client"));
    given_up(&store);
    let clients = Clients::start(4, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    let State::Down { trouble, .. } = store.health().state else { panic!("{:?}", store.health()) };
    assert!(trouble.contains("WRONGPASS") && !trouble.contains("wrong@") && !trouble.contains(":wrong"), "{trouble}");
    // Whoever is logged in stays so; the store is not.
    server.set("requirepass", "wrong");
    recovered(&store);
    a_while(Duration::from_millis(100)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.failed() > 0 && takes.admitted() > 0);
    takes.assert_counted(counted(&patient(&url), hit).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_another_program_runs_for_long_is_waited_for_no_longer_than_the_deadline() {
    let server = RedisServer::with(&["--lua-time-limit", "50"]);
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(4, &store, &[hit]);
    a_while(Duration::from_millis(100)).await;
    let mut other = server.connect().unwrap();
    other.send(&["EVAL", "while true do end", "0"]).unwrap();
    given_up(&store);
    server.command(&["SCRIPT", "KILL"]);
    recovered(&store);
    a_while(Duration::from_millis(100)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    takes.assert_counted(counted(&patient(&server.url()), hit).await);
}
