//! Refusals: status, fields, body, and who else is charged.

use std::time::Duration;

use aforo_core::{Cost, Quota};
use aforo_policy::{Denied, Fact, Parts, WhenMissing};
use http::StatusCode;
use serde_json::json;

use crate::stand::{Stand, request, rule};

#[test]
fn the_sixth_of_five_is_refused_and_let_in_after_exactly_the_wait() {
    let mut stand = Stand::of_rules([rule("login", Quota::per_minute(5).sliding_log())]);
    for _ in 0..5 {
        assert_eq!(stand.get("/").status, StatusCode::OK);
        stand.advance(200);
    }
    let seen = stand.get("/");
    assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(seen.field("retry-after"), Some("59"));
    assert_eq!(seen.field("ratelimit"), Some(r#""login";r=0;t=59"#));
    assert_eq!(seen.field("cache-control"), Some("no-store"));
    assert_eq!(seen.field("content-type"), Some("application/problem+json"));
    assert_eq!(stand.calls(), 5, "the service has not seen it");
    stand.clock.advance(Duration::from_micros(58_999_999));
    assert_eq!(stand.get("/").status, StatusCode::TOO_MANY_REQUESTS, "a microsecond early");
    stand.clock.advance(Duration::from_micros(1));
    assert_eq!(stand.get("/").status, StatusCode::OK);
}

#[test]
fn a_problem_says_which_rule_and_how_long() {
    let mut stand = Stand::of_rules([rule("medium", Quota::per_minute(5).sliding_log())]);
    for _ in 0..5 {
        stand.get("/");
    }
    stand.advance(18_000);
    let expected = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Quota Exceeded",
        "status": 429,
        "detail": "Rate limit exceeded: rule 'medium' allows 5 requests per minute. Retry after 42 seconds.",
        "violated-policies": ["medium"],
        "code": "RATE_LIMITED",
        "retry_after": 42,
    });
    assert_eq!(stand.get("/").json(), expected);
}

#[test]
fn a_detail_names_a_burst_that_differs() {
    let mut stand = Stand::of_rules([rule("search", Quota::per_second(1).burst(2))]);
    let seen = [stand.get("/"), stand.get("/"), stand.get("/")];
    let detail = seen[2].json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(
        detail,
        "Rate limit exceeded: rule 'search' allows 1 request per second, at most 2 at once. Retry after 1 second."
    );
}

