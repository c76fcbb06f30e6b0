//! Slots that move, and nodes that change their parts.

use std::time::{Duration, Instant};

use aforo_core::{Hit, Key};
use aforo_redis::RedisStore;
use aforo_testkit::servers::{RedisCluster, RedisServer};

use crate::clients::{Clients, a_while, counted, patient, plenty, recovered, store};

/// Subjects in one slot: what is in braces would be their tag, so they have to be found.
const SLOT: u16 = 7_365;

/// How often a node has sent callers on.
fn sent_on(node: &RedisServer, word: &str) -> u64 {
    let report = node.report("errorstats");
    let count = report.get(&format!("errorstat_{word}")).and_then(|line| line.strip_prefix("count=")?.parse().ok());
    count.unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_that_move_under_load_lose_nothing_and_count_nothing_twice() {
    let cluster = RedisCluster::with(3, &["--cluster-node-timeout", "20000"]);
    let store: RedisStore = patient(&cluster.url());
    // Both lie in the slot of "c".
    let (hit, fresh): (Hit, Hit) = (plenty("c"), Hit { key: Key::new(b"fresh", b"c").unwrap(), ..plenty("c") });
    assert_eq!(counted(&store, hit).await, 0);
    let from = cluster.owner(SLOT);
    let to = (from + 1) % 3;
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    let moving = cluster.begin_move(SLOT, to);
    // Its counter is still there; one that is not yet anywhere is asked for where the slot goes.
    let newcomers = Clients::start(4, &store, &[fresh]);
    a_while(Duration::from_millis(200)).await;
    assert!(moving.move_keys(100) > 0);
    a_while(Duration::from_millis(200)).await;
    moving.finish();
    a_while(Duration::from_millis(200)).await;
    // And back at once.
    cluster.move_slot(SLOT, from);
    a_while(Duration::from_millis(200)).await;
    let (takes, newcomers) = (clients.stop().await, newcomers.stop().await);
    assert_eq!((takes.failed(), newcomers.failed()), (0, 0));
    assert_eq!(takes.admitted(), counted(&store, hit).await);
    assert_eq!(newcomers.admitted(), counted(&store, fresh).await);
    let nodes = cluster.nodes();
    assert!(sent_on(&nodes[from], "ASK") > 0, "they were asked elsewhere");
    assert!(nodes.iter().map(|node| sent_on(node, "MOVED")).sum::<u64>() > 0, "they were sent on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_of_several_rules_waits_for_its_slot_to_arrive() {
    let cluster = RedisCluster::with(3, &["--cluster-node-timeout", "20000"]);
    let store = patient(&cluster.url());
    let second = Hit { key: Key::new(b"second", b"c").unwrap(), ..plenty("c") };
    assert_eq!(counted(&store, plenty("c")).await, 0);
    let clients = Clients::start(4, &store, &[plenty("c"), second]);
    a_while(Duration::from_millis(200)).await;
    let moving = cluster.begin_move(SLOT, (cluster.owner(SLOT) + 1) % 3);
    // One counter is here and the other there: neither node can decide.
    assert_eq!(moving.move_keys(1), 1);
    a_while(Duration::from_millis(100)).await;
    moving.finish();
    a_while(Duration::from_millis(200)).await;
    let takes = clients.stop().await;
    assert_eq!(takes.failed(), 0);
    for hit in [plenty("c"), second] {
        assert_eq!(takes.admitted(), counted(&store, hit).await);
    }
    assert!(cluster.nodes().iter().map(|node| sent_on(node, "TRYAGAIN")).sum::<u64>() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hands_over_to_its_replica_takes_its_clients_along() {
    let cluster = RedisCluster::with_replicas(3);
    let (store, hit) = (store(&cluster.url()), plenty("c"));
    assert_eq!(counted(&patient(&cluster.url()), hit).await, 0);
    recovered(&store);
    let clients = Clients::start(8, &store, &[hit]);
    a_while(Duration::from_millis(200)).await;
    cluster.fail_over(cluster.owner(SLOT));
    let over = Instant::now();
    recovered(&store);
    a_while(Duration::from_millis(500)).await;
    let takes = clients.stop().await;
    takes.assert_prompt();
    takes.assert_nobody_refused();
    assert!(takes.since(over).admitted() > 0);
    takes.assert_counted(counted(&patient(&cluster.url()), hit).await);
}
