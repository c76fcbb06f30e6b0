//! The doctor, at real servers. Each test starts its own.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::time::Duration;

use aforo_core::{Hit, Hits, Key, Op, Quota, Store};
use aforo_redis::doctor::{Doctor, Finding, Report, Severity};
use aforo_redis::{RedisStore, Settings};
use aforo_testkit::servers::{RedisCluster, RedisServer, Sentinels};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn doctor(url: &str) -> Doctor {
    Doctor::new(settings(url))
}

fn settings(url: &str) -> Settings {
    // Longer than any pause of a machine that does other work too.
    Settings::new(url.parse().unwrap()).timeout(Duration::from_secs(5))
}

async fn examined(url: &str) -> Report {
    doctor(url).examine(|_| {}).await
}

#[track_caller]
fn found<'a>(report: &'a Report, name: &str) -> &'a Finding {
    let found = report.findings.iter().find(|finding| finding.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {report:#?}"))
}

#[track_caller]
fn assert_well(report: &Report) {
    let bad: Vec<&Finding> = report.findings.iter().filter(|finding| finding.severity != Severity::Ok).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[track_caller]
fn assert_fault(report: &Report, name: &str, message: &str, help: &str) {
    let finding = found(report, name);
    assert_eq!(finding.severity, Severity::Fault, "{finding:#?}");
    assert!(finding.message.contains(message), "{finding:#?}");
    assert!(finding.help.as_deref().unwrap_or_default().contains(help), "{finding:#?}");
    assert!(!report.is_healthy());
}

/// Makes the user that the line describes, with a password.
fn obey(server: &RedisServer, line: &str) {
    let line = line.replace("PASSWORD", "secret");
    server.command(&line.split(' ').collect::<Vec<_>>());
}

fn url_of(server: &RedisServer, login: &str) -> String {
    format!("redis://{login}@127.0.0.1:{}", server.port())
}

#[tokio::test]
async fn a_server_as_it_comes_is_well_and_left_as_it_was() {
    let server = RedisServer::start();
    let report = examined(&server.url()).await;
    assert_well(&report);
    for name in
        ["address", "server", "role", "permissions", "script", "memory", "durability", "clock", "latency", "keys"]
    {
        assert_eq!(found(&report, name).server.as_deref(), Some(&*format!("127.0.0.1:{}", server.port())), "{name}");
    }
    let [examined] = &report.servers[..] else { panic!("{report:#?}") };
    assert!(examined.version.is_some() && examined.decision.is_some() && examined.round_trip.is_some());
    assert!(examined.clock_ahead_micros.unwrap().unsigned_abs() < 1_000_000);
    assert_eq!(server.keys("*"), []);
}

#[tokio::test]
async fn nobody_listens() {
    let server = RedisServer::start();
    server.kill();
    assert_fault(&examined(&server.url()).await, "address", "refused", "is the server running");
}

#[tokio::test]
async fn a_host_that_is_not_known_is_said_to_be() {
    let report = examined("redis://no-such-host.invalid").await;
    assert_eq!(found(&report, "address").severity, Severity::Fault);
    assert!(found(&report, "address").help.as_deref().unwrap().contains("name of the host"), "{report:#?}");
}

#[tokio::test]
async fn a_server_that_is_wedged_is_given_up_within_seconds() {
    let server = RedisServer::start();
    server.pause();
    let begun = std::time::Instant::now();
    let report = examined(&server.url()).await;
    assert!(!report.is_healthy() && begun.elapsed() < Duration::from_secs(10), "{report:#?}");
    server.resume();
}

#[tokio::test]
async fn a_login_that_is_refused_is_told_without_the_password() {
    let server = RedisServer::with_password("right");
    let report = examined(&url_of(&server, ":hunter2")).await;
    assert_fault(&report, "login", "password is wrong", "USER:PASSWORD@");
    assert!(!format!("{report:?}").contains("hunter2"));
    let report = examined(&url_of(&server, "nobody:hunter2")).await;
    assert_fault(&report, "login", "\"nobody\"", "USER:PASSWORD@");
    let report = examined(&format!("redis://127.0.0.1:{}", server.port())).await;
    assert_fault(&report, "login", "asks for a password", ":PASSWORD@");
    let open = RedisServer::start();
    assert_fault(&examined(&url_of(&open, ":hunter2")).await, "login", "asks for none", "leave it out");
}

#[tokio::test]
async fn the_least_line_suffices_for_the_store_and_an_examination() {
    let server = RedisServer::start();
    let url = url_of(&server, "aforo:secret");
    obey(&server, &doctor(&url).examine(|_| {}).await.least_acl);
    let report = examined(&url).await;
    assert!(report.is_healthy(), "{report:#?}");
    for name in ["permissions", "script", "latency"] {
        assert_eq!(found(&report, name).severity, Severity::Ok, "{report:#?}");
    }
    for name in ["server", "keys"] {
        let finding = found(&report, name);
        assert_eq!(finding.severity, Severity::Warning, "{finding:#?}");
        assert!(finding.help.as_deref().unwrap().contains("+scan +type"), "{finding:#?}");
    }
    let store = RedisStore::new(settings(&url));
    let key = Key::new(b"login", b"203.0.113.7").unwrap();
    let taken = store.decide(Op::Take, &Hits::one(Hit::new(key, Quota::per_hour(1).sliding_log()))).await;
    assert!(taken.unwrap().allowed());
    assert!(store.forget(&key).await.unwrap());
    // What it asks for besides is enough for the rest.
    server.command(&["ACL", "SETUSER", "aforo", "+info", "+scan", "+type"]);
    assert_well(&examined(&url).await);
}

#[tokio::test]
async fn each_command_that_is_missing_is_named_and_the_help_helps() {
    let server = RedisServer::start();
    let url = url_of(&server, "aforo:secret");
    let line = examined(&server.url()).await.least_acl;
    let commands: Vec<&str> = line.split(' ').filter(|word| word.starts_with('+')).collect();
    assert!(commands.len() > 10, "{line}");
    for missing in commands {
        let others: Vec<&str> = line.split(' ').filter(|word| *word != missing).collect();
        obey(&server, &others.join(" "));
        let report = examined(&url).await;
        assert_fault(&report, "permissions", &missing[1..], &format!("ACL SETUSER aforo {missing}"));
        let help = found(&report, "permissions").help.clone().unwrap();
        obey(&server, &help);
        assert!(examined(&url).await.is_healthy(), "{help}");
    }
}

#[tokio::test]
async fn a_user_who_may_not_touch_our_keys_is_told_which() {
    let server = RedisServer::start();
    obey(&server, "ACL SETUSER aforo reset on >PASSWORD ~other:* +@all");
    let report = examined(&url_of(&server, "aforo:secret")).await;
    assert_fault(&report, "permissions", "keys under ~aforo:*", "ACL SETUSER aforo ~aforo:*");
}

#[tokio::test]
async fn another_database_must_be_there_and_may_be_forbidden() {
    let server = RedisServer::start();
    let url = |database: u32| format!("{}/{database}", url_of(&server, "aforo:secret"));
    obey(&server, &doctor(&url(0)).examine(|_| {}).await.least_acl);
    assert_fault(&examined(&url(2)).await, "permissions", "NOPERM", "+select");
    obey(&server, &examined(&url(2)).await.least_acl);
    assert!(examined(&url(2)).await.is_healthy());
    assert_fault(&examined(&url(99)).await, "address", "has no database 99", "0 to 15");
}

#[tokio::test]
async fn a_server_that_lacks_a_command_cannot_run_the_script() {
    let server = RedisServer::with(&["--rename-command", "ZREMRANGEBYRANK", "CUT"]);
    let report = examined(&server.url()).await;
    assert_fault(&report, "script", "nknown", "Lua 5.1");
    assert!(found(&report, "script").message.starts_with("sliding-log: "), "{report:#?}");
}

#[tokio::test]
async fn three_keys_without_a_ttl_are_listed_and_repaired_and_nobody_elses() {
    let server = RedisServer::start();
    let now: u64 = server.command(&["TIME"]).list()[0].text().parse::<u64>().unwrap() * 1_000_000;
    let window = 10_000_000;
    server.command(&["SET", "aforo:{a}:bucket", &format!("t5 {now} 1")]);
    server.command(&["SET", "aforo:{b}:window", &format!("s1 2 {now} {window}")]);
    server.command(&["ZADD", "aforo:{c}.log:log", &now.to_string(), "1"]);
    server.command(&["SET", "aforo:{d}:lives", "f1 1", "PX", "60000"]);
    for foreign in ["other:{a}:bucket", "aforo2:{a}:bucket", "aforo:b:{a}:bucket", "aforo", "a"] {
        server.command(&["SET", foreign, "t5 1 1"]);
    }
    let report = examined(&server.url()).await;
    let keys = &report.keys;
    assert_eq!((keys.without_ttl.count, keys.repaired, keys.odd.count), (3, 0, 0), "{keys:#?}");
    let mut names = keys.without_ttl.names.clone();
    names.sort_unstable();
    assert_eq!(names, ["aforo:{a}:bucket", "aforo:{b}:window", "aforo:{c}.log:log"]);
    assert_eq!(found(&report, "keys").severity, Severity::Warning);
    assert!(report.is_healthy());

    let report = doctor(&server.url()).repairs(true).longest(DAY).examine(|_| {}).await;
    assert_eq!((report.keys.without_ttl.count, report.keys.repaired), (3, 3), "{report:#?}");
    assert_well(&report);
    let left = |name: &str| Duration::from_millis(server.command(&["PTTL", name]).integer().max(0).unsigned_abs());
    // A sliding window says itself when it is clear, the others within the longest time that a quota takes.
    assert!(left("aforo:{b}:window") <= Duration::from_secs(21), "{:?}", left("aforo:{b}:window"));
    for name in ["aforo:{a}:bucket", "aforo:{c}.log:log"] {
        assert!(
            left(name) > DAY - Duration::from_secs(60) && left(name) <= DAY + Duration::from_secs(2),
            "{:?}",
            left(name)
        );
    }
    assert!(left("aforo:{d}:lives") <= Duration::from_secs(60));
    for foreign in ["other:{a}:bucket", "aforo2:{a}:bucket", "aforo:b:{a}:bucket", "aforo", "a"] {
        assert_eq!(server.command(&["PTTL", foreign]).integer(), -1, "{foreign}");
    }
    assert_eq!(examined(&server.url()).await.keys.without_ttl.count, 0);
}

#[tokio::test]
async fn keys_that_are_none_of_ours_are_odd_and_left_alone() {
    let server = RedisServer::start();
    let now = format!("{}000000", server.command(&["TIME"]).list()[0].text());
    let foreign: &[&[&str]] = &[
        &["RPUSH", "aforo:{a}:list", "x"],
        &["SET", "aforo:{a}:text", "hello"],
        &["SET", "aforo:{a}:large", "f1 99999999999999999999"],
        &["ZADD", "aforo:{a}.log:names", &now, "ann"],
        &["ZADD", "aforo:{a}.log:ranks", "1", "1"],
        &["ZADD", "aforo:{a}.log:bucket", &now, "1"],
        &["ZADD", "aforo:{a}.log:mixed", &now, "1", &now, "ann"],
    ];
    for words in foreign {
        server.command(words);
    }
    // Another algorithm counts here, so these are no log's entries; and no TTL is missing.
    server.command(&["SET", "aforo:{a}:bucket", &format!("t1 {now} 1"), "PX", "60000"]);
    let report = doctor(&server.url()).repairs(true).examine(|_| {}).await;
    let mut odd = report.keys.odd.names.clone();
    odd.sort_unstable();
    let mut expected: Vec<&str> = foreign.iter().map(|words| words[1]).collect();
    expected.sort_unstable();
    assert_eq!(odd, expected);
    assert_eq!((report.keys.without_ttl.count, report.keys.repaired), (0, 0));
    for name in expected {
        assert_eq!(server.command(&["PTTL", name]).integer(), -1, "{name}");
    }
}

#[tokio::test]
async fn a_file_of_authorities_that_is_not_there_is_what_the_help_is_about() {
    let server = RedisServer::with_tls();
    let url = format!("{}?ca_file=/no/such.pem", server.url().split('?').next().unwrap());
    assert_fault(&examined(&url).await, "address", "ca_file /no/such.pem: cannot be read", "name a PEM file");
}

#[tokio::test]
async fn thousands_of_keys_are_looked_at_page_by_page() {
    let server = RedisServer::start();
    let fill = "for i = 1, 3000 do redis.call('SET', 'aforo:{' .. i .. '}:rule', 'f1 1', 'PX', i > 7 and 60000 or 1000000000) end
        for i = 1, 30 do redis.call('PERSIST', 'aforo:{' .. i .. '}:rule') end";
    server.command(&["EVAL", fill, "0"]);
    let mut steps = Vec::new();
    let report = doctor(&server.url()).examine(|count| steps.push(count)).await;
    assert_eq!(report.keys.count, Some(3000));
    assert_eq!((report.keys.without_ttl.count, report.keys.without_ttl.names.len()), (30, 20));
    assert!(steps.len() > 3 && steps.is_sorted(), "{steps:?}");
}

#[tokio::test]
async fn a_replica_is_no_place_for_counters() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(&primary);
    let port = primary.port();
    assert_fault(&examined(&replica.url()).await, "role", &format!("a replica of 127.0.0.1:{port}"), "name 127.0.0.1");
}

#[tokio::test]
async fn sentinels_are_asked_one_by_one() {
    let primary = RedisServer::start();
    let _replica = RedisServer::replica_of(&primary);
    let sentinels = Sentinels::start(&primary, 3);
    let report = examined(&sentinels.url()).await;
    assert_well(&report);
    assert!(found(&report, "sentinel").message.contains(&format!("127.0.0.1:{}", primary.port())), "{report:#?}");
    assert_eq!(found(&report, "replicas").message, "1 replica");
    // One that is gone is a warning, a service that nobody knows a fault.
    sentinels.nodes()[2].kill();
    let report = examined(&sentinels.url()).await;
    assert!(report.is_healthy(), "{report:#?}");
    assert_eq!(found(&report, "sentinel").severity, Severity::Warning);
    let elsewhere = sentinels.url().replace("/counters", "/elsewhere");
    assert_fault(&examined(&elsewhere).await, "sentinel", "no service named", "sentinel monitor");
    let sentinel = sentinels.nodes()[0].url();
    assert_fault(&examined(&sentinel).await, "role", "is a Sentinel", "redis-sentinel://");
}

#[tokio::test]
async fn a_cluster_is_examined_node_by_node() {
    let cluster = RedisCluster::start(3);
    for node in cluster.nodes() {
        obey(node, &examined(&cluster.url()).await.least_acl);
    }
    let report = examined(&cluster.url()).await;
    assert_well(&report);
    assert_eq!(report.servers.len(), 3);
    assert!(found(&report, "cluster").message.contains("16384 slots"), "{report:#?}");
    assert_eq!(report.findings.iter().filter(|finding| finding.name == "script").count(), 3);
    // And as the user of the line.
    let as_user = cluster.url().replace("redis-cluster://", "redis-cluster://aforo:secret@");
    let report = examined(&as_user).await;
    assert!(report.is_healthy(), "{report:#?}");
    assert_eq!(found(&report, "script").severity, Severity::Ok);
    let node = cluster.nodes()[0].url();
    assert_fault(&examined(&node).await, "role", "a node of a Cluster", "write redis-cluster://");
}

#[tokio::test]
async fn immortal_keys_are_found_on_every_node_of_a_cluster() {
    let cluster = RedisCluster::start(3);
    for slot in ["a", "b", "c", "d", "e", "f"] {
        let key = format!("aforo:{{{slot}}}:rule");
        let number: u16 = cluster.nodes()[0].command(&["CLUSTER", "KEYSLOT", &key]).integer().try_into().unwrap();
        cluster.nodes()[cluster.owner(number)].command(&["SET", &key, "f1 1"]);
    }
    let report = doctor(&cluster.url()).repairs(true).examine(|_| {}).await;
    assert_eq!((report.keys.without_ttl.count, report.keys.repaired), (6, 6), "{report:#?}");
    assert_eq!(examined(&cluster.url()).await.keys.without_ttl.count, 0);
}

#[tokio::test]
async fn slots_without_an_owner_are_a_fault() {
    let cluster = RedisCluster::start(3);
    cluster.nodes()[0].command(&["CLUSTER", "DELSLOTS", "0", "1", "2"]);
    let report = examined(&cluster.nodes()[0].url().replace("redis://", "redis-cluster://")).await;
    assert_fault(&report, "cluster", "3 of 16384 slots have no owner", "redis-cli --cluster fix");
}

#[tokio::test]
async fn a_server_alone_is_no_cluster() {
    let server = RedisServer::start();
    let url = server.url().replace("redis://", "redis-cluster://");
    assert_fault(&examined(&url).await, "cluster", "no node of a Cluster", &format!("write {}", server.url()));
}

#[tokio::test]
async fn memory_that_is_full_is_a_fault_and_eviction_a_warning() {
    let server = RedisServer::with(&["--maxmemory", "1gb"]);
    let memory = |report: &Report| (found(report, "memory").severity, found(report, "memory").message.clone());
    let (severity, message) = memory(&examined(&server.url()).await);
    assert_eq!(severity, Severity::Ok, "{message}");
    assert!(message.contains("of 1.0 GB used, noeviction") && message.contains("takes fail"), "{message}");
    server.set("maxmemory-policy", "allkeys-lru");
    let (severity, message) = memory(&examined(&server.url()).await);
    assert_eq!(severity, Severity::Warning, "{message}");
    assert!(message.contains("fresh quota"), "{message}");
    server.set("maxmemory-policy", "noeviction");
    server.set("maxmemory", "100kb");
    let report = examined(&server.url()).await;
    assert_fault(&report, "memory", "it is full, and takes fail", "CONFIG SET maxmemory");
    assert_fault(&report, "script", "OOM", "memory is full");
}

#[tokio::test]
async fn over_tls_with_the_wrong_scheme_either_way() {
    let server = RedisServer::with_tls();
    assert_well(&examined(&server.url()).await);
    let plain = server.url().split('?').next().unwrap().replace("rediss://", "redis://");
    assert_fault(&examined(&plain).await, "address", "", "rediss://");
    let secure = format!("rediss://127.0.0.1:{}", server.port());
    assert_fault(&examined(&secure).await, "address", "", "redis://");
}
