//! Quotas by plan: who has more, who has less, and what stays the same.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod request;

use aforo_core::{Algorithm, ManualClock, Moment, Origin, Quota};
use aforo_policy::{Alone, Answer, File, Limiter, Plan, Plans, Policy, Rule};
use aforo_testkit::{PlainStore, block_on};
use request::Request;

fn policy(text: &str) -> Policy {
    File::read("policy.yaml", text, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy
}

fn clock() -> ManualClock {
    ManualClock::at(Moment::from_millis(1_780_000_000_000))
}

fn limiter(text: &str) -> Limiter<PlainStore<ManualClock>> {
    Limiter::new(policy(text), PlainStore::new(clock()))
}

fn get() -> Request {
    Request::new("GET", "/")
}

/// What a client is shown of each rule: its name, the limit of its quota, and what is left.
fn shown(answer: &Answer) -> Vec<(String, u32, u32)> {
    let asked = answer.rules().zip(answer.quotas());
    asked.map(|((rule, verdict), quota)| (rule.name().to_owned(), quota.limit(), verdict.remaining)).collect()
}

const TIERED: &str = "rules: { each: { quota: 5/min, plans: { pro: 50/min, partner: unlimited, banned: 0/s } } }";

#[test]
fn the_plan_of_the_user_says_the_quota() {
    let limiter = limiter(TIERED);
    let take = |request: Request| block_on(limiter.take(&request));
    assert_eq!(shown(&take(get().by("alice", Some("pro")))), [("each".to_owned(), 50, 49)]);
    let partner = take(get().by("bob", Some("partner")));
    assert!(partner.allowed() && shown(&partner).is_empty(), "what is unlimited is not asked about");
    assert!(!take(get().by("carol", Some("banned"))).allowed());
}

#[test]
fn everyone_else_has_the_quota_of_the_rule() {
    let limiter = limiter(TIERED);
    for (user, request) in [
        ("anonymous", get()),
        ("without a plan", get().by("alice", None)),
        ("of a plan that the rule does not know", get().by("bob", Some("gold"))),
        ("of a plan that is spelt otherwise", get().by("carol", Some("Pro"))),
    ] {
        assert_eq!(shown(&block_on(limiter.take(&request))), [("each".to_owned(), 5, 4)], "{user}");
    }
}

#[test]
fn what_was_taken_stays_taken_when_the_plan_changes() {
    let limiter = limiter("rules: { each: { quota: 5/min, algorithm: sliding-log, plans: { pro: 50/min } } }");
    let take = |plan| block_on(limiter.take(&get().by("alice", plan)));
    for _ in 0..5 {
        assert!(take(None).allowed());
    }
    assert!(!take(None).allowed());
    assert_eq!(shown(&take(Some("pro"))), [("each".to_owned(), 50, 44)], "the five are not forgotten");
    assert!(!take(None).allowed(), "nor are they after the end of the plan");
}

#[test]
fn a_plan_has_the_burst_that_it_says_and_none_of_the_rule() {
    let policy = policy(
        "rules: { each: { quota: 5/min, burst: 20, plans: { pro: 50/min, team: { quota: 50/min, burst: 200 } } } }",
    );
    let rule = &policy.rules()[0];
    let at_once = |plan| rule.quota_by(plan, Origin::Store).map(Quota::at_once);
    assert_eq!([at_once(None), at_once(Some("pro")), at_once(Some("team"))], [Some(20), Some(50), Some(200)]);
}

#[test]
fn plans_are_counted_by_the_algorithm_of_their_rule() {
    let policy = policy(
        "rules: { each: { quota: 5/min, plans: { pro: 50/min } } }\nroutes: [{ match: GET /a, rules: { each: { algorithm: sliding-log } } }]",
    );
    let algorithm = |rule: &Rule| rule.quota_by(Some("pro"), Origin::Store).map(Quota::algorithm);
    assert_eq!(algorithm(&policy.rules()[0]), Some(Algorithm::TokenBucket { burst: 50 }));
    assert_eq!(algorithm(&policy.routes()[0].rules[0]), Some(Algorithm::SlidingLog));
    let mut mixed = Rule::new("each", Quota::per_minute(5)).unwrap();
    let log = Plan { name: "pro".into(), allowance: Quota::per_minute(50).sliding_log().into() };
    mixed.plans = Plans::new([log]).unwrap();
    let flaws = Policy::new([mixed]).unwrap_err().to_string();
    assert_eq!(flaws, "the rule `each` counts the plan `pro` by another algorithm than the others");
}

#[test]
fn plans_belong_to_the_quota_that_they_stand_beside() {
    let policy = policy(
        "rules: { each: { quota: 5/min, plans: { pro: 50/min } } }
routes:
  - match: POST /login
    rules: { each: { quota: 1/min } }
  - match: GET /a
    rules: { each: { mode: shadow } }
  - match: GET /b
    rules: { each: { plans: { pro: 9/min, team: 7/min } } }
",
    );
    let quotas = |route: usize| {
        let rule = &policy.routes()[route].rules[0];
        [None, Some("pro"), Some("team")].map(|plan| rule.quota_by(plan, Origin::Store).map_or(0, Quota::limit))
    };
    assert_eq!(quotas(0), [1, 1, 1], "a stricter quota of a route is not undone by a plan above");
    assert_eq!(quotas(1), [5, 50, 5]);
    assert_eq!(quotas(2), [5, 9, 7]);
}

#[test]
fn the_worst_case_of_each_plan_is_told() {
    let policy = policy(TIERED);
    let told: Vec<_> = policy
        .worst_cases()
        .map(|worst| (worst.plan.map_or("", |plan| plan.name.as_str()), worst.to_string()))
        .collect();
    let expected = [
        ("", "at most 10 in any 60 s"),
        ("pro", "at most 100 in any 60 s"),
        ("partner", "unlimited"),
        ("banned", "nothing"),
    ];
    assert_eq!(told, expected.map(|(plan, worst)| (plan, worst.to_owned())));
}

#[test]
fn rules_of_one_name_and_other_plans_count_apart_or_are_refused() {
    let rule = |plan: &str| {
        let mut rule = Rule::new("each", Quota::per_minute(5)).unwrap();
        let plan = Plan { name: plan.into(), allowance: Quota::per_minute(50).into() };
        rule.plans = Plans::new([plan]).unwrap();
        rule
    };
    assert!(Policy::new([rule("pro"), rule("team")]).is_err());
}
