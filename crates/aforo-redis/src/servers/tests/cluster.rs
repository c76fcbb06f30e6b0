use aforo_testkit::servers::{RedisCluster, RedisServer};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_goes_to_the_owner_of_its_slot() {
    let cluster = RedisCluster::start(3);
    let servers = start(&cluster.url());
    assert!(servers.spread());
    for n in 0..100 {
        assert_eq!(answered(&servers, &format!("key{n}")).await, 1);
    }
    let health = servers.health();
    assert!(health.state.is_answering());
    assert_eq!(health.servers.len(), 3);
    let sent_on = |node: &RedisServer| node.report("errorstats").contains_key("errorstat_MOVED");
    assert!(!cluster.nodes().iter().any(sent_on));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_follows_its_slot_to_the_new_owner() {
    let cluster = RedisCluster::start(2);
    let servers = start(&cluster.url());
    assert_eq!(answered(&servers, "key").await, 1);
    let before = servers.health().errors;
    let slot = slot_of("key");
    cluster.move_slot(slot, 1 - cluster.owner(slot));
    assert_eq!(count(&servers, "key").await.unwrap(), 2);
    assert_eq!(servers.health().errors, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_asked_where_its_slot_is_moving_to() {
    let cluster = RedisCluster::start(2);
    let servers = start(&cluster.url());
    let slot = slot_of("key");
    let there = 1 - cluster.owner(slot);
    answered(&servers, &key_in(0, "warm")).await;
    answered(&servers, &key_in(16_383, "warm")).await;
    let before = servers.health().errors;
    let moving = cluster.begin_move(slot, there);
    assert_eq!(count(&servers, "key").await.unwrap(), 1);
    cluster.nodes()[there].command(&["SCRIPT", "FLUSH"]);
    assert_eq!(count(&servers, "key").await.unwrap(), 2, "its script was brought along there");
    moving.finish();
    assert_eq!(count(&servers, "key").await.unwrap(), 3);
    assert_eq!(servers.health().errors, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_promoted_replica_of_a_node_that_died_takes_its_calls() {
    let cluster = RedisCluster::with_replicas(3);
    let servers = start(&cluster.url());
    for slot in [0, 8_000, 16_383] {
        answered(&servers, &key_in(slot, "key")).await;
    }
    let lost = key_in(8_000, "key");
    let primary = cluster.owner(8_000);
    cluster.nodes()[primary].kill();
    super::eventually("its server is given up", async || {
        let _ = count(&servers, &lost).await;
        servers.health().servers.iter().any(|server| matches!(server.state, State::Down { .. })).then_some(())
    })
    .await;
    let State::Hindered { trouble, .. } = servers.health().state else { panic!("{:?}", servers.health()) };
    let gone = format!("127.0.0.1:{} is down: ", cluster.nodes()[primary].port());
    assert!(trouble.starts_with(&gone) && !trouble.contains("; "), "{trouble}");
    assert!(refused_within(&servers, &lost).await < TIMEOUT / 2);
    for slot in [0, 16_383] {
        assert!(count(&servers, &key_in(slot, "key")).await.is_ok(), "the other nodes go on");
    }
    cluster.await_promotion(primary);
    answered(&servers, &lost).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_alone_is_not_taken_for_a_cluster() {
    let server = RedisServer::start();
    let servers = start(&format!("redis-cluster://127.0.0.1:{}", server.port()));
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("cluster support disabled"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_spoken_to_over_tls_on_the_ports_that_it_tells() {
    let certificate = |name: &str| format!("{}/../aforo-testkit/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let server = RedisServer::with(&[
        "--cluster-enabled",
        "yes",
        "--tls-cluster",
        "yes",
        "--tls-port",
        &port,
        "--tls-cert-file",
        &certificate("cert.pem"),
        "--tls-key-file",
        &certificate("key.pem"),
        "--tls-ca-cert-file",
        &certificate("ca.pem"),
        "--tls-auth-clients",
        "no",
    ]);
    let slots: Vec<String> = (0..16_384).map(|slot| slot.to_string()).collect();
    let words: Vec<&str> = ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
    server.command(&words);
    let url = format!("rediss-cluster://127.0.0.1:{port}?ca_file={}", certificate("ca.pem"));
    let servers = start_within(&url, TIMEOUT * 4);
    assert_eq!(answered(&servers, "key").await, 1);
    assert_eq!(servers.health().servers[0].server, format!("127.0.0.1:{port}"));
}
