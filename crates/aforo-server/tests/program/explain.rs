//! `explain`: what a request would meet.

use serde_json::{Value, json};

use crate::stand::{Folder, run, text};

const POLICY: &str = r#"rules:
  short: { quota: 5/s, per: client }
  keyed: { quota: 100/min, per: [ip, "header:x-api-key"], algorithm: sliding-window }
routes:
  - match: GET /api/search/{what}
    cost: 4
    rules: { search: { quota: 5/s, burst: 20, cost: 1, mode: shadow } }
  - match: POST /auth/exchange
    skip: all
exempt: [ { path: /health } ]
"#;

/// Behind a proxy on this machine and others in a private network.
const PROXIED: &str = r#"client: { trusted_proxies: [127.0.0.1/32, 10.0.0.0/8], header: forwarded }
rules:
  short: { quota: 5/s, per: client }
"#;

fn explain(arguments: &[&str]) -> Value {
    explain_under(POLICY, arguments)
}

fn explain_under(policy: &str, arguments: &[&str]) -> Value {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", policy);
    let mut all = vec!["explain", "--json", "--config", file.to_str().unwrap()];
    all.extend(arguments);
    let explained = run(&all);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
    serde_json::from_slice(&explained.stdout).unwrap()
}

#[test]
fn every_rule_is_told_with_its_key_and_cost() {
    let explained = explain(&[
        "GET",
        "https://api.example//api/%73earch/./dishes?q=1",
        "-H",
        "X-Api-Key: k,1",
        "--peer",
        "2001:db8::7",
    ]);
    assert_eq!(explained["client_ip"], "2001:db8::7");
    assert_eq!(explained["client_ip_from"], "peer");
    assert_eq!(explained["identity"], Value::Null);
    assert_eq!(explained["path"], "/api/search/dishes");
    assert_eq!(explained["route"], "GET /api/search/{what}");
    assert_eq!(explained["exempt"], Value::Null);
    let rules = explained["rules"].as_array().unwrap();
    let told: Vec<[&Value; 5]> =
        rules.iter().map(|rule| ["rule", "quota", "algorithm", "cost", "mode"].map(|name| &rule[name])).collect();
    assert_eq!(
        json!(told),
        json!([
            ["short", "5/s", "token-bucket", 4, "enforce"],
            ["keyed", "100/min", "sliding-window", 4, "enforce"],
            ["search", "5/s, burst 20", "token-bucket", 1, "shadow"],
        ])
    );
    let key = rules[1]["key"].as_str().unwrap();
    assert!(key.contains("2001:db8::"), "an IPv6 client is its network: {key}");
    assert!(!key.contains("::7"), "{key}");
}

#[test]
fn an_exemption_and_a_route_without_rules_are_told() {
    assert_eq!(explain(&["GET", "/health/"])["exempt"], "/health");
    let skipped = explain(&["POST", "/auth/exchange"]);
    assert_eq!((&skipped["route"], &skipped["rules"]), (&json!("POST /auth/exchange"), &json!([])));
    assert_eq!(skipped["exempt"], "it meets no rule");
}

#[test]
fn people_get_words() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", POLICY);
    let explained = run(&["explain", "GET", "/api/search/a", "--config", file.to_str().unwrap()]);
    let said = text(&explained.stdout);
    for part in ["client    127.0.0.1", "path      /api/search/a", "route     GET /api/search/{what}", "cost 4", "key "]
    {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
}

#[test]
fn the_way_from_the_peer_to_the_client_is_told() {
    let lines = ["GET", "/", "-H", "Forwarded: for=192.0.2.1, for=203.0.113.7", "-H", "Forwarded: for=10.0.0.2"];
    let explained = explain_under(PROXIED, &lines);
    assert_eq!((&explained["client_ip"], &explained["client_ip_from"]), (&json!("203.0.113.7"), &json!("forwarded")));
    assert_eq!(
        explained["client_ip_steps"],
        json!(["peer 127.0.0.1 is trusted", "for=10.0.0.2 is trusted", "for=203.0.113.7 is not trusted"])
    );
    assert!(explained["rules"][0]["key"].as_str().unwrap().contains("203.0.113.7"), "{explained}");
}

#[test]
fn people_are_told_the_way_to_the_client() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", &PROXIED.replace("forwarded", "x-real-ip"));
    let explained = run(&["explain", "GET", "/", "-H", "X-Real-IP: 203.0.113.7", "--config", file.to_str().unwrap()]);
    let way = "client    203.0.113.7, from x-real-ip\n          peer 127.0.0.1 is trusted\n          203.0.113.7 is not trusted\n";
    assert!(text(&explained.stdout).contains(way), "{}", text(&explained.stdout));
}

#[test]
fn rules_that_do_not_count_the_request_are_told_with_the_reason() {
    let policy = "client: { trusted_proxies: [loopback] }
identity: [ { header: { name: x-user-id } } ]
rules:
  each: { quota: 5/s }
  free: { quota: unlimited }
  users: { quota: 9/s, per: user, when_missing: skip }
";
    let explained = explain_under(policy, &["GET", "/"]);
    assert_eq!(explained["rules"].as_array().unwrap().len(), 1, "{explained:#}");
    assert_eq!(
        explained["uncounted"],
        json!([
            { "rule": "free", "why": "unlimited" },
            { "rule": "users", "why": "skipped, for the request lacks what it counts by" },
        ])
    );
    let folder = Folder::new();
    let file = folder.write("policy.yaml", policy);
    let said = text(&run(&["explain", "GET", "/", "--config", file.to_str().unwrap()]).stdout);
    assert!(
        said.ends_with(
            "rule      free: unlimited\nrule      users: skipped, for the request lacks what it counts by\n"
        ),
        "{said}"
    );
}

#[test]
fn a_fact_that_a_rule_insists_on_is_named_and_the_request_refused() {
    let folder = Folder::new();
    let file =
        folder.write("policy.yaml", "rules: { each: { quota: 5/s, per: \"header:x-shop\", when_missing: deny } }\n");
    let said = text(&run(&["explain", "GET", "/", "--config", file.to_str().unwrap()]).stdout);
    let refused = "refused   403: the request lacks the fact `header:x-shop`, and a rule insists on it\n";
    assert!(said.ends_with(refused), "{said}");
}

#[test]
fn a_header_from_a_peer_that_is_not_trusted_is_told_to_have_no_effect() {
    let explained = explain(&["GET", "/", "-H", "X-Forwarded-For: 203.0.113.7", "--peer", "198.51.100.1"]);
    assert_eq!(explained["client_ip"], "198.51.100.1");
    assert_eq!(explained["client_ip_steps"], json!(["peer 198.51.100.1 is not trusted"]));
}

#[test]
fn what_cannot_be_read_is_a_fault_of_the_call() {
    for arguments in [
        ["explain", "G T", "/", "--peer=1.2.3.4"],
        ["explain", "GET", "no-path", "--peer=1.2.3.4"],
        ["explain", "GET", "/", "-H=nonsense"],
        ["explain", "GET", "/", "--peer=1.2.3"],
        ["explain", "GET", "/", "--live"],
    ] {
        let explained = run(&arguments);
        assert_eq!(explained.status.code(), Some(2), "{arguments:?}: {}", text(&explained.stderr));
        assert!(!explained.stderr.is_empty());
    }
}
