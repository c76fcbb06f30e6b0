//! Servers that answer, and will not do it.

use std::time::Duration;

use aforo_core::{Hit, Key, Quota, StoreErrorKind};
use aforo_redis::State;
use aforo_testkit::servers::RedisServer;

use crate::clients::{Clients, TIMEOUT, a_while, counted, given_up, patient, plenty, recovered, store, take};

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
    assert!(store.health().state.is_answering(), "{:?}", store.health());
    server.set("maxmemory", "0");
    assert_eq!(take(&store, hit).await.answer, Ok(true));
    assert_eq!(counted(&patient(&server.url()), hit).await, 1);
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
