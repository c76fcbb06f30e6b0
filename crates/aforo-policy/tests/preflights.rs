//! CORS preflights, HEAD, and paths that match no route.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod request;

use aforo_core::{Cost, ManualClock};
use aforo_policy::{Alone, File, Limiter, Policy, Rule};
use aforo_testkit::{PlainStore, block_on};
use request::Request;

fn policy(text: &str) -> Policy {
    File::read("policy.yaml", text, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy
}

fn limiter(text: &str) -> Limiter<PlainStore<ManualClock>> {
    Limiter::new(policy(text), PlainStore::new(ManualClock::default()))
}

const POLICY: &str = "
rules: { each: { quota: 40/min } }
routes:
  - { match: '* /orders/{id}', cost: 7, rules: { orders: { quota: 5/s } } }
  - { match: OPTIONS /ask, rules: { asking: { quota: 5/s } } }
exempt: [{ path: /health }]
";

fn names(policy: &Policy, request: &Request) -> Vec<String> {
    policy.meet(request).rules().map(|rule: &Rule| rule.name().to_owned()).collect()
}

#[test]
fn a_preflight_meets_one_rule_and_no_other() {
    let policy = policy(POLICY);
    for path in ["/", "/orders/7", "/ask", "/no/such/path"] {
        assert_eq!(names(&policy, &Request::preflight(path)), ["preflight"], "{path}");
    }
    let bare = |path: &str| Request::new("OPTIONS", path);
    assert_eq!(names(&policy, &bare("/orders/7")), ["each", "orders"]);
    assert_eq!(names(&policy, &bare("/ask").with_header("origin", "https://app.example")), ["each", "asking"]);
    assert_eq!(names(&policy, &bare("/").with_header("access-control-request-method", "GET")), ["each"]);
    let get = Request { method: "GET".into(), ..Request::preflight("/orders/7") };
    assert_eq!(names(&policy, &get), ["each", "orders"], "another method asks for nothing in advance");
}

#[test]
fn preflights_take_nothing_from_other_rules_and_cost_one() {
    let limiter = limiter(POLICY);
    for _ in 0..40 {
        let preflight = block_on(limiter.take(&Request::preflight("/orders/7")));
        assert!(preflight.allowed() && preflight.route().is_none());
        assert!(block_on(limiter.take(&Request::new("GET", "/"))).allowed());
    }
    let left = block_on(limiter.peek(&Request::preflight("/"))).rules().next().unwrap().1.remaining;
    assert_eq!(left, 600 - 40, "and nothing of what the route costs");
    assert!(!block_on(limiter.take(&Request::new("GET", "/"))).allowed());
}

#[test]
fn preflights_are_limited_by_address_unless_the_policy_says_otherwise() {
    let limiter = limiter("preflight: { quota: 2/min }\nrules: { preflight: { quota: 1/min } }");
    let take = |request: Request| block_on(limiter.take(&request)).allowed();
    let by = |user: &str| Request::preflight("/").by(user, None);
    assert!(take(by("alice")) && take(by("bob")) && !take(by("carol")), "users behind one address are one");
    assert!(take(Request::preflight("/").from("192.0.2.1")));
    assert!(take(Request::new("GET", "/")), "a rule that has the name counts apart");
    let everyone = policy("preflight: { per: everyone, mode: shadow }");
    let rule = everyone.preflight();
    assert_eq!((rule.partition.to_string(), rule.quota().unwrap().limit()), ("everyone".to_owned(), 600));
}

#[test]
fn an_exempt_path_is_exempt_for_preflights_too() {
    let answer = block_on(limiter(POLICY).take(&Request::preflight("/health")));
    assert_eq!(answer.exempt().map(|exemption| exemption.name.as_str()), Some("/health"));
    assert_eq!(answer.rules().count(), 0);
}

#[test]
fn a_preflight_that_says_its_cost_is_charged_for_it() {
    let limiter = limiter(POLICY);
    let dear = Request { cost: Some(Cost::new(100)), ..Request::preflight("/") };
    assert_eq!(block_on(limiter.take(&dear)).rules().next().unwrap().1.remaining, 500);
}

#[test]
fn a_preflight_with_two_readings_meets_its_rule_once() {
    let preflight = Request { other_path: Some("/orders%2F7".into()), ..Request::preflight("/orders/7") };
    assert_eq!(names(&policy(POLICY), &preflight), ["preflight"]);
}

#[test]
fn head_meets_the_rules_of_get() {
    let policy = policy("routes: [{ match: GET /a, rules: { a: { quota: 1/min } } }]");
    assert_eq!(names(&policy, &Request::new("HEAD", "/a")), ["a"]);
    let limiter = Limiter::new(policy, PlainStore::new(ManualClock::default()));
    assert!(block_on(limiter.take(&Request::new("HEAD", "/a"))).allowed());
    assert!(!block_on(limiter.take(&Request::new("GET", "/a"))).allowed(), "in one counter");
}

#[test]
fn paths_that_match_no_route_share_what_the_rules_above_allow() {
    let limiter = limiter("rules: { each: { quota: 5/min, per: [client, path, route] } }");
    let allowed = (0..100).filter(|at| block_on(limiter.take(&Request::new("GET", &format!("/{at}")))).allowed());
    assert_eq!(allowed.count(), 5);
}

#[test]
fn a_policy_written_in_code_has_a_rule_for_preflights() {
    assert_eq!(names(&Policy::new([]).unwrap(), &Request::preflight("/")), ["preflight"]);
    assert_eq!(names(&Policy::new([]).unwrap(), &Request::new("GET", "/")), [""; 0]);
}
