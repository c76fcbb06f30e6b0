//! A policy and a store together, as a door uses them.

mod request;

use std::sync::Arc;
use std::time::Duration;

use aforo_core::{Clock, Cost, ManualClock, Mode, Moment, Quota, Wait};
use aforo_policy::{Alone, Fact, File, Limiter, Outcome, Policy, Rule, WhenMissing};
use aforo_testkit::{PlainStore, block_on};
use request::Request;

/// A clock that the test moves and the store reads.
#[derive(Clone)]
struct Shared(Arc<ManualClock>);

impl Clock for Shared {
    fn now(&self) -> Moment {
        self.0.now()
    }
}

fn policy(text: &str) -> Policy {
    File::read("policy.yaml", text, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy
}

fn limiter(text: &str) -> (Limiter<PlainStore<Shared>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Moment::from_millis(1_780_000_000_000)));
    (Limiter::new(policy(text), PlainStore::new(Shared(Arc::clone(&clock)))), clock)
}

#[test]
fn five_logins_pass_and_the_sixth_waits_as_long_as_it_is_told() {
    let (limiter, clock) = limiter(
        "rules:\n  medium: { quota: 300/min }\nroutes:\n  - match: POST /auth/login\n    rules: { medium: { quota: 5/min, algorithm: sliding-log } }\n",
    );
    let login = Request::new("POST", "/auth/login");
    for _ in 0..5 {
        assert!(block_on(limiter.take(&login)).allowed());
        clock.advance(Duration::from_secs(1));
    }
    let sixth = block_on(limiter.take(&login));
    assert!(!sixth.allowed());
    assert_eq!(sixth.outcome(), Outcome::Denied);
    assert_eq!(sixth.route().unwrap().name(), "POST /auth/login");
    let wait = sixth.decision().wait().as_micros().unwrap();
    assert_eq!(wait, 55_000_000);
    clock.advance(Duration::from_micros(wait - 1));
    assert!(!block_on(limiter.take(&login)).allowed());
    clock.advance(Duration::from_micros(1));
    assert!(block_on(limiter.take(&login)).allowed());
    assert!(block_on(limiter.take(&Request::new("POST", "/auth/logout"))).allowed(), "the rule above counts apart");
}

#[test]
fn a_refusal_by_one_rule_charges_none_of_the_others() {
    let (limiter, _) = limiter("rules: { short: { quota: 2/s }, medium: { quota: 10/min }, long: { quota: 100/h } }");
    let request = Request::new("GET", "/");
    for _ in 0..2 {
        assert!(block_on(limiter.take(&request)).allowed());
    }
    for _ in 0..5 {
        assert!(!block_on(limiter.take(&request)).allowed());
    }
    let answer = block_on(limiter.peek(&request));
    let remaining: Vec<_> = answer.rules().map(|(rule, verdict)| (rule.name(), verdict.remaining)).collect();
    assert_eq!(remaining, [("short", 0), ("medium", 8), ("long", 98)]);
}

#[test]
fn another_policy_goes_on_with_the_counters() {
    let (limiter, _) = limiter("rules: { each: { quota: 5/min } }");
    let request = Request::new("GET", "/");
    for _ in 0..4 {
        assert!(block_on(limiter.take(&request)).allowed());
    }
    let before = limiter.policy();
    limiter.replace(policy("rules: { first: { quota: 1000/h }, each: { quota: 10/min } }"));
    assert!(!Arc::ptr_eq(&before, &limiter.policy()));
    let answer = block_on(limiter.peek(&request));
    let remaining: Vec<_> = answer.rules().map(|(rule, verdict)| (rule.name(), verdict.remaining)).collect();
    assert_eq!(remaining, [("first", 1000), ("each", 6)]);
}

#[test]
fn clones_share_policy_store_and_identity() {
    let (limiter, _) = limiter("rules: { each: { quota: 1/min } }");
    let clone = limiter.clone();
    assert!(block_on(clone.take(&Request::new("GET", "/"))).allowed());
    assert!(!block_on(limiter.take(&Request::new("GET", "/"))).allowed());
    assert_eq!(limiter.identity(), clone.identity());
    clone.replace(policy("rules: { other: { quota: 1/min } }"));
    assert_eq!(limiter.policy().rules()[0].name(), "other");
}

#[test]
fn unlimited_rules_are_met_and_never_asked() {
    let (limiter, _) = limiter("rules: { free: { quota: unlimited }, each: { quota: 5/s } }");
    let answer = block_on(limiter.take(&Request::new("GET", "/")));
    assert_eq!(answer.meeting().rules().count(), 2);
    assert_eq!(answer.rules().map(|(rule, _)| rule.name()).collect::<Vec<_>>(), ["each"]);
}

