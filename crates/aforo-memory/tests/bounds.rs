//! How much memory the store keeps, and what happens when it may keep no more.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::num::NonZeroUsize;
use std::time::Duration;

use aforo_core::{Cost, Decision, Hit, Hits, Key, ManualClock, Moment, Op, Quota};
use aforo_memory::MemoryStore;

const START: Moment = Moment::from_millis(1_700_000_000_000);
const SECOND: Duration = Duration::from_secs(1);

fn store(max_keys: usize) -> MemoryStore<ManualClock> {
    MemoryStore::with_clock(ManualClock::at(START)).max_keys(NonZeroUsize::new(max_keys).unwrap())
}

fn hit(subject: &[u8], quota: Quota) -> Hit {
    Hit::new(Key::new(b"rule", subject).unwrap(), quota)
}

fn take(store: &MemoryStore<ManualClock>, subject: &[u8], quota: Quota) -> Decision {
    store.decide_now(Op::Take, &Hits::one(hit(subject, quota)))
}

/// Brings keys that nobody has brought before.
fn flood(store: &MemoryStore<ManualClock>, numbers: std::ops::Range<u64>, quota: Quota) -> u64 {
    numbers.map(|number| u64::from(take(store, &number.to_be_bytes(), quota).allowed())).sum()
}

#[test]
fn keys_that_owe_nothing_go_while_others_are_served() {
    let store = store(1_000_000);
    flood(&store, 0..200_000, Quota::per_second(10));
    assert_eq!(store.keys(), 200_000);
    // One request a second, always of the same client.
    for _ in 0..120 {
        store.clock().advance(SECOND);
        assert!(take(&store, b"client", Quota::per_second(10)).allowed());
    }
    assert_eq!(store.keys(), 1);
}

#[test]
fn a_store_that_nobody_asks_is_swept_from_outside() {
    let store = store(1_000_000);
    let quota = Quota::per_second(10);
    for quota in [quota, quota.fixed_window(), quota.sliding_window(), quota.sliding_log()] {
        flood(&store, 0..50_000, quota);
    }
    store.clock().advance(20 * SECOND);
    for _ in 0..100 {
        store.sweep();
    }
    assert_eq!(store.keys(), 0);
}

#[test]
fn a_key_in_debt_is_never_swept() {
    let store = store(1_000_000);
    let quota = Quota::per_minute(60);
    let all = Hit { cost: Cost::new(60), ..hit(b"in debt", quota) };
    assert!(store.decide_now(Op::Take, &Hits::one(all)).allowed());
    store.clock().advance(Duration::from_micros(59_999_999));
    for _ in 0..100 {
        store.sweep();
    }
    assert_eq!(store.keys(), 1);
    assert_eq!(store.decide_now(Op::Peek, &Hits::one(all)).verdicts().next().unwrap().remaining, 59);
}

#[test]
fn a_key_that_came_back_stays_ten_seconds_and_one_that_did_not_goes_at_once() {
    let store = store(1_000_000);
    let quota = Quota::per_second(10);
    let sweep = || (0..100).for_each(|_| store.sweep());
    let _ = take(&store, b"once", quota);
    let _ = take(&store, b"twice", quota);
    let _ = take(&store, b"twice", quota);
    store.clock().advance(SECOND);
    sweep();
    assert_eq!(store.keys(), 1);
    store.clock().advance(8 * SECOND + Duration::from_micros(999_999));
    sweep();
    assert_eq!(store.keys(), 1);
    store.clock().advance(Duration::from_micros(1));
    sweep();
    assert_eq!(store.keys(), 0);
}

#[test]
fn a_flood_of_new_keys_is_bounded_and_a_client_keeps_its_own_counter() {
    const MAX: usize = 20_000;
    let store = store(MAX);
    let quota = Quota::per_second(5);
    // The client has been here before, and comes four times a second, which its quota allows; the flood is ten
    // seconds of a million new keys each, every one in debt for 200 ms.
    assert!(take(&store, b"client", quota).allowed());
    let mut number = 0;
    for step in 0..10_000u64 {
        if step % 250 == 0 {
            let met = store.overflowed();
            assert!(take(&store, b"client", quota).allowed(), "after {step} ms");
            assert_eq!(store.overflowed(), met, "the client shares a counter after {step} ms");
        }
        flood(&store, number..number + 1_000, quota);
        number += 1_000;
        assert!(store.keys() <= MAX);
        store.clock().advance(Duration::from_millis(1));
    }
    assert!(store.overflowed() > 9_000_000, "{}", store.overflowed());
    store.clock().advance(60 * SECOND);
    (0..100).for_each(|_| store.sweep());
    assert_eq!(store.keys(), 0);
}

