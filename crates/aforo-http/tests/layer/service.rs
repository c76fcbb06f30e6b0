//! The layer as a citizen of Tower.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll, Waker};

use aforo_core::{Decision, Hits, Op, Quota, Store, StoreError, StoreErrorKind};
use aforo_http::RateLimitLayer;
use aforo_policy::{Exemption, Limiter, Match, Parts, Paths, Policy, Route, Template, WhenDown};
use http::{Request, Response, StatusCode};
use tower_layer::Layer;
use tower_service::Service;

use crate::stand::{Stand, Text, request, rule, send};

#[test]
fn all_clones_share_one_quota() {
    let mut stand = Stand::of_rules([rule("three", Quota::per_minute(3))]);
    let mut clones = vec![stand.service.clone(); 4];
    let passed = clones
        .iter_mut()
        .map(|clone| send(clone, request("GET", "/")))
        .filter(|seen| seen.status == StatusCode::OK)
        .count();
    assert_eq!(passed, 3);
    assert_eq!(stand.get("/").status, StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn asking_whether_it_is_ready_takes_nothing() {
    let mut stand = Stand::of_rules([rule("one", Quota::per_minute(1))]);
    for _ in 0..1_000 {
        let poll = Service::<Request<()>>::poll_ready(&mut stand.service, &mut Context::from_waker(Waker::noop()));
        assert!(poll.is_ready());
    }
    assert_eq!(stand.get("/").status, StatusCode::OK);
}

#[test]
fn two_layers_of_one_limiter_charge_once() {
    let stand = Stand::of_rules([rule("three", Quota::per_minute(3))]);
    let mut stacked = RateLimitLayer::new(stand.limiter.clone()).layer(stand.service.clone());
    let left = |seen: crate::stand::Seen| seen.field("x-ratelimit-remaining").map(str::to_owned);
    assert_eq!(left(send(&mut stacked, request("GET", "/"))).as_deref(), Some("2"));
    assert_eq!(left(send(&mut stacked, request("GET", "/"))).as_deref(), Some("1"));
}

#[test]
fn head_meets_the_rules_of_get() {
    let search = Route::new("GET /search".parse::<Match>().unwrap(), [rule("search", Quota::per_minute(1))]);
    let mut stand = Stand::of(Parts { routes: vec![search], ..Parts::default() });
    assert_eq!(stand.get("/search").status, StatusCode::OK);
    assert_eq!(stand.send(request("HEAD", "/search")).status, StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn no_spelling_of_a_path_gets_around_its_limit() {
    let login = Route::new("POST /api/login".parse::<Match>().unwrap(), [rule("login", Quota::per_minute(1))]);
    let fetch = Route::new("* /fetch/{url}".parse::<Match>().unwrap(), [rule("fetch", Quota::per_minute(1))]);
    let mut stand = Stand::of(Parts { routes: vec![login, fetch], ..Parts::default() });
    assert_eq!(stand.send(request("POST", "/api/login")).status, StatusCode::OK);
    for path in [
        "//api/login",
        "/api/login/",
        "/%61pi/login",
        "/api/./login",
        "/api%2Flogin",
        "/api;x/login?y",
        "/x/..%2fapi/login",
    ] {
        assert_eq!(stand.send(request("POST", path)).status, StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
    assert_eq!(stand.get("/fetch/a").status, StatusCode::OK);
    for path in ["/fetch/http%3A%2F%2Fa", "//fetch/http%3A%2F%2Fa", "//x/fetch/b"] {
        assert_eq!(stand.get(path).status, StatusCode::TOO_MANY_REQUESTS, "one segment to some servers: {path}");
    }
}

#[test]
fn no_path_that_a_server_may_not_resolve_gets_around_a_limit() {
    let rules = vec![rule("each", Quota::per_minute(1))];
    let exemptions = vec![Exemption::new("/health".parse::<Template>().unwrap())];
    let free = Route::new("* /free".parse::<Match>().unwrap(), []);
    let mut stand = Stand::of(Parts { rules, exemptions, routes: vec![free], ..Parts::default() });
    assert_eq!(stand.get("/api/x").status, StatusCode::OK);
    for path in [
        "/api/x/../../health",
        "/api/x/..;/..;/health",
        "/api/x/%2e%2e/%2e%2e/health",
        "/api/x/../../free",
        // A host to some, with another path behind it.
        "//health",
        "//health/api/x",
        "//x/health",
    ] {
        assert_eq!(stand.get(path).status, StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
    for path in ["/health", "/health/", "/health//", "/%68ealth", "/free"] {
        assert_eq!(stand.get(path).status, StatusCode::OK, "{path}");
    }
}

#[test]
fn no_spelling_of_a_method_gets_around_a_limit() {
    let login = Route::new("POST /login".parse::<Match>().unwrap(), [rule("login", Quota::per_minute(1))]);
    let paths = Paths { method_override: Some("x-http-method-override".into()), ..Paths::default() };
    let mut stand = Stand::of(Parts { routes: vec![login], paths, ..Parts::default() });
    assert_eq!(stand.send(request("POST", "/login")).status, StatusCode::OK);
    assert_eq!(stand.send(request("post", "/login")).status, StatusCode::TOO_MANY_REQUESTS);
    for meant in ["GET", "DELETE", "FOO", "post"] {
        let mut overridden = request("POST", "/login");
        overridden.headers_mut().append("x-http-method-override", meant.parse().unwrap());
        overridden.headers_mut().append("x-http-method-override", "POST".parse().unwrap());
        assert_eq!(stand.send(overridden).status, StatusCode::TOO_MANY_REQUESTS, "{meant}");
    }
    assert_eq!(stand.send(request("GET", "/login")).status, StatusCode::OK, "not a login");
}

#[test]
fn a_method_that_a_header_brings_meets_its_own_limit_too() {
    let delete = Route::new("DELETE /item".parse::<Match>().unwrap(), [rule("delete", Quota::per_minute(1))]);
    let paths = Paths { method_override: Some("x-http-method-override".into()), ..Paths::default() };
    let mut stand = Stand::of(Parts { routes: vec![delete], paths, ..Parts::default() });
    assert_eq!(stand.send(request("DELETE", "/item")).status, StatusCode::OK);
    // Of a list, some take the first; of several lines, some the last.
    for lines in
        [&["DELETE"][..], &["DELETE, x"], &["DELETE,"], &["GET, delete"], &["GET", "DELETE"], &["", "POST", "DELETE"]]
    {
        let mut overridden = request("POST", "/item");
        for line in lines {
            overridden.headers_mut().append("x-http-method-override", line.parse().unwrap());
        }
        assert_eq!(stand.send(overridden).status, StatusCode::TOO_MANY_REQUESTS, "{lines:?}");
    }
}

/// A service that must be asked whether it is ready before each call, and whose clones are not.
struct OnlyWhenReady {
    ready: bool,
}

impl Clone for OnlyWhenReady {
    fn clone(&self) -> OnlyWhenReady {
        OnlyWhenReady { ready: false }
    }
}

impl Service<Request<()>> for OnlyWhenReady {
    type Response = Response<Text>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Text>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been ready");
        ready(Ok(Response::new(Text::of("passed"))))
    }
}

/// A store whose answer is not there the first time one looks.
#[derive(Clone, Copy)]
struct Slow;

struct SlowAnswer {
    looked: bool,
}

impl Future for SlowAnswer {
    type Output = Result<Decision, StoreError>;

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if std::mem::replace(&mut self.looked, true) {
            return Poll::Ready(Err(StoreError::new(StoreErrorKind::Timeout)));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Store for Slow {
    type Deciding = SlowAnswer;

    fn decide(&self, _: Op, _: &Hits) -> SlowAnswer {
        SlowAnswer { looked: false }
    }
}

#[test]
fn the_service_that_was_ready_is_the_one_that_is_called() {
    let mut any = rule("any", Quota::per_minute(9));
    any.when_down = WhenDown::Allow;
    let policy = Policy::new([any]).unwrap();
    let mut waiting = RateLimitLayer::new(Limiter::new(policy, Slow)).layer(OnlyWhenReady { ready: false });
    for _ in 0..3 {
        assert_eq!(send(&mut waiting, request("GET", "/")).status, StatusCode::OK);
    }
    let mut at_once = RateLimitLayer::new(Stand::of_rules([rule("any", Quota::per_minute(9))]).limiter)
        .layer(OnlyWhenReady { ready: false });
    for _ in 0..3 {
        assert_eq!(send(&mut at_once, request("GET", "/")).status, StatusCode::OK);
    }
}
