//! Whose clock counts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aforo_core::{ManualClock, Moment};
use aforo_redis::RedisStore;
use aforo_testkit::servers::RedisServer;

use crate::asking::{each_algorithm, hit, patient, peek, sent_during, settled, take};

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_question_says_what_time_it_is() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for quota in each_algorithm(5, HOUR) {
        let hit = hit("rule", "client", quota);
        let sent = sent_during(&server, async { (take(&store, &[hit]).await, peek(&store, &[hit]).await) }).await;
        assert!(sent.len() >= 2, "{sent:?}");
        for line in sent {
            // The first word is when the server heard it.
            let words = line.split_whitespace().skip(1).map(|word| word.trim_matches('"'));
            assert!(!words.filter_map(|word| word.parse().ok()).any(is_the_time), "{line}");
        }
    }
}

/// Whether a number is today's date in seconds or a finer unit.
fn is_the_time(number: f64) -> bool {
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| (number / unit - today).abs() < 86_400.0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_is_dated_by_the_server() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for quota in each_algorithm(5, HOUR) {
        let before = time(&server);
        let taken_at = take(&store, &[hit("rule", "client", quota)]).await.taken_at();
        assert!((before..=time(&server)).contains(&taken_at), "{taken_at:?}");
    }
}

fn time(server: &RedisServer) -> Moment {
    let time = server.command(&["TIME"]);
    let [seconds, micros] = time.list() else { panic!("no time: {time:?}") };
    Moment::from_micros((seconds.integer() * 1_000_000 + micros.integer()).unsigned_abs())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_a_minute_apart_admit_no_more_together_than_one() {
    let server = RedisServer::start();
    // No beginning of an hour lies between them.
    let behind = Moment::from_millis(1_700_000_000_000);
    let ahead = Moment::from_millis(1_700_000_060_000);
    let stores = [behind, ahead].map(|now| RedisStore::with_clock(patient(&server.url()), ManualClock::at(now)));
    for (number, quota) in each_algorithm(5, HOUR).into_iter().enumerate() {
        for first in [0, 1] {
            let hit = hit(&format!("{number} {first}"), "client", quota);
            let mut admitted = 0;
            for turn in first..first + 20 {
                admitted += usize::from(take(&stores[turn % 2], &[hit]).await.allowed());
            }
            assert_eq!(admitted, 5, "{quota:?}");
        }
    }
}
