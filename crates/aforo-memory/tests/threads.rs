//! Many threads, one store: what is admitted is what the quota says, to the unit.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use aforo_core::{Cost, Hit, Hits, Key, ManualClock, Moment, Op, Quota};
use aforo_memory::MemoryStore;

const THREADS: usize = 8;
const START: Moment = Moment::from_millis(1_700_000_000_000);

fn store() -> MemoryStore<ManualClock> {
    MemoryStore::with_clock(ManualClock::at(START))
}

fn hit(rule: &str, subject: &str, quota: Quota) -> Hit {
    Hit::new(Key::new(rule.as_bytes(), subject.as_bytes()).unwrap(), quota)
}

/// Lets all threads begin at once, and counts what `work` says was admitted.
fn admitted(work: impl Fn(usize) -> u32 + Sync) -> u32 {
    let (barrier, admitted) = (Barrier::new(THREADS), AtomicU32::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, admitted, work) = (&barrier, &admitted, &work);
            scope.spawn(move || {
                barrier.wait();
                admitted.fetch_add(work(thread), Ordering::Relaxed);
            });
        }
    });
    admitted.into_inner()
}

fn takes(store: &MemoryStore<ManualClock>, hits: &Hits, times: u32) -> u32 {
    (0..times).map(|_| u32::from(store.decide_now(Op::Take, hits).allowed())).sum()
}

#[test]
fn one_key_admits_exactly_the_quota_under_every_algorithm() {
    let quota = Quota::per_minute(5_000);
    for quota in [quota, quota.fixed_window(), quota.sliding_window(), quota.sliding_log()] {
        let store = store();
        let hits = Hits::one(hit("rule", "subject", quota));
        assert_eq!(admitted(|_| takes(&store, &hits, 2_000)), 5_000, "{quota:?}");
    }
}

#[test]
fn several_rules_are_charged_together_or_not_at_all() {
    let store = store();
    let narrow = Quota::per_minute(300);
    let wide = Quota::per_minute(100_000);
    let all = hit("all", "", Quota::per_minute(1_500));
    // Each thread asks for its rules in another order: the locks must not.
    let hits = |thread: usize| {
        let mut three = [hit("narrow", &thread.to_string(), narrow), hit("wide", "", wide), all];
        three.rotate_left(thread % 3);
        three.into_iter().collect::<Hits>()
    };
    let admitted = admitted(|thread| takes(&store, &hits(thread), 1_000));
    assert_eq!(admitted, 1_500);

    let used = |hit: Hit| {
        let verdict = *store.decide_now(Op::Peek, &Hits::one(hit)).verdicts().next().unwrap();
        verdict.limit - verdict.remaining
    };
    assert_eq!(used(all), 1_500);
    assert_eq!(used(hit("wide", "", wide)), 1_500);
    let narrow: u32 = (0..THREADS).map(|thread| used(hit("narrow", &thread.to_string(), narrow))).sum();
    assert_eq!(narrow, 1_500);
}

#[test]
fn eight_rules_in_any_order_do_not_wait_for_each_other_for_ever() {
    let store = store();
    let quota = Quota::per_minute(1_000_000);
    let admitted = admitted(|thread| {
        let mut names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        names.rotate_left(thread);
        let hits = names.iter().map(|name| hit(name, "", quota)).collect();
        takes(&store, &hits, 2_000)
    });
    assert_eq!(admitted, 16_000);
}

#[test]
fn what_is_given_back_while_others_take_is_had_once() {
    let store = store();
    let quota = Quota::per_hour(1_000);
    let hits = Hits::one(hit("rule", "subject", quota));
    let kept = admitted(|_| {
        let mut kept = 0;
        for round in 0..1_000 {
            let decision = store.decide_now(Op::Take, &hits);
            match decision.allowed() {
                true if round % 2 == 0 => {
                    let _ = store.decide_now(Op::Refund { taken_at: decision.taken_at() }, &hits);
                }
                allowed => kept += u32::from(allowed),
            }
        }
        kept
    });
    let left = store.decide_now(Op::Peek, &hits).verdicts().next().unwrap().remaining;
    assert_eq!(kept + left, 1_000);
}

#[test]
fn threads_that_bring_new_keys_lose_none() {
    let store = store();
    let quota = Quota::per_hour(2);
    let admitted = admitted(|thread| {
        // Every key comes by way of two threads.
        let keys = (0..20_000).map(|key| (key + thread / 2 * 20_000).to_string());
        keys.map(|key| takes(&store, &Hits::one(Hit { cost: Cost::new(2), ..hit("rule", &key, quota) }), 1)).sum()
    });
    assert_eq!((admitted, store.keys()), (80_000, 80_000));
}
