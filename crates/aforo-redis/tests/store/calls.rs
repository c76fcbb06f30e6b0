//! What a request costs the server.

use aforo_core::{Hit, Quota};
use aforo_testkit::servers::RedisServer;

use crate::asking::{costing, counting_denials, each_algorithm, hit, peek, refund, sent_during, settled, take};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

fn rules(subject: &str) -> Vec<Hit> {
    each_algorithm(5, HOUR).into_iter().zip('a'..).map(|(quota, rule)| hit(&rule.to_string(), subject, quota)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_one_call_of_the_script_whatever_it_meets() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    let hits = rules("client");
    for asked in [&hits[..1], &hits[..3], &hits[..]] {
        // The server has to be told each script once.
        let _ = (take(&store, asked).await, peek(&store, asked).await);
        let taken = sent_during(&server, take(&store, asked)).await;
        let looked = sent_during(&server, peek(&store, asked)).await;
        let again = take(&store, asked).await.taken_at();
        let returned = sent_during(&server, refund(&store, asked, again)).await;
        for sent in [taken, looked, returned] {
            assert!(sent.len() == 1 && sent[0].contains("\"EVALSHA\""), "{sent:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_writes_nothing() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    let hits = rules("client");
    let _ = take(&store, &hits).await;
    let before = (writes(&server), server.keys("*").len());
    let _ = (peek(&store, &hits).await, peek(&store, &rules("stranger")).await);
    assert_eq!((writes(&server), server.keys("*").len()), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_writes_nothing_unless_denials_are_counted() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for rule in rules("client") {
        let _ = take(&store, &[costing(4, rule)]).await;
        let before = writes(&server);
        let asked = server.calls("evalsha") + server.calls("eval");
        assert!(!take(&store, &[costing(2, rule)]).await.allowed());
        assert_eq!(server.calls("evalsha") + server.calls("eval"), asked + 1, "it was asked");
        assert_eq!(writes(&server), before, "{rule:?}");
        assert!(!take(&store, &[counting_denials(costing(2, rule))]).await.allowed());
        assert!(writes(&server) > before, "{rule:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_one_rule_refuses_writes_nothing_for_the_others() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    let mut hits = rules("client");
    let _ = take(&store, &hits).await;
    hits.push(costing(2, hit("z", "client", Quota::per_hour(1))));
    let before = (writes(&server), server.keys("*").len());
    assert!(!take(&store, &hits).await.allowed());
    assert_eq!((writes(&server), server.keys("*").len()), before);
}

fn writes(server: &RedisServer) -> u64 {
    server.report("persistence")["rdb_changes_since_last_save"].parse().unwrap()
}
