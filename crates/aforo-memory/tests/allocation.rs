//! From key to decision nothing is allocated, and what was allocated for keys is given back when they idle.
//!
//! One test alone in its program: the allocator counts for all threads.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::alloc::System;
use std::hint::black_box;
use std::time::Duration;

use aforo_core::{Hit, Hits, Key, ManualClock, Moment, Op, Quota};
use aforo_memory::MemoryStore;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const KEYS: u64 = 200_000;

fn hits(number: u64, quota: Quota) -> Hits {
    let subject = number.to_be_bytes();
    let rules = [&b"short"[..], b"medium", b"long"].map(|rule| Key::new(rule, &subject).unwrap());
    rules.into_iter().map(|key| Hit::new(key, quota)).collect()
}

fn held(region: &Region<System>) -> usize {
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

#[test]
fn a_decision_allocates_nothing_and_idle_keys_hold_nothing() {
    let store = MemoryStore::with_clock(ManualClock::at(Moment::from_millis(1_700_000_000_000)));
    let empty = Region::new(ALLOCATOR);
    let quota = Quota::per_second(5);

    for number in 0..KEYS {
        let key = Key::new(b"rule", &number.to_be_bytes()).unwrap();
        assert!(store.decide_now(Op::Take, &Hits::one(Hit::new(key, quota))).allowed());
    }
    let bytes_a_key = held(&empty) as f64 / KEYS as f64;
    assert!(bytes_a_key <= 64.0, "{bytes_a_key} bytes a key");

    let windows = [quota, quota.fixed_window(), quota.sliding_window()];
    for quota in windows {
        let _ = store.decide_now(Op::Take, &hits(KEYS, quota));
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..10_000 {
        for quota in windows {
            let decision = black_box(store.decide_now(Op::Take, &hits(KEYS, quota)));
            black_box(decision.verdicts().map(|verdict| (verdict.remaining, verdict.retry())).last());
            let _ = black_box(store.decide_now(Op::Peek, &hits(KEYS + 1, quota)));
        }
    }
    assert_eq!(region.change().allocations + region.change().reallocations, 0);

    let full = held(&empty);
    for _ in 0..200 {
        store.clock().advance(Duration::from_secs(1));
        let _ = store.decide_now(Op::Take, &hits(KEYS, quota));
    }
    assert_eq!(store.keys(), 3);
    let kept = held(&empty) as f64 / full as f64;
    assert!(kept < 0.05, "{kept} of the memory is kept");
}
