//! Never one unit too many, never one lost.

use std::time::Duration;

use aforo_core::{Hit, Mode, Op, Store};
use aforo_testkit::eventually;
use aforo_testkit::servers::{RedisCluster, RedisServer};
use tokio::runtime::Runtime;

use crate::asking::{MONTH, admitted, costing, each_algorithm, hit, peek, refund, store, take};
use crate::fleet::{Task, sail};

/// Where the counters of the subjects "a" and "b" lie.
const SLOT_OF_A: u16 = 15_495;
const SLOT_OF_B: u16 = 3_300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_takes_at_once_are_granted_just_what_each_algorithm_allows() {
    let server = RedisServer::start();
    let store = store(&server.url());
    for (number, quota) in each_algorithm(500, MONTH).into_iter().enumerate() {
        let hit = hit(&format!("rule{number}"), "client", quota);
        assert_eq!(admitted(&store, &[hit], 1_000).await, 500, "{quota:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_of_five_quotas_decides_whichever_it_is() {
    let server = RedisServer::start();
    let store = store(&server.url());
    for least in 0..5 {
        let quotas = each_algorithm(800, MONTH)
            .into_iter()
            .enumerate()
            .map(|(rule, quota)| if rule == least { each_algorithm(300, MONTH)[rule] } else { quota });
        let mut hits: Vec<Hit> =
            quotas.zip('a'..).map(|(quota, rule)| hit(&rule.to_string(), &least.to_string(), quota)).collect();
        // It stops nobody, and what it could not grant is not counted.
        hits.push(Hit { mode: Mode::Shadow, ..hit("shadow", &least.to_string(), each_algorithm(100, MONTH)[least]) });
        assert_eq!(admitted(&store, &hits, 600).await, 300, "rule {least}");
        let looked = peek(&store, &hits).await;
        let left: Vec<u32> = looked.verdicts().map(|verdict| verdict.remaining).collect();
        let expected: Vec<u32> = (0..5).map(|rule| if rule == least { 0 } else { 500 }).chain([0]).collect();
        assert_eq!(left, expected, "rule {least}");
    }
}

#[test]
fn eight_processes_are_granted_just_the_limit_of_three_rules() {
    let server = RedisServer::start();
    assert_eq!(sail(Task::OneSubject, &server.url(), 8).iter().sum::<usize>(), 500);
    assert_eq!(left(&server.url(), &Task::OneSubject.hits(0)), [0, 100, 200]);
}

#[test]
fn eight_processes_are_granted_just_the_limit_of_one_subject_in_a_cluster() {
    let cluster = busy_cluster();
    assert_eq!(sail(Task::OneSubject, &cluster.url(), 8).iter().sum::<usize>(), 500);
    assert_eq!(left(&cluster.url(), &Task::OneSubject.hits(0)), [0, 100, 200]);
}

#[test]
fn rules_on_three_nodes_of_a_cluster_never_grant_too_much_and_lose_nothing() {
    let cluster = busy_cluster();
    let granted = sail(Task::ThreeSubjects, &cluster.url(), 8).iter().sum::<usize>();
    assert!((1..=500).contains(&granted), "{granted}");
    assert_eq!(
        cluster.nodes().iter().filter(|node| !node.keys("aforo:*").is_empty()).count(),
        3,
        "it lies on all nodes"
    );
    // What was granted on one node and refused on another comes back, if only in a moment.
    let granted = granted as u32;
    let expected = [500 - granted, 600 - granted, 700 - granted];
    eventually("every unit is back", || (left(&cluster.url(), &Task::ThreeSubjects.hits(0)) == expected).then_some(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refund_gives_back_on_every_node_what_was_taken_there() {
    let cluster = busy_cluster();
    let store = store(&cluster.url());
    for quota in each_algorithm(500, MONTH) {
        let hits = ["a", "b", "c"].map(|subject| costing(3, hit("rule", subject, quota)));
        let taken_at = take(&store, &hits).await.taken_at();
        assert!(peek(&store, &hits).await.verdicts().all(|verdict| verdict.remaining == 497));
        let _ = refund(&store, &hits, taken_at).await;
        assert!(peek(&store, &hits).await.verdicts().all(|verdict| verdict.remaining == 500), "{quota:?}");
    }
}

#[test]
fn a_caller_who_goes_away_takes_nothing_where_another_rule_refuses() {
    let (cluster, runtime) = (busy_cluster(), Runtime::new().unwrap());
    let [quota, ..] = each_algorithm(500, MONTH);
    let (own, shared) = (hit("own", "a", quota), hit("shared", "b", quota));
    let [slow, node] = [SLOT_OF_A, SLOT_OF_B].map(|slot| &cluster.nodes()[cluster.owner(slot)]);
    let before = node.calls("evalsha");
    let store = runtime.block_on(async {
        let store = store(&cluster.url());
        assert!(take(&store, &[costing(500, own)]).await.allowed());
        let _ = peek(&store, &[own, shared]).await;
        slow.pause();
        for _ in 0..20 {
            let asked = store.decide(Op::Take, &[own, shared].into_iter().collect());
            assert!(tokio::time::timeout(Duration::from_millis(5), asked).await.is_err(), "it waits for the refusal");
        }
        slow.resume();
        store
    });
    assert!(node.calls("evalsha") >= before + 20, "units were granted");
    eventually("every unit is back", || (left(&cluster.url(), &[shared]) == [500]).then_some(()));
    assert_eq!(runtime.block_on(admitted(&store, &[shared], 600)), 500);
}

/// A Cluster that does not take a busy machine for a dead one.
fn busy_cluster() -> RedisCluster {
    RedisCluster::with(3, &["--cluster-node-timeout", "20000"])
}

/// What is left of each rule.
fn left(url: &str, hits: &[Hit]) -> Vec<u32> {
    Runtime::new().unwrap().block_on(async {
        let looked = peek(&store(url), hits).await;
        looked.verdicts().map(|verdict| verdict.remaining).collect()
    })
}
