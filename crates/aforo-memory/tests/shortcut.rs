//! A request with one hit on a token bucket takes a short cut. It answers what the long way answers.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use aforo_core::{Algorithm, Cost, Hit, Hits, Key, ManualClock, Mode, Moment, Op, Quota, Verdict};
use aforo_memory::MemoryStore;
use proptest::prelude::*;
use std::time::Duration;

fn quota() -> impl Strategy<Value = Quota> {
    let limit = prop_oneof![1..50u32, Just(100_003), Just(3_000_000_000)];
    let window = prop_oneof![Just(1_000u64), Just(1_000_000), Just(7_000_003), Just(60_000_000)];
    (limit, window, 1..50u32).prop_filter_map("not exact", |(limit, window, burst)| {
        let quota = Quota::new(limit, Duration::from_micros(window)).ok()?;
        quota.with_algorithm(Algorithm::TokenBucket { burst }).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_short_cut_leads_where_the_long_way_does(
        quota in quota(),
        steps in prop::collection::vec((0..60u32, -2_000i64..2_000_000, any::<bool>()), 1..60),
    ) {
        let start = Moment::from_millis(1_700_000_000_000);
        let [short, long, lone] = [0, 1, 2].map(|_| MemoryStore::with_clock(ManualClock::at(start)));
        let mut now = start.as_micros() as i64;
        for (cost, passed, shadow) in steps {
            now += passed;
            let key = Key::new(b"rule", b"subject").unwrap();
            let mode = if shadow { Mode::Shadow } else { Mode::Enforce };
            let hit = Hit { cost: Cost::new(cost), mode, ..Hit::new(key, quota) };
            // A companion that always fits keeps the other store off the short cut.
            let companion = Hit { cost: Cost::new(0), ..Hit::new(Key::new(b"rule", b"companion").unwrap(), quota) };
            let answer = |store: &MemoryStore<ManualClock>, hits: Hits| {
                store.clock().set(Moment::from_micros(now as u64));
                let decision = store.decide_now(Op::Take, &hits);
                let first: Verdict = *decision.verdicts().next().unwrap();
                (decision.allowed(), decision.taken_at(), first)
            };
            let answered = answer(&short, Hits::one(hit));
            prop_assert_eq!(answered, answer(&long, [hit, companion].into_iter().collect()));
            lone.clock().set(Moment::from_micros(now as u64));
            let (verdict, taken_at) = lone.decide_one(Op::Take, &hit);
            prop_assert_eq!(answered, (!verdict.refuses(), taken_at, verdict));
        }
    }
}

#[test]
fn a_lone_rule_is_answered_alike_for_every_algorithm_and_operation() {
    let start = Moment::from_millis(1_700_000_000_000);
    let bucket = Quota::per_second(2);
    for quota in [bucket, bucket.fixed_window(), bucket.sliding_window(), bucket.sliding_log()] {
        for count_denied in [false, true] {
            let [lone, collected] = [0, 1].map(|_| MemoryStore::with_clock(ManualClock::at(start)));
            let hit = Hit { count_denied, ..Hit::new(Key::new(b"rule", b"subject").unwrap(), quota) };
            let refund = Op::Refund { taken_at: start };
            for op in [Op::Peek, Op::Take, Op::Take, Op::Take, Op::Peek, refund, Op::Take, refund, refund] {
                let (verdict, taken_at) = lone.decide_one(op, &hit);
                let decision = collected.decide_now(op, &Hits::one(hit));
                assert_eq!((Some(&verdict), taken_at), (decision.verdicts().next(), decision.taken_at()), "{op:?}");
            }
        }
    }
}
