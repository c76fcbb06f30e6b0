//! Servers that are there and do not answer.

use std::time::{Duration, Instant};

use aforo_core::StoreErrorKind;
use aforo_testkit::eventually;
use aforo_testkit::proxy::{Fault, Proxy};
use aforo_testkit::servers::RedisServer;

use crate::clients::{Clients, TIMEOUT, a_while, counted, given_up, patient, plenty, recovered, store, take};

/// Calls to one server that may be unanswered at once.
const MOST_UNANSWERED: usize = 8_192;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_frozen_is_given_up_within_a_second_and_asked_again_when_it_thaws() {
    let server = RedisServer::start();
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(16, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    let frozen = Instant::now();
    server.pause();
    assert!(given_up(&store).duration_since(frozen) < Duration::from_secs(1));
    a_while(Duration::from_millis(500)).await;
    let thawing = Instant::now();
    server.resume();
    recovered(&store);
    assert!(thawing.elapsed() < Duration::from_secs(4), "{:?}", thawing.elapsed());
    a_while(Duration::from_millis(200)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.since(frozen).failed() > 0 && takes.since(thawing).admitted() > 0);
    // Those who waited in vain were sent, and may be counted when it thaws. Who came later was turned away at once, and
    // has left nothing behind.
    takes.assert_counted_but_who_waited(counted(&patient(&server.url()), hit).await);
    assert!(takes.waited_in_vain() < takes.failed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_collects_no_more_calls_than_there_is_room_for() {
    let server = RedisServer::start();
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    server.pause();
    let takes: Vec<_> = (0..2 * MOST_UNANSWERED)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { take(&store, hit).await })
        })
        .collect();
    let mut most = 0;
    eventually("all have their answer", || {
        most = most.max(store.health().servers[0].unanswered);
        takes.iter().all(tokio::task::JoinHandle::is_finished).then_some(())
    });
    assert!((1..=MOST_UNANSWERED).contains(&most), "{most}");
    for take in takes {
        assert!(take.await.unwrap().answer.is_err());
    }
    assert_eq!(store.health().servers[0].unanswered, 0);
    server.resume();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_take_whose_answer_never_comes_is_counted_once_and_not_sent_again() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let (store, hit) = (store(&proxy.url()), plenty("client"));
    let look = patient(&server.url());
    recovered(&store);
    assert_eq!(take(&store, hit).await.answer, Ok(true));
    proxy.replies(Fault::Lose);
    for lost in 1..=3 {
        let lost_take = take(&store, hit).await;
        assert_eq!(lost_take.answer, Err(StoreErrorKind::Timeout));
        assert!(lost_take.waited >= TIMEOUT, "{lost_take:?}");
        assert_eq!(counted(&look, hit).await, 1 + lost);
    }
    proxy.pass();
    eventually("there are answers again", || store.health().state.is_answering().then_some(()));
    let clients = Clients::start(4, &store, &[hit]);
    a_while(Duration::from_millis(500)).await;
    let takes = clients.stop().await;
    let counted = counted(&look, hit).await - 4;
    assert!(takes.admitted() > 0);
    takes.assert_counted_but_who_waited(counted);
}