#[test]
fn the_refusing_rule_with_the_longest_wait_speaks_for_all() {
    let rules = [
        rule("short", Quota::per_second(1)),
        rule("hour", Quota::per_hour(1)),
        rule("roomy", Quota::per_minute(100)),
        rule("minute", Quota::per_minute(1)),
    ];
    let mut stand = Stand::of_rules(rules);
    stand.get("/");
    let seen = stand.get("/");
    assert_eq!(seen.field("retry-after"), Some("3600"));
    assert_eq!(seen.field("x-ratelimit-limit"), Some("1"));
    assert_eq!(seen.field("x-ratelimit-reset"), Some("1780003600"));
    assert_eq!(seen.json()["violated-policies"], json!(["short", "hour", "minute"]));
    assert_eq!(
        seen.field("ratelimit"),
        Some(r#""short";r=0;t=1, "hour";r=0;t=3600, "roomy";r=99;t=1, "minute";r=0;t=60"#)
    );
}

#[test]
fn a_refusal_by_one_charges_none_of_the_others() {
    let mut stand = Stand::of_rules([
        rule("short", Quota::per_second(5)),
        rule("medium", Quota::per_minute(300)),
        rule("long", Quota::per_hour(5)),
    ]);
    for _ in 0..5 {
        stand.get("/");
        stand.advance(1_000);
    }
    for _ in 0..1_000 {
        let seen = stand.get("/");
        assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(
            seen.field("ratelimit"),
            Some(r#""short";r=5;t=0, "medium";r=300;t=0, "long";r=0;t=715"#),
            "an hour allows five: one each 720 s, and five have passed"
        );
    }
}

#[test]
fn where_waiting_cannot_help_no_wait_is_told() {
    let nothing = Quota::nothing(Duration::from_secs(1)).unwrap();
    let seen = Stand::of_rules([rule("closed", nothing)]).get("/");
    assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(seen.field("retry-after"), None);
    assert_eq!(seen.field("x-ratelimit-reset"), None);
    assert_eq!(seen.field("ratelimit"), Some(r#""closed";r=0"#));
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""closed";q=0;w=1"#));
    assert!(seen.json().get("retry_after").is_none());
    assert_eq!(seen.json()["detail"], "Rate limit exceeded: rule 'closed' allows no requests.");

    let mut costly = rule("costly", Quota::per_second(5).burst(20));
    costly.cost = Some(Cost::new(21));
    let seen = Stand::of_rules([costly]).get("/");
    assert_eq!(seen.field("retry-after"), None);
    assert_eq!(seen.field("ratelimit"), Some(r#""costly";r=20"#));
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""costly";q=20;w=1"#));
}

#[test]
fn a_template_makes_any_other_body() {
    let template = r#"{"statusCode":429,"message":"{{detail}}","rule":"{{rule}}","all":[{{limit}},{{burst}},"{{window}}",{{retry_after}}]}"#;
    let denied = Denied::template("application/json", template).unwrap();
    let rules = vec![rule(r#"a "quoted" rule"#, Quota::per_minute(6).burst(1))];
    let mut stand = Stand::of(Parts { rules, denied, ..Parts::default() });
    stand.get("/");
    let seen = stand.get("/");
    assert_eq!(seen.field("content-type"), Some("application/json"));
    assert_eq!(
        seen.json(),
        json!({
            "statusCode": 429,
            "message": "Rate limit exceeded: rule 'a \"quoted\" rule' allows 6 requests per minute, at most 1 at once. Retry after 10 seconds.",
            "rule": "a \"quoted\" rule",
            "all": [6, 1, "minute", 10],
        })
    );
}

#[test]
fn a_grpc_request_is_answered_as_grpc() {
    let mut stand = Stand::of_rules([rule("calls", Quota::per_minute(1))]);
    stand.get("/");
    for content_type in ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"] {
        let mut call = request("POST", "/pkg.Service/Method");
        call.headers_mut().insert("content-type", content_type.parse().unwrap());
        let seen = stand.send(call);
        assert_eq!(seen.status, StatusCode::OK);
        assert_eq!(seen.field("grpc-status"), Some("8"));
        assert!(seen.field("grpc-message").unwrap().starts_with("Rate limit exceeded: rule 'calls'"));
        assert_eq!(seen.field("content-type"), Some("application/grpc"));
        assert_eq!(seen.field("retry-after"), Some("60"));
        assert_eq!(seen.body, "");
    }
    let mut web = request("POST", "/pkg.Service/Method");
    web.headers_mut().insert("content-type", "application/grpc-web".parse().unwrap());
    assert_eq!(stand.send(web).status, StatusCode::TOO_MANY_REQUESTS, "gRPC-Web is another dialect");
}

#[test]
fn a_fact_that_a_rule_insists_on_is_named_where_it_is_missing() {
    let mut keyed = rule("keyed", Quota::per_minute(5));
    keyed.partition = Fact::Header("x-api-key".into()).into();
    keyed.when_missing = WhenMissing::Deny;
    let mut stand = Stand::of_rules([keyed]);
    let seen = stand.get("/");
    assert_eq!(seen.status, StatusCode::FORBIDDEN);
    assert_eq!(seen.field("content-type"), Some("application/problem+json"));
    assert!(seen.json()["detail"].as_str().unwrap().contains("header:x-api-key"), "{}", seen.body);
    assert_eq!(seen.field("retry-after"), None);
    let mut with_key = request("GET", "/");
    with_key.headers_mut().insert("x-api-key", "k".parse().unwrap());
    assert_eq!(stand.send(with_key).status, StatusCode::OK);
}
