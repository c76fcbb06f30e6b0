//! What a client sees while the store does not answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use aforo_core::{Decision, Hits, ManualClock, Mode, Op, Quota, Store, StoreError, StoreErrorKind};
use aforo_http::{RateLimit, RateLimitLayer};
use aforo_memory::MemoryStore;
use aforo_policy::{Answer, Denied, Limiter, Parts, Percent, Policy, Rule, WhenDown};
use http::{HeaderMap, StatusCode};
use tower_layer::Layer;

use crate::stand::{Behind, START, Seen, SharedClock, request, rule, send};

const KINDS: [StoreErrorKind; 4] =
    [StoreErrorKind::Timeout, StoreErrorKind::Connection, StoreErrorKind::Script, StoreErrorKind::Other];

/// A store that fails while it is told to, some time after it was asked.
#[derive(Clone)]
struct Failing {
    inner: Arc<MemoryStore<SharedClock>>,
    up: Arc<AtomicBool>,
    kind: StoreErrorKind,
    waits: usize,
}

/// An answer that is not there the first times one looks.
struct Later(Result<Decision, StoreError>, usize);

impl Future for Later {
    type Output = Result<Decision, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.1 == 0 {
            return Poll::Ready(self.0);
        }
        self.1 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Store for Failing {
    type Deciding = Later;

    fn decide(&self, op: Op, hits: &Hits) -> Later {
        let answer = match self.up.load(Ordering::Relaxed) {
            true => Ok(self.inner.decide_now(op, hits)),
            false => Err(StoreError::new(self.kind)),
        };
        Later(answer, self.waits)
    }
}

/// A service whose store is down.
struct Outage {
    store: Failing,
    calls: Arc<AtomicUsize>,
    service: RateLimit<Behind, Failing>,
}

impl Outage {
    fn of(kind: StoreErrorKind, waits: usize, parts: Parts) -> Outage {
        let clock = SharedClock(Arc::new(ManualClock::at(START)));
        let memory = || MemoryStore::with_clock(clock.clone());
        let store = Failing { inner: Arc::new(memory()), up: Arc::default(), kind, waits };
        let limiter = Limiter::new(Policy::of(parts).unwrap(), store.clone()).with_fallback(memory());
        let calls = Arc::<AtomicUsize>::default();
        let behind = Behind { calls: calls.clone(), fields: HeaderMap::new() };
        Outage { store, calls, service: RateLimitLayer::new(limiter).layer(behind) }
    }

    fn of_rules(rules: impl IntoIterator<Item = Rule>) -> Outage {
        let parts = Parts { rules: rules.into_iter().collect(), ..Parts::default() };
        Outage::of(StoreErrorKind::Timeout, 0, parts)
    }

    fn get(&mut self) -> Seen {
        send(&mut self.service, request("GET", "/"))
    }
}

fn in_outage(name: &str, quota: Quota, when_down: WhenDown) -> Rule {
    let mut rule = rule(name, quota);
    rule.when_down = when_down;
    rule
}

fn half(name: &str, quota: Quota) -> Rule {
    let mut rule = rule(name, quota);
    rule.share = Percent::new(50).unwrap();
    rule
}

#[test]
fn an_outage_is_a_503_for_rules_that_deny_and_never_a_429() {
    for kind in KINDS {
        for waits in [0, 2] {
            let rules =
                vec![rule("each", Quota::per_minute(9)), in_outage("login", Quota::per_minute(9), WhenDown::Deny)];
            let mut outage = Outage::of(kind, waits, Parts { rules, ..Parts::default() });
            let seen = outage.get();
            assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE, "{kind:?}");
            let mut names: Vec<_> = seen.fields.keys().map(|name| name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["cache-control", "content-type", "retry-after"], "no number that nobody knows");
            assert_eq!((seen.field("retry-after"), seen.field("cache-control")), (Some("1"), Some("no-store")));
            assert_eq!(seen.field("content-type"), Some("application/problem+json"));
            assert_eq!((&seen.json()["status"], &seen.json()["code"]), (&503.into(), &"LIMITER_UNAVAILABLE".into()));
            assert_eq!(outage.calls.load(Ordering::Relaxed), 0, "it did not reach the service");
        }
    }
}

#[test]
fn an_outage_is_unavailable_to_a_grpc_call_and_not_exhausted() {
    let mut outage = Outage::of_rules([in_outage("each", Quota::per_minute(9), WhenDown::Deny)]);
    let mut call = request("POST", "/package.Service/Method");
    call.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    let seen = send(&mut outage.service, call);
    assert_eq!((seen.status, seen.field("grpc-status")), (StatusCode::OK, Some("14")));
    assert_eq!((seen.body.as_str(), seen.field("ratelimit")), ("", None));
}

#[test]
fn a_template_for_refusals_says_nothing_of_an_outage() {
    let rules = vec![in_outage("each", Quota::per_minute(9), WhenDown::Deny)];
    let denied = Denied::template("text/plain", "slow down, {{rule}}").unwrap();
    let mut outage = Outage::of(StoreErrorKind::Other, 0, Parts { rules, denied, ..Parts::default() });
    let seen = outage.get();
    assert_eq!(
        (seen.status, seen.field("content-type")),
        (StatusCode::SERVICE_UNAVAILABLE, Some("application/problem+json"))
    );
    assert!(!seen.body.contains("slow down"));
}