#[test]
fn new_keys_share_sixteen_counters_when_there_is_no_room() {
    let store = store(100);
    let quota = Quota::per_hour(50);
    assert_eq!(flood(&store, 0..100, quota), 100);
    assert_eq!((store.keys(), store.overflowed()), (100, 0));
    assert_eq!(flood(&store, 100..20_000, quota), 16 * 50);
    assert_eq!((store.keys(), store.overflowed()), (100, 19_900));
    // Another rule has counters of its own.
    let other = Hits::one(Hit::new(Key::new(b"other", b"subject").unwrap(), quota));
    assert!(store.decide_now(Op::Take, &other).allowed());
    // Who has a counter keeps it, and its debt.
    let own = take(&store, &0u64.to_be_bytes(), quota);
    assert_eq!(own.verdicts().next().unwrap().remaining, 48);
}

#[test]
fn a_refused_request_leaves_no_key_behind() {
    let store = store(10);
    let quota = Quota::per_second(5);
    for subject in 0..100u64 {
        let dear = Hit { cost: Cost::new(6), ..hit(&subject.to_be_bytes(), quota) };
        assert!(!store.decide_now(Op::Take, &Hits::one(dear)).allowed());
        let fits = hit(&subject.to_be_bytes(), quota);
        assert!(!store.decide_now(Op::Take, &[fits, dear].into_iter().collect()).allowed());
        let _ = store.decide_now(Op::Peek, &Hits::one(fits));
    }
    assert_eq!((store.keys(), store.overflowed()), (0, 0));
}

#[test]
fn a_refund_that_clears_a_key_frees_its_place() {
    let store = store(1);
    let quota = Quota::per_hour(5);
    for quota in [quota, quota.fixed_window(), quota.sliding_window(), quota.sliding_log()] {
        let decision = take(&store, b"one", quota);
        assert_eq!(store.keys(), 1);
        let refund = Op::Refund { taken_at: decision.taken_at() };
        let after = store.decide_now(refund, &Hits::one(hit(b"one", quota)));
        assert_eq!((after.verdicts().next().unwrap().remaining, store.keys()), (5, 0), "{quota:?}");
    }
    assert_eq!(store.overflowed(), 0);
}

#[test]
fn what_was_counted_in_an_overflow_counter_is_refunded_there() {
    let store = store(1);
    let quota = Quota::per_hour(5);
    let _ = take(&store, b"first", quota);
    let decision = take(&store, b"second", quota);
    assert_eq!(decision.verdicts().next().unwrap().remaining, 4);
    let refund = Op::Refund { taken_at: decision.taken_at() };
    let after = store.decide_now(refund, &Hits::one(hit(b"second", quota)));
    assert_eq!(after.verdicts().next().unwrap().remaining, 5);
}

#[test]
fn a_forgotten_key_is_fresh() {
    let store = store(10);
    let quota = Quota::per_hour(5);
    for quota in [quota, quota.fixed_window(), quota.sliding_window(), quota.sliding_log()] {
        let key = hit(b"one", quota).key;
        assert!(!store.forget(&key));
        let _ = take(&store, b"one", quota);
        let _ = take(&store, b"one", quota);
        assert!(store.forget(&key));
        assert_eq!(store.keys(), 0);
        assert_eq!(take(&store, b"one", quota).verdicts().next().unwrap().remaining, 4);
        assert!(store.forget(&key));
    }
}

#[test]
fn two_hits_of_one_new_key_take_the_room_of_one() {
    let store = store(10);
    let quota = Quota::per_hour(5);
    for (number, quota) in [quota, quota.fixed_window(), quota.sliding_window(), quota.sliding_log()].iter().enumerate()
    {
        let hit = hit(&number.to_be_bytes(), *quota);
        assert!(store.decide_now(Op::Take, &[hit, hit].into_iter().collect()).allowed());
        assert_eq!(store.keys(), number + 1);
    }
}

#[test]
fn a_refund_that_drops_a_key_answers_for_that_key_and_not_for_its_neighbour() {
    let store = store(10_000);
    let quota = Quota::per_hour(5);
    let hits = |number: u64| Hits::one(hit(&number.to_be_bytes(), quota));
    let decisions: Vec<_> = (0..5_000).map(|number| store.decide_now(Op::Take, &hits(number))).collect();
    for (number, decision) in (0..).zip(decisions) {
        let after = store.decide_now(Op::Refund { taken_at: decision.taken_at() }, &hits(number));
        assert_eq!(after.verdicts().next().unwrap().remaining, 5);
    }
    assert_eq!(store.keys(), 0);
}

#[test]
fn a_key_that_is_dropped_while_its_request_is_decided_is_not_counted_twice() {
    // Many keys in few shards: one hit's counter, which owes nothing any more, is a neighbour of another's place.
    let store = store(100_000);
    let quota = Quota::per_second(10);
    for round in 0..50u64 {
        for known in 0..200u64 {
            let new = 1_000 + round * 200 + known;
            let hits = [hit(&known.to_be_bytes(), quota), hit(&new.to_be_bytes(), quota)];
            assert!(store.decide_now(Op::Take, &hits.into_iter().collect()).allowed());
        }
        store.clock().advance(20 * SECOND);
    }
    (0..100).for_each(|_| store.sweep());
    assert_eq!((store.keys(), store.overflowed()), (0, 0));
}
