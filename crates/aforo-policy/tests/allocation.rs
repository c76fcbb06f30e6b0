//! From descriptor to decision nothing is allocated.
//!
//! One test alone in its program: the allocator counts for all threads.

mod request;

use std::alloc::System;
use std::hint::black_box;

use aforo_core::{ManualClock, Moment};
use aforo_memory::MemoryStore;
use aforo_policy::{Alone, File, Limiter};
use aforo_testkit::block_on;
use request::Request;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const POLICY: &str = r#"
rules:
  short: { quota: 5/s, per: [client, route] }
  medium: { quota: 300/min, algorithm: sliding-window, per: [ip, path, host] }
  keyed: { quota: 5000/h, per: header:x-api-key }
  planned: { quota: 5000/h, per: [user, plan], plans: { pro: 50000/h, partner: unlimited } }
  sent: { quota: 5000/h, per: ["cookie:session", "query:key"] }
client: { ipv4_prefix: 24, ipv6_prefix: 96 }
routes:
  - match: GET /orders/{id}/lines/{line}
    rules: { lines: { quota: 5/s, per: everyone } }
exempt:
  - path: /health
  - { cidr: [192.0.2.0/24, private], path: /webhooks }
  - token: { header: x-bypass, values: [hunter2] }
"#;

#[test]
fn a_decision_allocates_nothing() {
    let policy = File::read("policy.yaml", POLICY, &Alone).unwrap_or_else(|mistakes| panic!("{mistakes}")).policy;
    let store = || MemoryStore::with_clock(ManualClock::at(Moment::from_millis(1_780_000_000_000)));
    let limiter = Limiter::new(policy, store()).with_fallback(store());
    let long = "k".repeat(500);
    let requests = [
        Request::new("GET", "/orders/7/lines/1").with_header("x-api-key", "abc"),
        Request::new("GET", "/orders/7/lines/1").with_header("x-api-key", &long),
        Request { address: "2001:db8::1".parse().ok(), ..Request::new("POST", "/unmatched") },
        Request { other_path: Some("/orders/7%2Flines/1".into()), ..Request::new("GET", "/orders/7/lines/1") },
        Request::new("GET", "/orders/7/lines/1").by("alice", Some("pro")),
        Request::new("GET", "/orders/7/lines/1").by(&long, Some("partner")).with_header("cookie", "session=abc"),
        Request { query: vec![("key".into(), "abc".into())], ..Request::new("GET", "/") },
        Request::new("GET", "/health"),
        Request::new("POST", "/webhooks").from("192.0.2.7"),
        Request::new("POST", "/orders").with_header("x-bypass", "hunter2"),
        Request::new("POST", "/orders").with_header("x-bypass", "hunter3"),
        Request::preflight("/orders"),
    ];
    let ask = || {
        for request in &requests {
            let answer = black_box(block_on(limiter.take(request)));
            black_box(answer.rules().filter(|(rule, verdict)| rule.name() == "short" && verdict.allowed()).count());
            black_box((answer.near(), answer.outcome(), answer.route().is_some()));
        }
    };
    ask();
    // The thread that runs the tests may allocate beside this one, now and then; what allocates here does so each time.
    let allocations = (0..5).map(|_| {
        let region = Region::new(ALLOCATOR);
        (0..200).for_each(|_| ask());
        region.change().allocations + region.change().reallocations
    });
    assert_eq!(allocations.min(), Some(0));
}
