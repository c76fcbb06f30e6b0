use aforo_core::StoreErrorKind;
use aforo_testkit::eventually;
use aforo_testkit::proxy::{Fault, Proxy};
use aforo_testkit::servers::RedisServer;

use super::*;

fn stored(server: &RedisServer, key: &str) -> String {
    server.command(&["GET", key]).text()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_answered_over_every_connection() {
    let server = RedisServer::start();
    let servers = start(&server.url());
    for expected in 1..=10 {
        assert_eq!(answered(&servers, "key").await, expected);
    }
    assert!(servers.health().state.is_answering());
    assert!(!servers.spread());
    eventually("both connections are open", || {
        (server.command(&["CLIENT", "LIST"]).text().matches("cmd=eval").count() == 2).then_some(())
    });
    drop(servers);
    eventually("they are closed", || (!server.command(&["CLIENT", "LIST"]).text().contains("cmd=eval")).then_some(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_are_each_answered_once() {
    let server = RedisServer::start();
    let servers = Arc::new(start_within(&server.url(), Duration::from_secs(5)));
    answered(&servers, "key").await;
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let servers = Arc::clone(&servers);
            tokio::spawn(async move { servers.call(&counting("key"), Instant::now() + Duration::from_secs(10)).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(stored(&server, "key"), "1001");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_was_flushed_is_brought_along_once() {
    let server = RedisServer::start();
    let servers = start(&server.url());
    assert_eq!(answered(&servers, "key").await, 1);
    let before = servers.health().errors;
    server.command(&["SCRIPT", "FLUSH"]);
    assert_eq!(count(&servers, "key").await.unwrap(), 2);
    assert_eq!(stored(&server, "key"), "2");
    assert_eq!(servers.health().errors, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_yet_is_found_when_it_comes() {
    let server = RedisServer::start();
    server.kill();
    let servers = start(&server.url());
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("not connected"), "{trouble}");
    assert!(refused_within(&servers, "key").await < TIMEOUT / 2);
    server.restart();
    assert_eq!(answered(&servers, "key").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_killed_is_found_again() {
    let server = RedisServer::start();
    let servers = start(&server.url());
    answered(&servers, "key").await;
    server.kill();
    given_up(&servers, "key").await;
    assert!(refused_within(&servers, "key").await < TIMEOUT / 2);
    assert!(servers.health().errors.not_asked >= 20, "{:?}", servers.health());
    server.restart();
    let back = Instant::now();
    assert_eq!(answered(&servers, "key").await, 1, "nothing that was asked meanwhile arrives now");
    assert!(back.elapsed() < Duration::from_secs(2), "{:?}", back.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_frozen_costs_nobody_more_than_the_timeout_and_soon_nothing() {
    let server = RedisServer::start();
    let servers = start(&server.url());
    answered(&servers, "key").await;
    server.pause();
    let frozen = Instant::now();
    assert_eq!(count(&servers, "key").await.unwrap_err().kind, StoreErrorKind::Timeout);
    given_up(&servers, "key").await;
    assert!(frozen.elapsed() < Duration::from_secs(1), "{:?}", frozen.elapsed());
    assert!(refused_within(&servers, "key").await < TIMEOUT / 2);
    server.resume();
    answered(&servers, "key").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_answer_was_lost_is_not_sent_again() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let servers = start(&proxy.url());
    answered(&servers, "before").await;
    proxy.replies(Fault::Lose);
    assert_eq!(count(&servers, "key").await.unwrap_err().kind, StoreErrorKind::Timeout);
    eventually("it was run", || (server.command(&["EXISTS", "key"]).integer() == 1).then_some(()));
    proxy.pass();
    for _ in 0..20 {
        answered(&servers, "other").await;
    }
    assert_eq!(stored(&server, "key"), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_were_reset_are_replaced_before_anyone_asks() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let servers = start(&proxy.url());
    answered(&servers, "key").await;
    eventually("both connections are open", || (proxy.open() == 2).then_some(()));
    // Sooner, and they would be taken for ones that never worked.
    let opened = Instant::now();
    super::eventually("they have lived", async || (opened.elapsed() > Duration::from_millis(1_100)).then_some(()))
        .await;
    proxy.reset();
    eventually("they are replaced", || (proxy.open() == 2).then_some(()));
    assert_eq!(answered(&servers, "key").await, 2);
    assert!(servers.health().state.is_answering());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_behind_a_black_hole_is_given_up_within_a_second() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    proxy.black_hole();
    let servers = start(&proxy.url());
    let begun = Instant::now();
    given_up(&servers, "key").await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(refused_within(&servers, "key").await < TIMEOUT / 2);
    proxy.pass();
    assert_eq!(answered(&servers, "key").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_told_without_the_password() {
    let server = RedisServer::with_password("right");
    let servers = start(&format!("redis://:hush@127.0.0.1:{}", server.port()));
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("WRONGPASS") && !trouble.contains("hush"), "{trouble}");
    assert_eq!(answered(&start(&server.url()), "key").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_permission_is_told_and_noticed_when_it_is_given() {
    let server = RedisServer::start();
    server.command(&["ACL", "SETUSER", "limits", "on", ">pass", "~*", "+evalsha", "+incr", "+pexpire"]);
    let servers = start(&format!("redis://limits:pass@127.0.0.1:{}", server.port()));
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("NOPERM") && trouble.contains("eval"), "{trouble}");
    server.command(&["ACL", "SETUSER", "limits", "+eval"]);
    assert_eq!(answered(&servers, "key").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_needs_no_provider_from_the_program_around() {
    let server = RedisServer::with_tls();
    assert_eq!(answered(&start_within(&server.url(), TIMEOUT * 4), "key").await, 1);
    let distrustful = start(server.url().split('?').next().unwrap());
    let trouble = given_up(&distrustful, "key").await;
    assert!(trouble.contains("certificate"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_became_a_replica_is_left_until_it_takes_writes() {
    let (server, other) = (RedisServer::start(), RedisServer::start());
    let servers = start(&server.url());
    answered(&servers, "key").await;
    server.command(&["REPLICAOF", "127.0.0.1", &other.port().to_string()]);
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("READONLY") || trouble.contains("MASTERDOWN") || trouble.contains("LOADING"), "{trouble}");
    server.command(&["REPLICAOF", "NO", "ONE"]);
    answered(&servers, "key").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_memory_fails_takes_and_leaves_the_breaker_closed() {
    let server = RedisServer::start();
    let servers = start(&server.url());
    answered(&servers, "key").await;
    server.set("maxmemory", "1");
    for _ in 0..20 {
        let trouble = count(&servers, "key").await.unwrap_err();
        assert!(trouble.to_string().contains("OOM"), "{trouble}");
    }
    let hindered = |servers: &Servers| matches!(servers.health().state, State::Hindered { .. }).then_some(());
    assert!(hindered(&servers).is_some());
    let newcomer = start(&server.url());
    eventually("one that comes now may ask, too", || hindered(&newcomer));
    server.set("maxmemory", "0");
    assert_eq!(count(&servers, "key").await.unwrap(), 2);
    for servers in [servers, newcomer] {
        eventually("it is as it was", || servers.health().state.is_answering().then_some(()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_a_cluster_is_not_taken_for_a_server_alone() {
    let server = RedisServer::with(&["--cluster-enabled", "yes"]);
    let owned = slot_of("key").to_string();
    server.command(&["CLUSTER", "ADDSLOTS", &owned]);
    let servers = start(&server.url());
    let trouble = given_up(&servers, "key").await;
    assert!(trouble.contains("CLUSTERDOWN") || trouble.contains("redis-cluster://"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_whose_packets_are_late_fail_in_time_and_are_counted_once() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let servers = start(&proxy.url());
    answered(&servers, "before").await;
    proxy.replies(Fault::Late { percent: 30, by: Duration::from_millis(200) });
    let (mut asked, mut answers) = (0, 0);
    let until = Instant::now() + Duration::from_secs(2);
    let mut beat = tokio::time::interval(Duration::from_millis(10));
    while Instant::now() < until {
        beat.tick().await;
        asked += 1;
        answers += i64::from(count(&servers, "key").await.is_ok());
    }
    assert!(answers >= 10, "{answers} of {asked}");
    proxy.pass();
    let counted = answered(&servers, "key").await - 1;
    assert!((answers..=asked).contains(&counted), "{asked} were asked and {answers} answered, {counted} counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_collects_only_so_many_calls() {
    let server = RedisServer::start();
    let servers = Arc::new(start_within(&server.url(), Duration::from_secs(20)));
    answered(&servers, "key").await;
    server.pause();
    let waiting: Vec<_> = (0..2 * 4_096)
        .map(|_| {
            let servers = Arc::clone(&servers);
            tokio::spawn(async move { servers.call(&counting("key"), Instant::now() + Duration::from_secs(20)).await })
        })
        .collect();
    eventually("all of them wait", || (servers.health().servers[0].unanswered == 2 * 4_096).then_some(()));
    let asked = Instant::now();
    let trouble = count(&servers, "key").await.unwrap_err();
    assert!(asked.elapsed() < TIMEOUT / 2);
    assert!(trouble.to_string().contains("8192 calls wait"), "{trouble}");
    assert_eq!(trouble.kind, StoreErrorKind::Timeout);
    server.resume();
    for call in waiting {
        call.await.unwrap().unwrap();
    }
    assert_eq!(stored(&server, "key"), (1 + 2 * 4_096).to_string());
}
