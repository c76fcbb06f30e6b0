//! Keys of ours that hold what no algorithm has written.

use std::time::Duration;

use aforo_testkit::servers::RedisServer;

use crate::asking::{costing, counting_denials, each_algorithm, hit, peek, refund, sole, store, take};

const HOUR: Duration = Duration::from_secs(3_600);

/// Commands that put something under a NAME.
const RUBBISH: &[&[&str]] = &[
    &["SET", "NAME", "hello"],
    &["SET", "NAME", ""],
    &["SET", "NAME", "t"],
    &["SET", "NAME", "t1"],
    &["SET", "NAME", "t1 2"],
    &["SET", "NAME", "t1 2 "],
    &["SET", "NAME", "t1 2 x"],
    &["SET", "NAME", "t-1 2 3"],
    &["SET", "NAME", "t1 2 3 4 5"],
    &["SET", "NAME", "f1"],
    &["SET", "NAME", "f1 "],
    &["SET", "NAME", "f1.5 2"],
    &["SET", "NAME", "s1 2"],
    &["SET", "NAME", "s1 2 3"],
    &["SET", "NAME", "s1 2 3 0"],
    &["SET", "NAME", "s1 2 3 x"],
    &["SET", "NAME", "l1"],
    &["SET", "NAME", "l1 2 x"],
    &["SET", "NAME", "x1 2 3"],
    &["SET", "NAME", "7"],
    &["RPUSH", "NAME", "1", "2"],
    &["HSET", "NAME", "1", "2"],
    &["SADD", "NAME", "1"],
    &["ZADD", "NAME", "1.5", "1"],
    &["ZADD", "NAME", "1", "x"],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_that_no_algorithm_has_written_is_fresh() {
    let server = RedisServer::start();
    let store = store(&server.url());
    for rubbish in RUBBISH {
        for name in ["aforo:{client}:rule", "aforo:{client}.log:rule"] {
            for quota in each_algorithm(5, HOUR) {
                let hit = hit("rule", "client", quota);
                let put = || {
                    server.command(&["FLUSHALL"]);
                    let words: Vec<&str> =
                        rubbish.iter().map(|word| if *word == "NAME" { name } else { word }).collect();
                    server.command(&words);
                };
                let place = format!("{rubbish:?} as {name}: {quota:?}");
                put();
                assert_eq!(sole(peek(&store, &[hit]).await).remaining, 5, "{place}");
                assert_eq!(sole(take(&store, &[costing(2, hit)]).await).remaining, 3, "{place}");
                assert_eq!(sole(take(&store, &[hit]).await).remaining, 2, "{place}");
                put();
                assert!(!take(&store, &[costing(6, hit)]).await.allowed(), "{place}");
                put();
                assert!(!take(&store, &[counting_denials(costing(6, hit))]).await.allowed(), "{place}");
                put();
                let now = peek(&store, &[hit]).await.taken_at();
                assert_eq!(sole(refund(&store, &[hit], now).await).remaining, 5, "{place}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_whose_entries_were_replaced_or_lost_goes_on() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let [.., log] = each_algorithm(5, HOUR);
    let hit = hit("rule", "client", log);
    let entries = "aforo:{client}.log:rule";
    for replaced in [&["SET", entries, "hello"][..], &["HSET", entries, "1", "2"], &["PING"]] {
        for count_denied in [false, true] {
            server.command(&["FLUSHALL"]);
            let taken_at = take(&store, &[costing(3, hit)]).await.taken_at();
            server.command(&["DEL", entries]);
            server.command(replaced);
            let hit = aforo_core::Hit { count_denied, ..hit };
            assert_eq!(sole(refund(&store, &[hit], taken_at).await).remaining, 5, "{replaced:?}");
            assert!(!take(&store, &[costing(6, hit)]).await.allowed(), "{replaced:?}");
            server.command(&["FLUSHALL"]);
            let _ = take(&store, &[costing(3, hit)]).await;
            server.command(&["DEL", entries]);
            server.command(replaced);
            assert_eq!(sole(take(&store, &[hit]).await).remaining, 4, "{replaced:?}");
            assert_eq!(sole(take(&store, &[hit]).await).remaining, 3, "{replaced:?}");
        }
    }
}