#[test]
fn zero_refuses_everything_and_waiting_does_not_help() {
    let (limiter, _) = limiter("rules: { none: { quota: 0/s } }");
    let answer = block_on(limiter.take(&Request::new("GET", "/")));
    assert!(!answer.allowed());
    assert_eq!(answer.decision().wait(), Wait::FOREVER);
}

#[test]
fn exempt_requests_and_those_that_meet_no_rule_are_exempt() {
    let (limiter, _) = limiter(
        "rules: { each: { quota: 0/s } }\nroutes: [{ match: POST /hook, skip: all }]\nexempt: [{ path: /health, name: probes }]",
    );
    let probe = block_on(limiter.take(&Request::new("GET", "/health")));
    assert_eq!(
        (probe.outcome(), probe.exempt().map(|exemption| exemption.name.as_str())),
        (Outcome::Exempt, Some("probes"))
    );
    let hook = block_on(limiter.take(&Request::new("POST", "/hook")));
    assert_eq!((hook.outcome(), hook.exempt()), (Outcome::Exempt, None));
    assert_eq!(block_on(limiter.take(&Request::new("GET", "/other"))).outcome(), Outcome::Denied);
}

#[test]
fn a_path_that_could_be_two_meets_the_rules_of_both() {
    let (limiter, _) = limiter(
        "rules: { each: { quota: 100/s } }\nroutes:\n  - match: GET /users/{id}\n    rules: { users: { quota: 1/s } }\n  - match: GET /free/{*rest}\n    skip: all\nexempt: [{ path: \"/open/{*rest}\" }]",
    );
    let mut request = Request::new("GET", "/users/a/b");
    assert!(block_on(limiter.take(&request)).route().is_none());
    request.other_path = Some("/users/a%2Fb".into());
    let names =
        |answer: &aforo_policy::Answer| answer.rules().map(|(rule, _)| rule.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&block_on(limiter.take(&request))), ["each", "users"], "a rule of both is asked once");
    assert!(!block_on(limiter.take(&request)).allowed());
    let free = Request { other_path: Some("/free%2Fx".into()), ..Request::new("GET", "/free/x") };
    assert_eq!(names(&block_on(limiter.take(&free))), ["each"]);
    let open = Request { other_path: Some("/open%2Fx".into()), ..Request::new("GET", "/open/x") };
    assert!(block_on(limiter.take(&open)).exempt().is_none(), "exempt is what is exempt in both forms");
}

#[test]
fn costs_are_said_by_the_rule_then_the_request_then_the_route() {
    let (limiter, _) = limiter(
        "rules: { plain: { quota: 100/s }, dear: { quota: 100/s, cost: 10 } }\nroutes: [{ match: GET /search, cost: 4 }]",
    );
    let remaining = |request: &Request| {
        block_on(limiter.take(request)).rules().map(|(_, verdict)| 100 - verdict.remaining).collect::<Vec<_>>()
    };
    assert_eq!(remaining(&Request::new("GET", "/")), [1, 10]);
    assert_eq!(remaining(&Request::new("GET", "/search")), [5, 20]);
    let said = Request { cost: Some(Cost::new(7)), ..Request::new("GET", "/search") };
    assert_eq!(remaining(&said), [12, 30]);
}

#[test]
fn a_cost_alone_counts_with_the_rule_above_and_any_other_override_apart() {
    let policy = policy(
        "rules: { medium: { quota: 100/s } }\nroutes:\n  - match: GET /a\n    rules: { medium: { cost: 3 } }\n  - match: GET /b\n    rules: { medium: { mode: shadow } }\n",
    );
    let scope = |route: usize| policy.routes()[route].rules[0].scope().to_string();
    assert_eq!(scope(0), "medium");
    assert_eq!(scope(1), "medium@GET /b");
}

#[test]
fn a_missing_fact_is_refused_where_the_rule_insists_and_nothing_is_charged() {
    let (limiter, _) =
        limiter("rules:\n  each: { quota: 5/s }\n  keyed: { quota: 5/s, per: header:X-Api-Key, when_missing: deny }\n");
    let answer = block_on(limiter.take(&Request::new("GET", "/")));
    assert!(!answer.allowed());
    assert_eq!(answer.missing().map(Fact::to_string).as_deref(), Some("header:x-api-key"));
    assert_eq!((answer.outcome(), answer.rules().count()), (Outcome::Denied, 0));
    let keyed = Request::new("GET", "/").with_header("x-api-key", "abc");
    let answer = block_on(limiter.take(&keyed));
    assert!(answer.allowed() && answer.missing().is_none());
    assert_eq!(answer.rules().map(|(_, verdict)| verdict.remaining).collect::<Vec<_>>(), [4, 4]);
}

