//! Scripts of other origins: what they can read, and the preflights that browsers send for them.

use aforo_core::Quota;
use aforo_policy::{Cors, Fact, Parts, WhenMissing};
use http::{HeaderMap, HeaderValue, Request, StatusCode};

use crate::stand::{Seen, Stand, request, rule};

const APP: &str = "https://app.example";

fn parts(limit: u32) -> Parts {
    let cors = Cors { origins: vec![APP.to_owned()], credentials: true };
    Parts { rules: vec![rule("each", Quota::per_minute(limit))], cors: Some(cors), ..Parts::default() }
}

fn from(origin: &'static str, mut request: Request<()>) -> Request<()> {
    request.headers_mut().insert("origin", HeaderValue::from_static(origin));
    request
}

fn preflight() -> Request<()> {
    let mut request = from(APP, request("OPTIONS", "/orders"));
    request.headers_mut().insert("access-control-request-method", HeaderValue::from_static("GET"));
    request
}

/// Whether a browser shows all of it to a script of that origin which sends credentials.
fn is_readable(seen: &Seen, names: &[&str]) -> bool {
    let exposed = seen.field("access-control-expose-headers").unwrap_or_default();
    seen.field("access-control-allow-origin") == Some(APP)
        && seen.field("access-control-allow-credentials") == Some("true")
        && names.iter().all(|name| seen.field(name).is_some() && exposed.split(", ").any(|listed| listed == *name))
}

const SHOWN: &[&str] =
    &["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

#[test]
fn a_script_can_read_where_it_stands() {
    let mut behind = HeaderMap::new();
    for (name, value) in [
        ("access-control-allow-origin", APP),
        ("access-control-allow-credentials", "true"),
        ("access-control-expose-headers", "ETag"),
        ("vary", "origin"),
    ] {
        behind.insert(name, HeaderValue::from_static(value));
    }
    let mut stand = Stand::before(parts(5), behind);
    let seen = stand.send(from(APP, request("GET", "/orders")));
    assert_eq!(seen.status, StatusCode::OK);
    assert!(is_readable(&seen, SHOWN), "{seen:?}");
    assert!(seen.field("access-control-expose-headers").unwrap().starts_with("ETag, "), "{seen:?}");
    assert_eq!(seen.field("vary"), Some("origin"));
}

#[test]
fn who_may_read_a_response_is_for_the_service_to_say() {
    let mut stand = Stand::of(parts(5));
    let seen = stand.send(from(APP, request("GET", "/orders")));
    assert_eq!(seen.field("access-control-allow-origin"), None);
    assert!(seen.field("access-control-expose-headers").is_some());
}

#[test]
fn a_script_can_read_a_refusal() {
    let mut stand = Stand::of(parts(1));
    stand.send(from(APP, request("GET", "/orders")));
    let seen = stand.send(from(APP, request("GET", "/orders")));
    assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(is_readable(&seen, &[SHOWN, &["retry-after"]].concat()), "{seen:?}");
    assert_eq!(seen.field("vary"), Some("origin"));
}

#[test]
fn a_script_can_read_why_it_is_not_served() {
    let mut lacking = rule("key", Quota::per_minute(5));
    lacking.partition = Fact::Header("x-api-key".into()).into();
    lacking.when_missing = WhenMissing::Deny;
    let mut stand = Stand::of(Parts { rules: vec![lacking], ..parts(5) });
    let seen = stand.send(from(APP, request("GET", "/orders")));
    assert_eq!(seen.status, StatusCode::FORBIDDEN);
    assert!(is_readable(&seen, &[]), "{seen:?}");
}

#[test]
fn scripts_of_other_origins_are_told_nothing() {
    let mut stand = Stand::of(parts(1));
    let strangers = || from("https://evil.example", request("GET", "/orders"));
    for seen in [stand.send(strangers()), stand.send(strangers()), stand.get("/orders")] {
        assert!(seen.fields.keys().all(|name| !name.as_str().starts_with("access-control-")), "{seen:?}");
        assert_eq!(seen.field("vary"), None);
    }
}

#[test]
fn nothing_is_said_where_the_policy_names_no_origins() {
    let mut stand = Stand::of(Parts { cors: None, ..parts(1) });
    for seen in [0, 1].map(|_| stand.send(from(APP, request("GET", "/orders")))) {
        assert!(seen.fields.keys().all(|name| !name.as_str().starts_with("access-control-")), "{seen:?}");
    }
}

#[test]
fn preflights_take_nothing_from_the_requests_that_they_announce() {
    let mut stand = Stand::of(parts(40));
    for _ in 0..40 {
        assert_eq!(stand.send(preflight()).status, StatusCode::OK);
        assert_eq!(stand.send(from(APP, request("GET", "/orders"))).status, StatusCode::OK);
    }
    assert_eq!(stand.send(preflight()).status, StatusCode::OK);
    assert_eq!(stand.send(from(APP, request("GET", "/orders"))).status, StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn options_that_are_no_preflight_meet_the_rules() {
    let mut stand = Stand::of(parts(1));
    assert_eq!(stand.send(from(APP, request("OPTIONS", "/orders"))).status, StatusCode::OK);
    assert_eq!(stand.send(from(APP, request("OPTIONS", "/orders"))).status, StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn a_refused_preflight_is_a_429_of_the_rule_for_preflights() {
    let mut stand = Stand::of(Parts { preflight: rule("few", Quota::per_minute(2)), ..parts(1) });
    for _ in 0..2 {
        assert_eq!(stand.send(preflight()).status, StatusCode::OK);
    }
    let seen = stand.send(preflight());
    assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(seen.json()["violated-policies"], serde_json::json!(["few"]));
    assert!(is_readable(&seen, &["retry-after"]), "{seen:?}");
    assert_eq!(stand.calls(), 2, "the service has not seen it");
}
