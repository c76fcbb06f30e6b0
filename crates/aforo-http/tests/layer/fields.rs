//! The fields of responses, in each of their forms.

use aforo_core::{Cost, Mode, Quota};
use aforo_policy::{Allowance, Headers, Legacy, LegacyReset, Parts, Percent, Standard, Upstream};
use http::{HeaderMap, HeaderValue};

use crate::stand::{Stand, rule};

/// The three limits of an API with short, medium and long windows.
fn three() -> Parts {
    let rules = vec![
        rule("short", Quota::per_second(5)),
        rule("medium", Quota::per_minute(300).sliding_window()),
        rule("long", Quota::per_hour(5000).fixed_window()),
    ];
    Parts { rules, ..Parts::default() }
}

#[test]
fn every_rule_is_told_in_rule_order() {
    let seen = Stand::of(three()).get("/");
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""short";q=5;w=1, "medium";q=300;w=60, "long";q=5000;w=3600"#));
    // 20:26:40: the medium window ends in 20 s and weighs a minute more, the long one ends in 33 min 20 s.
    assert_eq!(seen.field("ratelimit"), Some(r#""short";r=4;t=1, "medium";r=299;t=80, "long";r=4999;t=2000"#));
}

#[test]
fn the_single_rule_fields_tell_of_the_smallest_share_left() {
    let mut stand = Stand::of(three());
    let seen = stand.get("/");
    assert_eq!(seen.field("x-ratelimit-limit"), Some("5"));
    assert_eq!(seen.field("x-ratelimit-remaining"), Some("4"));
    assert_eq!(seen.field("x-ratelimit-reset"), Some("1780000001"));
    stand.advance(10_000);
    let later = stand.get("/");
    assert_eq!(later.field("x-ratelimit-limit"), Some("5"), "one of five is less left than two of three hundred");
}

#[test]
fn the_first_of_equal_shares_is_told() {
    let seen = Stand::of_rules([rule("a", Quota::per_second(2)), rule("b", Quota::per_minute(4))]).get("/");
    assert_eq!(seen.field("x-ratelimit-limit"), Some("2"), "one of two is less than three of four");
    let seen = Stand::of_rules([rule("a", Quota::per_second(2)), rule("b", Quota::per_minute(2))]).get("/");
    assert_eq!(seen.field("x-ratelimit-reset"), Some("1780000001"), "the first of two halves fills in half a second");
}

#[test]
fn a_burst_is_what_is_shown_and_its_window_is_the_time_to_fill() {
    let seen = Stand::of_rules([rule("search", Quota::per_second(5).burst(20))]).get("/");
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""search";q=20;w=4"#));
    assert_eq!(seen.field("ratelimit"), Some(r#""search";r=19;t=1"#));
}

#[test]
fn a_window_below_a_second_is_shown_as_one() {
    let quota = Quota::new(5, std::time::Duration::from_millis(100)).unwrap();
    let seen = Stand::of_rules([rule("fast", quota)]).get("/");
    assert_eq!(seen.field("ratelimit-policy"), Some(r#""fast";q=5;w=1"#));
}

#[test]
fn a_name_is_escaped_as_a_structured_field_string() {
    let seen = Stand::of_rules([rule(r#"a"b\c d"#, Quota::per_second(2))]).get("/");
    assert_eq!(seen.field("ratelimit"), Some(r#""a\"b\\c d";r=1;t=1"#));
}

#[test]
fn draft_7_is_a_dictionary_of_one_rule() {
    let headers = Headers { standard: Standard::Draft7, ..Headers::default() };
    let seen = Stand::of(Parts { headers, ..three() }).get("/");
    assert_eq!(seen.field("ratelimit-policy"), Some("5;w=1, 300;w=60, 5000;w=3600"));
    assert_eq!(seen.field("ratelimit"), Some("limit=5, remaining=4, reset=1"));
}

#[test]
fn draft_6_is_three_fields_of_one_rule() {
    let headers = Headers { standard: Standard::Draft6, ..Headers::default() };
    let seen = Stand::of(Parts { headers, ..three() }).get("/");
    assert_eq!(seen.field("ratelimit-policy"), Some("5;w=1, 300;w=60, 5000;w=3600"));
    assert_eq!(seen.field("ratelimit-limit"), Some("5"));
    assert_eq!(seen.field("ratelimit-remaining"), Some("4"));
    assert_eq!(seen.field("ratelimit-reset"), Some("1"));
    assert_eq!(seen.field("ratelimit"), None);
}

#[test]
fn a_legacy_reset_is_an_epoch_a_delta_or_a_date() {
    for (reset, told) in
        [(LegacyReset::Epoch, "1780000001"), (LegacyReset::Delta, "1"), (LegacyReset::Iso8601, "2026-05-28T20:26:41Z")]
    {
        let headers = Headers { legacy_reset: reset, ..Headers::default() };
        let seen = Stand::of(Parts { headers, ..three() }).get("/");
        assert_eq!(seen.field("x-ratelimit-reset"), Some(told));
    }
}

#[test]
fn fields_that_are_off_are_not_sent() {
    let headers = Headers { standard: Standard::Off, legacy: Legacy::Off, ..Headers::default() };
    let seen = Stand::of(Parts { headers, ..three() }).get("/");
    assert!(seen.fields.keys().all(|name| !name.as_str().contains("ratelimit")), "{:?}", seen.fields);
}

#[test]
fn shadow_and_unlimited_rules_are_never_shown() {
    let mut shadow = rule("shadow", Quota::per_second(1));
    shadow.mode = Mode::Shadow;
    let mut unlimited = rule("unlimited", Quota::per_second(1));
    unlimited.allowance = Allowance::Unlimited;
    let mut stand = Stand::of_rules([shadow.clone(), unlimited, rule("seen", Quota::per_second(9))]);
    for remaining in [8, 7] {
        let seen = stand.get("/");
        assert_eq!(seen.field("ratelimit-policy"), Some(r#""seen";q=9;w=1"#));
        assert_eq!(seen.field("x-ratelimit-remaining"), Some(remaining.to_string().as_str()));
    }
    let seen = Stand::of_rules([shadow]).get("/");
    assert!(seen.fields.is_empty(), "{:?}", seen.fields);
}

#[test]
fn a_client_near_its_limit_is_warned() {
    let mut warning = rule("warning", Quota::per_minute(10));
    warning.warn_at = vec![Percent::new(90).unwrap()];
    let mut stand = Stand::of_rules([warning]);
    for taken in 1..=10 {
        let told = stand.get("/").field("x-ratelimit-warning").map(str::to_owned);
        assert_eq!(told.as_deref(), (taken >= 9).then_some("approaching limit"), "after {taken} of 10");
    }
    assert_eq!(stand.get("/").field("x-ratelimit-warning"), None, "a refusal is no warning");
}

fn upstream_fields() -> HeaderMap {
    let mut fields = HeaderMap::new();
    fields.append("ratelimit", HeaderValue::from_static("\"upstream\";r=1"));
    fields.append("x-ratelimit-limit", HeaderValue::from_static("77"));
    fields.append("x-ratelimit-limit", HeaderValue::from_static("78"));
    fields.append("x-ratelimit-reset", HeaderValue::from_static("5"));
    fields.append("x-other", HeaderValue::from_static("stays"));
    fields
}

#[test]
fn fields_of_the_upstream_are_replaced_and_never_doubled() {
    let seen = Stand::before(three(), upstream_fields()).get("/");
    assert_eq!(seen.field("x-ratelimit-limit"), Some("5"));
    assert!(seen.field("ratelimit").unwrap().starts_with("\"short\""));
    assert_eq!(seen.field("x-other"), Some("stays"));
}

#[test]
fn fields_of_the_upstream_can_be_kept_and_then_stand_alone() {
    let headers = Headers { upstream: Upstream::Keep, ..Headers::default() };
    let mut fields = upstream_fields();
    fields.remove("x-ratelimit-limit");
    let seen = Stand::before(Parts { headers, ..three() }, fields).get("/");
    assert_eq!(seen.field("ratelimit"), Some("\"upstream\";r=1"));
    assert_eq!(seen.field("ratelimit-policy"), None, "half of each would contradict");
    assert_eq!(seen.field("x-ratelimit-reset"), Some("5"));
    assert_eq!(seen.field("x-ratelimit-remaining"), None);
}

#[test]
fn a_cost_is_taken_and_told() {
    let mut costly = rule("costly", Quota::per_minute(10));
    costly.cost = Some(Cost::new(4));
    let mut stand = Stand::of_rules([costly]);
    assert_eq!(stand.get("/").field("ratelimit"), Some(r#""costly";r=6;t=24"#));
    assert_eq!(stand.get("/").field("ratelimit"), Some(r#""costly";r=2;t=48"#));
    assert_eq!(stand.get("/").field("ratelimit"), Some(r#""costly";r=2;t=12"#), "two more fit after twelve seconds");
}