#[test]
fn a_rule_that_only_reports_refuses_nobody_for_a_missing_fact() {
    let (limiter, _) = limiter("rules: { keyed: { quota: 5/s, per: host, when_missing: deny, mode: shadow } }");
    assert!(block_on(limiter.take(&Request::new("GET", "/"))).allowed());
}

#[test]
fn near_is_an_allowed_request_at_or_past_the_lowest_share_of_an_enforced_rule() {
    let (limiter, _) = limiter("warn_at: [90%, 50%]\nrules: { each: { quota: 4/min } }");
    let near: Vec<_> = (0..5).map(|_| block_on(limiter.take(&Request::new("GET", "/"))).near()).collect();
    assert_eq!(near, [false, true, true, true, false], "the last is refused, not near");
    for quiet in ["warn_at: off\nrules: { each: { quota: 1/min } }", "rules: { each: { quota: 1/min, mode: shadow } }"]
    {
        let (limiter, _) = self::limiter(quiet);
        assert!(!block_on(limiter.take(&Request::new("GET", "/"))).near(), "{quiet}");
    }
}

#[test]
fn a_refund_undoes_a_take() {
    let (limiter, clock) = limiter("rules: { each: { quota: 2/min, algorithm: fixed-window } }");
    let request = Request::new("GET", "/");
    let remaining = |answer: aforo_policy::Answer| answer.rules().next().unwrap().1.remaining;
    let taken = block_on(limiter.take(&request));
    assert_eq!(remaining(block_on(limiter.peek(&request))), 1);
    assert_eq!(remaining(block_on(limiter.refund(&request, taken.decision()))), 2);
    assert_eq!(remaining(block_on(limiter.peek(&request))), 2);
    clock.advance(Duration::from_secs(60));
    let _ = block_on(limiter.take(&request));
    assert_eq!(remaining(block_on(limiter.refund(&request, taken.decision()))), 1, "the window of that take is gone");
}

#[test]
fn a_permit_is_settled_to_what_it_did_cost() {
    let (limiter, _) = limiter("rules: { tokens: { quota: 100/min }, requests: { quota: 10/min, cost: 1 } }");
    let request = Request { cost: Some(Cost::new(40)), ..Request::new("POST", "/complete") };
    let left = || block_on(limiter.peek(&request)).rules().map(|(_, verdict)| verdict.remaining).collect::<Vec<_>>();
    let reserve = || block_on(limiter.reserve(&request)).unwrap_or_else(|answer| panic!("{answer:?}"));
    block_on(reserve().settle(Cost::new(25)));
    assert_eq!(left(), [75, 9], "what was too much is given back, where the rule does not say its own cost");
    block_on(reserve().settle(Cost::new(60)));
    assert_eq!(left(), [15, 8], "what was too little is taken");
    assert!(block_on(limiter.reserve(&request)).is_err());
    let small = Request { cost: Some(Cost::new(10)), ..Request::new("POST", "/complete") };
    block_on(block_on(limiter.reserve(&small)).unwrap().refund());
    assert_eq!(left(), [15, 8]);
    drop(block_on(limiter.reserve(&small)).unwrap());
    assert_eq!(left(), [5, 7], "dropped, the estimate stays charged");
    block_on(
        block_on(limiter.reserve(&Request { cost: Some(Cost::new(3)), ..small.clone() }))
            .unwrap()
            .settle(Cost::new(50)),
    );
    assert_eq!(left()[0], 0, "what was used was used, also past the limit");
}

#[test]
fn a_policy_can_be_written_in_code() {
    let mut keyed = Rule::new("keyed", Quota::per_second(5).burst(20)).unwrap();
    keyed.partition = Fact::Header("x-api-key".into()).into();
    keyed.when_missing = WhenMissing::Skip;
    keyed.mode = Mode::Shadow;
    let policy = Policy::new([Rule::new("each", Quota::per_minute(300)).unwrap(), keyed]).unwrap();
    let limiter = Limiter::new(policy, PlainStore::new(ManualClock::default()));
    assert_eq!(block_on(limiter.take(&Request::new("GET", "/"))).rules().count(), 1);
    assert!(Rule::new("límite", Quota::per_second(1)).is_err());
    let nine = (0..9).map(|at| Rule::new(format!("rule {at}"), Quota::per_second(1)).unwrap());
    assert_eq!(Policy::new(nine).unwrap_err().to_string(), "every request would meet 9 rules, and 8 are the most");
}