#[test]
fn rules_that_allow_let_an_outage_pass_without_a_field() {
    for kind in KINDS {
        let rules = vec![in_outage("each", Quota::per_minute(1), WhenDown::Allow)];
        let mut outage = Outage::of(kind, 1, Parts { rules, ..Parts::default() });
        for _ in 0..3 {
            let seen = outage.get();
            assert_eq!((seen.status, seen.body.as_str()), (StatusCode::OK, "passed"));
            assert!(seen.fields.is_empty(), "{:?}", seen.fields);
        }
    }
}

#[test]
fn a_fallback_shows_the_share_that_it_allows() {
    for waits in [0, 2] {
        let rules = vec![
            in_outage("free", Quota::per_second(1), WhenDown::Allow),
            half("medium", Quota::per_minute(4)),
            half("burst", Quota::per_second(10).burst(40)),
        ];
        let mut outage = Outage::of(StoreErrorKind::Connection, waits, Parts { rules, ..Parts::default() });
        let seen = outage.get();
        assert_eq!(seen.status, StatusCode::OK);
        assert_eq!(seen.field("ratelimit-policy"), Some(r#""medium";q=2;w=60, "burst";q=20;w=4"#));
        assert_eq!(seen.field("ratelimit"), Some(r#""medium";r=1;t=30, "burst";r=19;t=1"#));
        assert_eq!((seen.field("x-ratelimit-limit"), seen.field("x-ratelimit-remaining")), (Some("2"), Some("1")));
        let _ = outage.get();
        let refused = outage.get();
        assert_eq!((refused.status, refused.field("retry-after")), (StatusCode::TOO_MANY_REQUESTS, Some("30")));
        assert_eq!(refused.field("ratelimit-policy"), Some(r#""medium";q=2;w=60, "burst";q=20;w=4"#));
        let problem = refused.json();
        assert_eq!(problem["violated-policies"], serde_json::json!(["medium"]));
        let detail = "Rate limit exceeded: rule 'medium' allows 2 requests per minute. Retry after 30 seconds.";
        assert_eq!(problem["detail"], detail);
    }
}

#[test]
fn a_template_shows_the_share_too() {
    let denied = Denied::template("text/plain", "{{rule}} {{limit}} {{burst}} {{detail}}").unwrap();
    let rules = vec![half("each", Quota::per_minute(10).burst(2))];
    let mut outage = Outage::of(StoreErrorKind::Timeout, 0, Parts { rules, denied, ..Parts::default() });
    let _ = outage.get();
    let words = "each 5 1 Rate limit exceeded: rule 'each' allows 5 requests per minute, at most 1 at once. Retry after 12 seconds.";
    assert_eq!(outage.get().body, words);
}

#[test]
fn a_client_is_near_the_share_that_is_allowed() {
    let mut each = half("each", Quota::per_minute(8));
    each.warn_at = vec![Percent::new(50).unwrap()];
    let mut outage = Outage::of_rules([each]);
    let warned: Vec<_> = (0..4).map(|_| outage.get().field("x-ratelimit-warning").is_some()).collect();
    assert_eq!(warned, [false, true, true, true], "four are allowed");
}

#[test]
fn shadow_rules_stay_unseen_in_an_outage() {
    let mut shadow = half("shadow", Quota::per_minute(2));
    shadow.mode = Mode::Shadow;
    let mut outage = Outage::of_rules([shadow]);
    for _ in 0..3 {
        let seen = outage.get();
        assert_eq!(seen.status, StatusCode::OK);
        assert!(seen.fields.is_empty(), "{:?}", seen.fields);
    }
}

#[test]
fn with_the_store_back_the_whole_quota_is_shown_again() {
    let mut outage = Outage::of_rules([half("each", Quota::per_minute(2))]);
    assert_eq!(outage.get().field("x-ratelimit-limit"), Some("1"));
    assert_eq!(outage.get().status, StatusCode::TOO_MANY_REQUESTS);
    outage.store.up.store(true, Ordering::Relaxed);
    for remaining in ["1", "0"] {
        let seen = outage.get();
        assert_eq!(
            (seen.field("x-ratelimit-limit"), seen.field("x-ratelimit-remaining")),
            (Some("2"), Some(remaining))
        );
    }
    assert_eq!(outage.get().status, StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn whoever_looks_on_is_told_why_the_store_did_not_answer() {
    #[derive(Clone, Default)]
    struct Errors(Arc<std::sync::Mutex<Vec<Option<StoreErrorKind>>>>);
    impl aforo_http::Observe for Errors {
        fn answered(&self, answer: &Answer) {
            self.0.lock().unwrap().push(answer.store_error());
        }
    }
    let clock = SharedClock(Arc::new(ManualClock::at(START)));
    let inner = Arc::new(MemoryStore::with_clock(clock));
    let store = Failing { inner, up: Arc::default(), kind: StoreErrorKind::Script, waits: 1 };
    let policy = Policy::new([in_outage("each", Quota::per_minute(9), WhenDown::Allow)]).unwrap();
    let seen = Errors::default();
    let layer = RateLimitLayer::new(Limiter::new(policy, store.clone())).observed_by(seen.clone());
    let mut service = layer.layer(Behind { calls: Arc::default(), fields: HeaderMap::new() });
    let _ = send(&mut service, request("GET", "/"));
    store.up.store(true, Ordering::Relaxed);
    let _ = send(&mut service, request("GET", "/"));
    assert_eq!(*seen.0.lock().unwrap(), [Some(StoreErrorKind::Script), None]);
}
