//! `doctor`: what it prints and how it ends, at real servers.

use aforo_testkit::servers::RedisServer;
use serde_json::{Value, json};

use crate::stand::{Folder, run, text};

fn as_json(arguments: &[&str]) -> (Option<i32>, Value) {
    let done = run(&[&["doctor", "--json"], arguments].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", text(&done.stderr)));
    (done.status.code(), answer)
}

#[test]
fn a_store_that_is_well_is_said_to_be_line_by_line() {
    let server = RedisServer::start();
    let done = run(&["doctor", "--store", &server.url()]);
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(!said.contains('\x1b'), "colours are for terminals: {said:?}");
    for part in ["✓ ok       script ", "✓ ok       permissions ", "ACL SETUSER aforo reset on >PASSWORD", "\nhealthy"]
    {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn a_report_as_json() {
    let server = RedisServer::start();
    let (code, report) = as_json(&["--store", &server.url()]);
    assert_eq!((code, &report["ok"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!(report["store"], server.url());
    let place = &report["server"][0];
    assert_eq!(place["address"], format!("127.0.0.1:{}", server.port()));
    assert!(place["version"].is_string() && place["clock_ahead_us"].is_i64(), "{report:#}");
    for call in ["round_trip", "decision"] {
        assert!(place[call]["median_us"].as_u64() <= place[call]["p99_us"].as_u64(), "{report:#}");
        assert!(place[call]["longest_us"].as_u64() > Some(0), "{report:#}");
    }
    let findings = report["findings"].as_array().unwrap();
    let script = findings.iter().find(|finding| finding["name"] == "script").unwrap();
    assert_eq!((&script["severity"], &script["help"]), (&json!("ok"), &Value::Null));
    assert_eq!(report["keys"]["without_ttl"], json!({ "count": 0, "names": [] }));
    assert!(report["keys"]["count"].is_u64() && report["keys"]["repaired"] == 0, "{report:#}");
}

#[test]
fn a_store_that_nobody_answers_at_is_a_fault() {
    let server = RedisServer::start();
    server.kill();
    let done = run(&["doctor", "--store", &server.url()]);
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("✗ fault    address") && said.contains("→ is the server running"), "{said}");
    assert!(said.contains("not healthy: 1 fault, no warning"), "{said}");
    let (code, report) = as_json(&["--store", &server.url()]);
    assert_eq!((code, &report["ok"], &report["findings"][0]["severity"]), (Some(1), &json!(false), &json!("fault")));
}

#[test]
fn an_address_that_is_none_is_told_without_its_password() {
    for url in ["redis://u:hunter2@", "radis://u:hunter2@a", "redis://u:hunter2@a,b"] {
        let (code, report) = as_json(&["--store", url]);
        assert_eq!((code, &report["findings"][0]["name"]), (Some(1), &json!("address")), "{report:#}");
        let done = run(&["doctor", "--store", url]);
        assert!(!format!("{done:?}{report}").contains("hunter2"), "{done:?}");
    }
}

#[test]
fn what_is_wrong_with_the_name_of_a_store_is_what_the_help_is_about() {
    for (store, prefix, name, help) in [
        ("redis://localhost", "{a}", "prefix", "`aforo`"),
        ("redis-cluster://localhost/3", "a", "address", "a cluster has database 0 alone"),
        ("redis-sentinel://localhost", "a", "address", "redis-sentinel://host/SERVICE"),
        ("redis://::1:6379", "a", "address", "[::1]:6379"),
        ("rediss://localhost?ca_file=/no/such.pem", "a", "address", "name a PEM file"),
    ] {
        let (code, report) = as_json(&["--store", store, "--prefix", prefix]);
        let finding = &report["findings"][0];
        assert_eq!((code, &finding["name"]), (Some(1), &json!(name)), "{report:#}");
        assert!(finding["help"].as_str().unwrap().contains(help), "{report:#}");
    }
}

#[test]
fn the_store_of_a_policy_is_examined_with_its_prefix_and_its_longest_window() {
    let server = RedisServer::start();
    let now = server.command(&["TIME"]).list()[0].integer();
    server.command(&["SET", "shop:{a}:long", &format!("t5 {now}000000 1")]);
    server.command(&["SET", "aforo:{a}:long", &format!("t5 {now}000000 1")]);
    let folder = Folder::new();
    let policy = format!(
        "store: {{ url: {}, prefix: shop }}\nrules: {{ long: {{ quota: 100/h, algorithm: fixed-window }} }}\n",
        server.url()
    );
    let file = folder.write("policy.yaml", &policy);
    let arguments = ["--config", file.to_str().unwrap()];
    let (code, report) = as_json(&arguments);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["keys"]["without_ttl"], json!({ "count": 1, "names": ["shop:{a}:long"] }));
    let (code, report) = as_json(&[&arguments[..], &["--repair"]].concat());
    assert_eq!((code, &report["keys"]["repaired"]), (Some(0), &json!(1)), "{report:#}");
    let left = server.command(&["PTTL", "shop:{a}:long"]).integer();
    assert!((3_500_000..=3_602_000).contains(&left), "{left}");
    assert_eq!(server.command(&["PTTL", "aforo:{a}:long"]).integer(), -1);
    // What is typed goes before the file.
    let (_, report) = as_json(&[&arguments[..], &["--prefix", "aforo"]].concat());
    assert_eq!(report["keys"]["without_ttl"]["names"], json!(["aforo:{a}:long"]));
}

#[test]
fn a_store_in_memory_has_nothing_to_be_examined() {
    let done = run(&["doctor", "--store", "memory"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(text(&done.stdout).contains("nothing to examine"));
    assert_eq!(as_json(&["--store", "memory"]).1["ok"], true);
}

#[test]
fn without_a_store_it_says_how_to_name_one() {
    let folder = Folder::new();
    let done = crate::stand::aforo().arg("doctor").current_dir(folder.path("")).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("--store redis://HOST"), "{done:?}");
}
