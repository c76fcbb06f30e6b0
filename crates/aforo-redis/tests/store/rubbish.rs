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
    // Numbers that a double does not hold, and counts beyond every limit.
    &["SET", "NAME", "t9007199254740992 1 1"],
    &["SET", "NAME", "t1 9007199254740993 1"],
    &["SET", "NAME", "t1 2 99999999999999999999"],
    &["SET", "NAME", "f99999999999999999999 1"],
    &["SET", "NAME", "f4294967296 1"],
    &["SET", "NAME", "f1 99999999999999999999"],
    &["SET", "NAME", "s4294967296 0 1 60000000"],
    &["SET", "NAME", "s0 4294967296 1 60000000"],
    &["SET", "NAME", "s1 2 3 9007199254740992"],
    &["SET", "NAME", "l0 1 99999999999999999999"],
    &["SET", "NAME", "l4294967296 1 1"],
    // No algorithm writes a divisor like that.
    &["SET", "NAME", "t1 2 03"],
    &["SET", "NAME", "s1 2 3 03"],
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_with_a_number_that_no_double_holds_admits_no_more_than_its_limit() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let [.., log] = each_algorithm(10, HOUR);
    let hit = hit("rule", "client", log);
    let now = server.command(&["TIME"]).list()[0].text();
    server.command(&["SET", "aforo:{client}:rule", &format!("l0 {now}000000 99999999999999999999")]);
    let mut admitted = 0;
    for _ in 0..15 {
        admitted += u32::from(take(&store, &[hit]).await.allowed());
    }
    assert_eq!(admitted, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_whose_entries_are_from_no_time_at_all_is_answered() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let [.., log] = each_algorithm(5, HOUR);
    let hit = hit("rule", "client", log);
    let _ = take(&store, &[hit]).await;
    for (place, score) in ["1e300", "inf", "1e17", "99999999999999999999"].iter().enumerate() {
        server.command(&["ZADD", "aforo:{client}.log:rule", score, &format!("x{place}")]);
    }
    assert!(!take(&store, &[hit]).await.allowed());
}
