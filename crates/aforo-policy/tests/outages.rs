//! What becomes of requests when the store does not answer.

mod failing;
mod request;

use std::future::{Ready, ready};
use std::time::Duration;

use aforo_core::{
    Cost, Decision, Hits, InvalidQuota, Mode, Moment, Op, Origin, Quota, Store, StoreError, StoreErrorKind,
};
use aforo_memory::MemoryStore;
use aforo_policy::{Alone, Answer, File, Flaw, Limiter, Outcome, Percent, Policy, Rule, WhenDown};
use aforo_testkit::block_on;
use failing::Stand;
use request::Request;

const KINDS: [StoreErrorKind; 4] =
    [StoreErrorKind::Timeout, StoreErrorKind::Connection, StoreErrorKind::Script, StoreErrorKind::Other];

fn policy(text: &str) -> Policy {
    File::read("policy.yaml", text, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy
}

fn stand(text: &str) -> Stand {
    Stand::of(policy(text))
}

fn request() -> Request {
    Request::new("GET", "/")
}

fn take(stand: &Stand) -> Answer {
    block_on(stand.limiter.take(&request()))
}

/// The rules that answered, each with what is left.
fn left(answer: &Answer) -> Vec<(&str, u32)> {
    answer.rules().map(|(rule, verdict)| (rule.name(), verdict.remaining)).collect()
}

#[test]
fn a_rule_that_allows_lets_pass_and_tells_no_numbers() {
    let stand = stand("rules: { each: { quota: 0/s, when_down: allow } }");
    for kind in KINDS {
        stand.store.fail(kind);
        let answer = take(&stand);
        assert!(answer.allowed());
        assert_eq!((answer.outcome(), answer.store_error()), (Outcome::StoreDownAllowed, Some(kind)));
        assert_eq!(answer.rules().count(), 0);
    }
    assert_eq!(stand.stand_in.calls(), 0);
}

#[test]
fn a_rule_that_denies_turns_away_whatever_the_others_say() {
    let stand = stand(
        "rules: { free: { quota: 9/s, when_down: allow }, each: { quota: 9/s }, login: { quota: 9/s, when_down: deny } }",
    );
    for kind in KINDS {
        stand.store.fail(kind);
        let answer = take(&stand);
        assert!(!answer.allowed());
        assert_eq!((answer.outcome(), answer.store_error()), (Outcome::StoreDownDenied, Some(kind)));
        assert_eq!((answer.rules().count(), answer.decision().origin()), (0, Origin::Unanswered));
    }
    assert_eq!(stand.stand_in.calls(), 0, "what is turned away takes nothing anywhere");
}

#[test]
fn a_rule_that_falls_back_allows_its_share_and_then_refuses() {
    let stand = stand("rules: { each: { quota: 10/min, burst: 7, share: 50% } }");
    stand.store.fail(StoreErrorKind::Connection);
    for remaining in [2, 1, 0] {
        let answer = take(&stand);
        assert_eq!((answer.outcome(), left(&answer)), (Outcome::FallbackAllowed, vec![("each", remaining)]));
    }
    let refused = take(&stand);
    assert_eq!((refused.outcome(), refused.store_error()), (Outcome::FallbackDenied, Some(StoreErrorKind::Connection)));
    assert_eq!(refused.decision().wait().as_micros(), Some(12_000_000), "five a minute drip back");
    let (rule, verdict) = refused.rules().next().unwrap();
    assert_eq!(verdict.limit, 3);
    let by = |origin| rule.quota_by(None, origin).map(|quota| (quota.limit(), quota.at_once()));
    assert_eq!((by(Origin::Fallback), by(Origin::Store)), (Some((5, 3)), Some((10, 7))));
    stand.clock.0.advance(Duration::from_secs(12));
    assert!(take(&stand).allowed());
}

#[test]
fn a_fallback_allows_its_share_of_each_plan_in_one_counter() {
    let stand = stand("rules: { each: { quota: 10/min, share: 20%, plans: { pro: 50/min, partner: unlimited } } }");
    stand.store.fail(StoreErrorKind::Timeout);
    let take = |plan| block_on(stand.limiter.take(&request().by("alice", plan)));
    let told = |answer: &Answer| {
        answer.quotas().map(Quota::limit).zip(left(answer).into_iter().map(|(_, left)| left)).collect::<Vec<_>>()
    };
    assert_eq!(told(&take(None)), [(2, 1)]);
    assert_eq!(told(&take(Some("pro"))), [(10, 8)], "what everyone else may have is gone from it");
    assert_eq!(
        (told(&take(Some("partner"))), stand.stand_in.calls()),
        (vec![], 2),
        "what is unlimited is not asked about"
    );
}

#[test]
fn what_the_store_denies_is_never_put_to_the_stand_in() {
    let stand = stand("rules: { each: { quota: 2/min } }");
    let dear = Request { cost: Some(Cost::new(3)), ..request() };
    assert_eq!(block_on(stand.limiter.take(&dear)).outcome(), Outcome::Denied);
    for outcome in [Outcome::Allowed, Outcome::Allowed, Outcome::Denied] {
        let answer = take(&stand);
        assert_eq!((answer.outcome(), answer.store_error()), (outcome, None));
    }
    assert_eq!(stand.stand_in.calls(), 0);
}

#[test]
fn each_rule_has_its_own_mode_and_verdicts_stay_with_their_rules() {
    let stand = stand(
        "rules:\n  a: { quota: 10/min, when_down: allow }\n  b: { quota: 20/min }\n  c: { quota: 30/min, when_down: deny, mode: shadow }\n  d: { quota: 40/min, mode: shadow, share: 10% }\n  e: { quota: 50/min, when_down: allow }\n",
    );
    stand.store.fail(StoreErrorKind::Timeout);
    assert_eq!(left(&take(&stand)), [("b", 19), ("d", 3)]);
    stand.store.recover();
    assert_eq!(left(&take(&stand)), [("a", 9), ("b", 19), ("c", 29), ("d", 39), ("e", 49)]);
}

#[test]
fn the_stand_in_takes_from_all_of_its_rules_or_from_none() {
    let stand = stand("rules: { many: { quota: 10/min }, few: { quota: 1/min } }");
    stand.store.fail(StoreErrorKind::Timeout);
    assert!(take(&stand).allowed());
    for _ in 0..3 {
        assert_eq!(left(&take(&stand)), [("many", 9), ("few", 0)]);
    }
}

#[test]
fn a_rule_that_only_reports_turns_nobody_away() {
    for rule in ["when_down: deny", "when_down: fallback", "when_down: allow"] {
        let stand = stand(&format!("rules: {{ seen: {{ quota: 0/s, mode: shadow, {rule} }} }}"));
        stand.store.fail(StoreErrorKind::Timeout);
        assert!(take(&stand).allowed(), "{rule}");
        let alone = Limiter::new(policy("rules: { seen: { quota: 0/s, mode: shadow } }"), stand.store.clone());
        assert!(block_on(alone.take(&request())).allowed(), "without a stand-in");
    }
}

/// A stand-in that fails as well.
struct Broken;

impl Store for Broken {
    type Deciding = Ready<Result<Decision, StoreError>>;

    fn decide(&self, _: Op, _: &Hits) -> Self::Deciding {
        ready(Err(StoreError::new(StoreErrorKind::Other)))
    }
}

#[test]
fn where_nobody_stands_in_a_rule_that_falls_back_turns_away() {
    let text = "rules: { free: { quota: 9/s, when_down: allow }, each: { quota: 9/s } }";
    let stand = stand(text);
    stand.store.fail(StoreErrorKind::Timeout);
    for limiter in [
        Limiter::new(policy(text), stand.store.clone()),
        Limiter::new(policy(text), stand.store.clone()).with_fallback(Broken),
    ] {
        let answer = block_on(limiter.take(&request()));
        assert_eq!((answer.allowed(), answer.outcome()), (false, Outcome::StoreDownDenied));
        assert_eq!(answer.store_error(), Some(StoreErrorKind::Timeout), "the error of the store, not of its stand-in");
    }
}

#[test]
fn an_answer_that_comes_late_is_the_same_answer() {
    let stand = stand("rules: { a: { quota: 4/min, share: 50% }, b: { quota: 9/min, when_down: allow } }");
    stand.store.answer_late();
    let mut asking = stand.limiter.take(&request());
    assert!(asking.at_once().is_none());
    assert_eq!(left(&block_on(asking)), [("a", 3), ("b", 8)]);
    stand.store.fail(StoreErrorKind::Timeout);
    let late: Vec<_> = (0..3).map(|_| take(&stand).outcome()).collect();
    assert_eq!(late, [Outcome::FallbackAllowed, Outcome::FallbackAllowed, Outcome::FallbackDenied]);
}

#[test]
fn an_answer_that_is_there_at_once_is_handed_out_once() {
    let stand = stand("rules: { each: { quota: 4/min } }\nexempt: [{ path: /health }]");
    for path in ["/", "/health"] {
        let mut asking = stand.limiter.take(&Request::new("GET", path));
        assert!(asking.at_once().is_some_and(|answer| answer.allowed()));
        assert!(asking.at_once().is_none());
    }
    stand.store.fail(StoreErrorKind::Timeout);
    let outcome = stand.limiter.take(&request()).at_once().map(|answer| answer.outcome());
    assert_eq!(outcome, Some(Outcome::FallbackAllowed));

    let limiter = Limiter::new(policy("rules: { each: { quota: 4/min } }"), MemoryStore::new());
    let mut asking = limiter.take(&request());
    assert!(asking.at_once().is_some_and(|answer| answer.allowed()));
    assert!(asking.at_once().is_none());
}

/// A store that promises to answer, and does not.
struct Faithless;

impl Store for Faithless {
    type Deciding = Ready<Result<Decision, StoreError>>;

    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding {
        Broken.decide(op, hits)
    }

    fn always_answers(&self) -> bool {
        true
    }
}

#[test]
fn a_store_that_breaks_its_promise_to_answer_lets_nobody_pass() {
    let text = "rules: { each: { quota: 4/min, when_down: allow } }";
    let limiter = Limiter::new(policy(text), Faithless).with_fallback(MemoryStore::new());
    let answer = block_on(limiter.take(&request()));
    assert_eq!((answer.outcome(), answer.store_error()), (Outcome::StoreDownDenied, Some(StoreErrorKind::Other)));
}

#[test]
fn what_needs_no_store_is_answered_without_it() {
    let stand = stand(
        "rules: { keyed: { quota: 5/s, per: header:x-api-key, when_missing: deny } }\nexempt: [{ path: /health }]",
    );
    stand.store.fail(StoreErrorKind::Timeout);
    let exempt = block_on(stand.limiter.take(&Request::new("GET", "/health")));
    assert_eq!((exempt.outcome(), exempt.store_error()), (Outcome::Exempt, None));
    let lacking = take(&stand);
    assert_eq!((lacking.outcome(), lacking.store_error()), (Outcome::Denied, None));
    assert!(lacking.missing().is_some());
    assert_eq!((stand.store.calls(), stand.stand_in.calls()), (0, 0));
}

#[test]
fn a_peek_says_what_a_take_would_and_takes_nothing() {
    let stand = stand("rules: { each: { quota: 2/min } }");
    stand.store.fail(StoreErrorKind::Timeout);
    for _ in 0..5 {
        let answer = block_on(stand.limiter.peek(&request()));
        assert_eq!((answer.outcome(), left(&answer)), (Outcome::FallbackAllowed, vec![("each", 2)]));
    }
    let _ = (take(&stand), take(&stand));
    assert_eq!(block_on(stand.limiter.peek(&request())).outcome(), Outcome::FallbackDenied);
}

#[test]
fn the_store_is_asked_again_with_each_request_and_its_counters_go_on() {
    let stand = stand("rules: { each: { quota: 5/min } }");
    assert_eq!(left(&take(&stand)), [("each", 4)]);
    stand.store.fail(StoreErrorKind::Timeout);
    assert_eq!(left(&take(&stand)), [("each", 4)], "the stand-in counts by itself");
    stand.store.recover();
    let answer = take(&stand);
    assert_eq!((answer.outcome(), left(&answer)), (Outcome::Allowed, vec![("each", 3)]));
    assert_eq!(answer.decision().origin(), Origin::Store);
}

#[test]
fn a_refund_goes_to_the_store_that_has_taken() {
    let stand = stand("rules: { each: { quota: 5/min } }");
    let peek = || left(&block_on(stand.limiter.peek(&request()))).first().map(|(_, remaining)| *remaining);
    let by_store = take(&stand);
    stand.store.fail(StoreErrorKind::Timeout);
    let by_stand_in = take(&stand);
    let nobody = Decision::unanswered(true);
    assert_eq!(peek(), Some(4));

    // The store cannot give back now. The stand-in has not taken that unit, and keeps what it has taken.
    let answer = block_on(stand.limiter.refund(&request(), by_store.decision()));
    assert_eq!((answer.store_error(), left(&answer)), (Some(StoreErrorKind::Timeout), vec![("each", 4)]));
    assert_eq!(left(&block_on(stand.limiter.refund(&request(), &nobody))), [("each", 4)]);
    stand.store.recover();
    assert_eq!(left(&block_on(stand.limiter.refund(&request(), &nobody))), [("each", 4)]);
    let answer = block_on(stand.limiter.refund(&request(), by_stand_in.decision()));
    assert_eq!((left(&answer), answer.decision().origin()), (vec![("each", 5)], Origin::Fallback));
    assert_eq!(peek(), Some(4), "the store has its unit still");
    assert_eq!(left(&block_on(stand.limiter.refund(&request(), by_store.decision()))), [("each", 5)]);
}

#[test]
fn a_denial_has_nothing_to_give_back() {
    let stand = stand("rules: { each: { quota: 1/min }, more: { quota: 5/min } }");
    let _ = take(&stand);
    let denied = take(&stand);
    assert!(!denied.allowed());
    assert_eq!(left(&block_on(stand.limiter.refund(&request(), denied.decision()))), [("each", 0), ("more", 4)]);
}

#[test]
fn a_permit_is_corrected_where_it_was_granted() {
    let stand = stand(
        "rules: { other: { quota: 90/min, when_down: allow }, tokens: { quota: 100/min, share: 50% }, requests: { quota: 10/min, cost: 1 } }",
    );
    let complete = Request { cost: Some(Cost::new(20)), ..request() };
    let reserve = || block_on(stand.limiter.reserve(&complete)).unwrap_or_else(|answer| panic!("{answer:?}"));
    let peek = || {
        let answer = block_on(stand.limiter.peek(&complete));
        answer.rules().map(|(rule, verdict)| (rule.name().to_owned(), verdict.remaining)).collect::<Vec<_>>()
    };
    stand.store.fail(StoreErrorKind::Timeout);
    block_on(reserve().settle(Cost::new(5)));
    assert_eq!(peek(), [("tokens".to_owned(), 45), ("requests".to_owned(), 9)]);
    block_on(reserve().settle(Cost::new(30)));
    assert_eq!(peek(), [("tokens".to_owned(), 15), ("requests".to_owned(), 8)]);
    assert!(block_on(stand.limiter.reserve(&complete)).is_err());
    stand.clock.0.advance(Duration::from_secs(60));
    let permit = reserve();
    stand.store.recover();
    block_on(permit.refund());
    stand.store.fail(StoreErrorKind::Timeout);
    assert_eq!(peek(), [("tokens".to_owned(), 50), ("requests".to_owned(), 10)], "it goes back to the stand-in");
}

#[test]
fn a_permit_that_nobody_granted_is_corrected_nowhere() {
    let stand = stand("rules: { tokens: { quota: 100/min, when_down: allow } }");
    stand.store.fail(StoreErrorKind::Timeout);
    let permit = block_on(stand.limiter.reserve(&request())).unwrap_or_else(|answer| panic!("{answer:?}"));
    let asked = stand.store.calls();
    block_on(permit.settle(Cost::new(50)));
    let permit = block_on(stand.limiter.reserve(&request())).unwrap_or_else(|answer| panic!("{answer:?}"));
    block_on(permit.refund());
    assert_eq!((stand.store.calls() - asked, stand.stand_in.calls()), (1, 0), "only the second take was asked");
}

#[test]
fn three_processes_with_a_third_each_admit_no_more_than_the_quota() {
    let text = "rules: { each: { quota: 90/min, share: 33%, algorithm: sliding-log } }";
    let processes = [stand(text), stand(text), stand(text)];
    let admitted = processes.iter().map(|process| {
        process.store.fail(StoreErrorKind::Connection);
        (0..200).filter(|_| take(process).allowed()).count()
    });
    assert_eq!(admitted.sum::<usize>(), 87, "29 each");
}

#[test]
fn a_share_is_of_every_algorithm_the_same_in_the_same_window() {
    for algorithm in ["token-bucket", "sliding-window", "sliding-log", "fixed-window"] {
        let stand = stand(&format!("rules: {{ each: {{ quota: 9/min, share: 34%, algorithm: {algorithm} }} }}"));
        stand.store.fail(StoreErrorKind::Timeout);
        assert_eq!((0..9).filter(|_| take(&stand).allowed()).count(), 3, "{algorithm}");
        let policy = stand.limiter.policy();
        let rule = &policy.rules()[0];
        let (whole, share) = (rule.quota().unwrap(), rule.quota_by(None, Origin::Fallback).unwrap());
        assert_eq!(std::mem::discriminant(&share.algorithm()), std::mem::discriminant(&whole.algorithm()));
        assert_eq!(share.window(), whole.window());
    }
}

#[test]
fn nothing_has_no_share_and_little_has_at_least_one() {
    let admitted = |quota: &str| {
        let stand = stand(&format!("rules: {{ each: {{ quota: {quota}, share: 1% }} }}"));
        stand.store.fail(StoreErrorKind::Timeout);
        (0..5).filter(|_| take(&stand).allowed()).count()
    };
    assert_eq!((admitted("0/s"), admitted("5/min"), admitted("299/min")), (0, 1, 2));
}

#[test]
fn a_share_that_cannot_be_counted_exactly_makes_no_policy() {
    // A year in seconds but one: a whole number of units a second, of which a third is not.
    let quota = Quota::new(135 * 31_622_399, Duration::from_secs(31_622_399)).unwrap();
    let mut rule = Rule::new("all", quota).unwrap();
    rule.share = Percent::new(33).unwrap();
    let flaws = Policy::new([rule.clone()]).unwrap_err();
    assert!(matches!(flaws.0[..], [Flaw::NoShare { route: None, reason: InvalidQuota::NotExact, .. }]), "{flaws}");
    assert!(flaws.to_string().starts_with("33% of what the rule `all` allows is no quota: "), "{flaws}");
    rule.when_down = WhenDown::Deny;
    assert!(Policy::new([rule]).is_ok(), "who does not fall back needs no share");
}

#[test]
fn rules_that_share_counters_have_the_same_share() {
    let rule = Rule::new("each", Quota::per_minute(9)).unwrap();
    let mut half = rule.clone();
    half.share = Percent::new(50).unwrap();
    assert!(matches!(Policy::new([rule, half]).unwrap_err().0[..], [Flaw::SameScope { .. }]));
}

#[test]
fn a_policy_in_code_says_how_each_rule_fails() {
    let mut login = Rule::new("login", Quota::per_minute(5)).unwrap();
    assert_eq!((login.when_down, login.share), (WhenDown::Fallback, Percent::WHOLE));
    login.when_down = WhenDown::Allow;
    login.mode = Mode::Enforce;
    let stand = Stand::of(Policy::new([login]).unwrap());
    stand.store.fail(StoreErrorKind::Timeout);
    assert_eq!(take(&stand).outcome(), Outcome::StoreDownAllowed);
    assert_eq!(take(&stand).decision().taken_at(), Moment::EPOCH);
}

#[test]
fn another_stand_in_takes_the_place_of_the_first_for_all_clones() {
    let stand = stand("rules: { each: { quota: 5/min } }");
    stand.store.fail(StoreErrorKind::Timeout);
    assert_eq!(left(&take(&stand)), [("each", 4)]);
    let _ = stand.limiter.clone().with_fallback(failing::StandIn::new(&stand.clock));
    assert_eq!(left(&take(&stand)), [("each", 4)]);
    assert_eq!(stand.stand_in.calls(), 1);
}
