//! Primaries that become replicas.

use std::time::{Duration, Instant};

use aforo_testkit::servers::{RedisServer, Sentinels};

use crate::clients::{Clients, a_while, counted, given_up, patient, plenty, recovered, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_becomes_a_replica_is_left_and_found_when_it_is_a_primary_again() {
    let server = RedisServer::start();
    let other = RedisServer::replica_of(&server);
    let (store, hit) = (store(&server.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    let demoted = Instant::now();
    other.command(&["REPLICAOF", "NO", "ONE"]);
    server.command(&["REPLICAOF", "127.0.0.1", &other.port().to_string()]);
    assert!(given_up(&store).duration_since(demoted) < Duration::from_secs(1));
    a_while(Duration::from_millis(200)).await;
    let promoted = Instant::now();
    server.command(&["REPLICAOF", "NO", "ONE"]);
    recovered(&store);
    assert!(promoted.elapsed() < Duration::from_secs(4), "{:?}", promoted.elapsed());
    a_while(Duration::from_millis(200)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.since(demoted).failed() > 0 && takes.since(promoted).admitted() > 0);
    let counted = counted(&patient(&server.url()), hit).await;
    // What the other had not heard yet when it was promoted is lost with it.
    assert!(counted <= takes.admitted() + takes.failed(), "{counted} counted of {}", takes.admitted());
    assert!(counted >= takes.since(promoted).admitted());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_by_sentinels_moves_the_clients_to_the_new_primary() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 1);
    let (store, hit) = (store(&sentinels.url()), plenty("client"));
    recovered(&store);
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    sentinels.fail_over(&replica);
    let moved = Instant::now();
    let look = patient(&replica.url());
    // They may still be with the old primary, which does not know of it yet.
    while counted(&look, plenty("after")).await == 0 {
        let _ = crate::clients::take(&store, plenty("after")).await;
        assert!(moved.elapsed() < Duration::from_secs(20));
    }
    let arrived = Instant::now();
    recovered(&store);
    let before = counted(&look, hit).await;
    a_while(Duration::from_millis(300)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.since(arrived).admitted() > 0);
    let counted = counted(&look, hit).await;
    assert!(counted >= before && counted <= takes.admitted() + takes.failed());
}
