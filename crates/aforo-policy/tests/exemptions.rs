//! What is under no rule: every condition of an exemption, and nothing less.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod request;

use aforo_core::ManualClock;
use aforo_policy::{Alone, Exemption, File, Limiter, Outcome, Parts, Pass, Policy};
use aforo_testkit::{PlainStore, block_on};
use request::Request;

const POLICY: &str = r#"
rules: { each: { quota: 0/s } }
routes: [{ match: "POST /webhooks/{*rest}", rules: { hooks: { quota: 0/s } } }]
exempt:
  - path: /health
  - token: { header: X-Bypass-Token, values: [hunter2, "correct horse"] }
  - cidr: [192.0.2.0/24, "2001:db8::/32"]
    path: /webhooks/provider
  - name: office
    cidr: 198.51.100.7
  - name: batch
    cidr: 203.0.113.0/24
    token: { header: x-batch, values: [staple] }
    path: "/batch/{*rest}"
"#;

fn policy() -> Policy {
    File::read("policy.yaml", POLICY, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy
}

fn exempt(request: &Request) -> Option<String> {
    policy().meet(request).exempt().map(|exemption| exemption.name.clone())
}

fn get(path: &str) -> Request {
    Request::new("GET", path)
}

#[test]
fn all_conditions_of_an_exemption_must_hold() {
    let batch = |path: &str| get(path).with_header("x-batch", "staple");
    for (why, request, name) in [
        ("a path alone", get("/health"), Some("/health")),
        ("another path", get("/health/x"), None),
        ("a token", get("/a").with_header("x-bypass-token", "hunter2"), Some("token")),
        ("another of its tokens", get("/a").with_header("x-bypass-token", "correct horse"), Some("token")),
        (
            "spaces around a value belong to the line",
            get("/a").with_header("x-bypass-token", " hunter2 "),
            Some("token"),
        ),
        ("a token that is cut off", get("/a").with_header("x-bypass-token", "hunter"), None),
        ("a token in other letters", get("/a").with_header("x-bypass-token", "Hunter2"), None),
        ("no token", get("/a").with_header("x-bypass-token", ""), None),
        ("a token in another header", get("/a").with_header("x-batch", "hunter2"), None),
        (
            "two lines, of which nobody knows which one counts",
            get("/a").with_header("x-bypass-token", "hunter2").with_header("x-bypass-token", "x"),
            None,
        ),
        ("a network and its path", get("/webhooks/provider").from("192.0.2.9"), Some("/webhooks/provider")),
        ("the same in IPv6", get("/webhooks/provider").from("2001:db8:9::1"), Some("/webhooks/provider")),
        ("IPv4 within IPv6", get("/webhooks/provider").from("::ffff:192.0.2.9"), Some("/webhooks/provider")),
        ("the path from elsewhere", get("/webhooks/provider").from("192.0.3.1"), None),
        ("the network on another path", get("/webhooks/other").from("192.0.2.9"), None),
        ("no address", get("/webhooks/provider").from(""), None),
        ("an address alone", get("/anything").from("198.51.100.7"), Some("office")),
        ("its neighbour", get("/anything").from("198.51.100.8"), None),
        ("all three", batch("/batch/a/b"), Some("batch")),
        ("all but the path", batch("/other"), None),
        ("all but the address", batch("/batch/a").from("192.0.2.9"), None),
        ("all but the token", get("/batch/a"), None),
    ] {
        assert_eq!(exempt(&request).as_deref(), name, "{why}");
    }
}

#[test]
fn an_exempt_request_is_allowed_and_counted_as_exempt() {
    let limiter = Limiter::new(policy(), PlainStore::new(ManualClock::default()));
    let answer = block_on(limiter.take(&get("/a").from("198.51.100.7")));
    assert_eq!((answer.outcome(), answer.exempt().unwrap().name.as_str()), (Outcome::Exempt, "office"));
    assert_eq!(block_on(limiter.take(&get("/a"))).outcome(), Outcome::Denied);
}

#[test]
fn a_path_that_can_be_read_in_two_ways_is_exempt_in_both_or_not() {
    let other = |path: &str, other: &str| Request { other_path: Some(other.into()), ..get(path).from("192.0.2.9") };
    assert_eq!(exempt(&other("/webhooks/provider", "/webhooks%2Fprovider")), None);
    assert_eq!(exempt(&other("/webhooks/provider", "/webhooks/provider")).as_deref(), Some("/webhooks/provider"));
    let anywhere = other("/a/b", "/a%2Fb").from("198.51.100.7");
    assert_eq!(exempt(&anywhere).as_deref(), Some("office"), "where no path matters, no reading of it does");
}

#[test]
fn an_empty_token_opens_nothing() {
    let exemption = Exemption::with_pass(Pass::new("X-Pass", ["", " "]));
    let parts = Parts { exemptions: vec![exemption], ..Parts::default() };
    let policy = Policy::of(parts).unwrap();
    for value in ["", " "] {
        assert!(policy.meet(&get("/").with_header("x-pass", value)).exempt().is_none());
    }
}

#[test]
fn a_token_is_never_written_out() {
    let written = format!("{:?}", policy());
    assert!(written.contains("x-bypass-token"), "{written}");
    assert!(!written.contains("hunter2") && !written.contains("staple"), "{written}");
}

#[test]
fn exemptions_of_one_path_for_different_senders_live_together() {
    let text = "exempt:\n  - { path: /a, cidr: 192.0.2.1, name: one }\n  - { path: /a, cidr: 192.0.2.2, name: two }\n  - { path: /b }\n  - { path: /b }\n";
    let mistakes = File::read("policy.yaml", text, &Alone).unwrap_err();
    assert_eq!(mistakes.iter().count(), 1, "{mistakes}");
    let policy = File::read("policy.yaml", &text.replace("  - { path: /b }\n", ""), &Alone).unwrap().policy;
    let name = |address: &str| policy.meet(&get("/a").from(address)).exempt().map(|exemption| exemption.name.clone());
    assert_eq!([name("192.0.2.1").as_deref(), name("192.0.2.2").as_deref()], [Some("one"), Some("two")]);
}
