//! What lies in the server: our keys and no others, none of them for ever.

use std::time::{Duration, Instant};

use aforo_core::{Algorithm, Hit, ManualClock, Mode, Moment, Quota};
use aforo_testkit::servers::{RedisServer, StoredKey};

use crate::asking::{
    costing, counting_denials, each_algorithm, hit, patient, peek, refund, settled, sole, store, take,
};
use aforo_redis::RedisStore;

const HOUR: Duration = Duration::from_secs(3_600);

/// A counter outlives its debt by a second; two more for a busy machine.
const LONGER: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_is_called_ours_and_none_is_for_ever() {
    let server = RedisServer::start();
    let store = RedisStore::new(patient(&server.url()).prefix("shop").unwrap());
    let quotas = each_algorithm(5, HOUR);
    for (number, quota) in quotas.into_iter().enumerate() {
        for (kind, mode, count_denied) in
            [("plain", Mode::Enforce, false), ("shadow", Mode::Shadow, false), ("strict", Mode::Enforce, true)]
        {
            let hit = Hit { mode, count_denied, ..hit(&format!("{kind}{number}"), "client", quota) };
            let _ = peek(&store, &[hit]).await;
            let taken_at = take(&store, &[costing(2, hit)]).await.taken_at();
            for cost in [0, 1, 2, 7] {
                let _ = take(&store, &[costing(cost, hit)]).await;
            }
            let _ = refund(&store, &[hit], taken_at).await;
            // Under another algorithm, and back.
            for other in quotas {
                let _ = take(&store, &[Hit { quota: other, ..hit }]).await;
                let _ = refund(&store, &[Hit { quota: other, ..hit }], taken_at).await;
            }
            let _ = take(&store, &[hit]).await;
        }
        let all: Vec<Hit> =
            quotas.into_iter().zip('a'..).map(|(quota, rule)| hit(&rule.to_string(), "all", quota)).collect();
        let _ = take(&store, &all).await;
        let forgotten = hit("forgotten", &number.to_string(), quota);
        assert!(!store.forget(&forgotten.key).await.unwrap());
        let _ = take(&store, &[forgotten]).await;
        assert!(store.forget(&forgotten.key).await.unwrap());
    }
    let keys = server.keys("*");
    // Fifteen counters, five of one request, and the probe's. Logs have a second key.
    assert!(keys.len() >= 21, "{keys:?}");
    for key in keys {
        assert!(key.name.starts_with("shop:{"), "{key:?}");
        assert!(!key.name.contains("forgotten"), "{key:?}");
        assert!(key.expires_in.is_some(), "{key:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_lives_until_it_owes_nothing_and_not_much_longer() {
    let server = RedisServer::start();
    let store = store(&server.url());
    // Counted in ticks of a second.
    let year = Duration::from_secs(366 * 86_400);
    let coarse = Quota::counted_by(Algorithm::TokenBucket { burst: 100_000_000 }, 1, year).unwrap();
    let quotas = each_algorithm(10, Duration::from_secs(60)).into_iter().chain([coarse]);
    for (number, quota) in quotas.enumerate() {
        for cost in [1, 2, 7] {
            let subject = format!("client{number}.{cost}");
            let hit = costing(cost, hit("rule", &subject, quota));
            let lasts = async |hits: &[Hit]| {
                let asked = Instant::now();
                let clear = take(&store, hits).await.verdicts().last().unwrap().reset_after();
                let keys = server.keys(&format!("aforo:{{{subject}}}*"));
                assert!(!keys.is_empty());
                for StoredKey { name, expires_in } in keys {
                    let left = expires_in.unwrap();
                    assert!(left + asked.elapsed() >= clear, "{name}: {left:?} of {clear:?}, {quota:?}");
                    assert!(left <= clear + LONGER, "{name}: {left:?} of {clear:?}, {quota:?}");
                }
            };
            lasts(&[hit]).await;
            lasts(&[counting_denials(costing(10, hit))]).await;
            // In company, other parts of the script decide.
            lasts(&[counting_denials(costing(10, hit)), counting_denials(costing(3, hit))]).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_lost_its_end_gets_one_from_the_next_take_whether_it_is_granted_or_not() {
    let server = RedisServer::start();
    for quota in each_algorithm(3, HOUR) {
        let plain = hit("rule", "client", quota);
        let company = hit("company", "client", Quota::per_hour(100).fixed_window());
        let strict = counting_denials(company);
        let shadow = Hit { mode: Mode::Shadow, ..plain };
        for hits in [vec![plain], vec![plain, company], vec![plain, strict], vec![shadow], vec![costing(0, plain)]] {
            for taken in 1..=3 {
                // A store of its own, that remembers no denial.
                let store = store(&server.url());
                server.command(&["FLUSHALL"]);
                for _ in 0..taken {
                    assert!(take(&store, &[plain]).await.allowed());
                }
                let keys = server.keys("aforo:{client}*");
                for key in &keys {
                    server.command(&["PERSIST", &key.name]);
                }
                let _ = peek(&store, &hits).await;
                assert!(
                    server.keys("aforo:{client}*").iter().all(|key| key.expires_in.is_none()),
                    "a look writes nothing"
                );
                let _ = take(&store, &hits).await;
                for StoredKey { name, expires_in } in server.keys("aforo:{client}*") {
                    let left = expires_in.unwrap_or_else(|| panic!("{name} stays for ever: {hits:?} after {taken}"));
                    assert!(left > Duration::ZERO && left <= 2 * HOUR + LONGER, "{name}: {left:?}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_immortal_log_of_long_ago_can_be_refunded() {
    let server = RedisServer::start();
    let clock = &*Box::leak(Box::new(ManualClock::at(Moment::from_millis(1_700_000_000_000))));
    let store = RedisStore::with_clock(patient(&server.url()), clock);
    let hit = hit("rule", "client", Quota::per_second(5).sliding_log());
    let first = take(&store, &[hit]).await.taken_at();
    clock.advance(Duration::from_millis(1));
    let _ = take(&store, &[hit]).await;
    for key in server.keys("aforo:{client}*") {
        server.command(&["PERSIST", &key.name]);
    }
    clock.advance(2 * 24 * HOUR);
    assert_eq!(sole(refund(&store, &[hit], first).await).remaining, 5);
    assert!(take(&store, &[hit]).await.allowed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_debt_of_a_million_years_can_be_written_down() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let year = Duration::from_secs(366 * 86_400);
    let quota = Quota::counted_by(Algorithm::TokenBucket { burst: 100_000_000 }, 1, year).unwrap();
    let hit = hit("rule", "client", quota);
    assert_eq!(sole(take(&store, &[costing(99_999_999, hit)]).await).remaining, 1);
    assert_eq!(sole(take(&store, &[hit]).await).remaining, 0);
    assert!(!take(&store, &[hit]).await.allowed());
    assert!(server.keys("aforo:{client}*").iter().all(|key| key.expires_in.unwrap() > 1_000 * year));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_digit_of_a_number_is_lost() {
    let server = RedisServer::start();
    let store = settled(&server).await;
    for (quota, name) in each_algorithm(5, HOUR).into_iter().zip('a'..) {
        let hit = hit(&name.to_string(), "client", quota);
        let taken_at = take(&store, &[hit]).await.taken_at().as_micros().to_string();
        assert_eq!(taken_at.len(), 16);
        let stored = server.command(&["GET", &format!("aforo:{{client}}:{name}")]).text();
        assert!(stored.split(' ').any(|number| number == taken_at), "{taken_at} is not in {stored:?}: {quota:?}");
    }
    let entries = server.command(&["ZRANGE", "aforo:{client}.log:e", "0", "-1", "WITHSCORES"]);
    let stored = server.command(&["GET", "aforo:{client}:e"]).text();
    assert!(stored.contains(&entries.list()[1].text()), "{entries:?} and {stored:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_is_small() {
    let server = RedisServer::start();
    let store = store(&server.url());
    let login = hit("login", "203.0.113.7", Quota::per_minute(5));
    assert!(take(&store, &[costing(5, login)]).await.allowed());
    let bytes = server.command(&["MEMORY", "USAGE", "aforo:{203.0.113.7}:login"]).integer();
    assert!(bytes <= 120, "{bytes} bytes");
}
