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
        let [short, long] = [0, 1].map(|_| MemoryStore::with_clock(ManualClock::at(start)));
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
            prop_assert_eq!(answer(&short, Hits::one(hit)), answer(&long, [hit, companion].into_iter().collect()));
        }
    }
}
