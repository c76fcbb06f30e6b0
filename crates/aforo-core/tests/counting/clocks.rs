//! Clocks that stand still, step back and leap.

use aforo_core::{Algorithm, Cost, Moment};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{beginnings, cases, quotas, unsteady};

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_frozen_instant_admits_exactly_what_can_be_had_at_once(
        quota in quotas(), now in beginnings(), parts in 1_u32..50,
    ) {
        let part = Cost::new((quota.at_once() / parts).max(1));
        let mut counter = Counter::default();
        let admitted = (0..2 * parts + 60).filter(|_| counter.take(&quota, part, now).allowed()).count() as u32;
        prop_assert_eq!(admitted, (quota.at_once() / part.units()).min(2 * parts + 60));
    }

    #[test]
    fn the_moments_that_are_counted_by_never_admit_more_than_the_worst_case(
        quota in quotas(), start in beginnings(), steps in unsteady(80),
    ) {
        // The time that truly passed is unknown where a clock has stepped. What counts is the moment written down.
        let (mut counter, mut now) = (Counter::default(), start);
        let mut passed: Vec<(Moment, u64)> = Vec::new();
        for step in steps {
            now = step.gap.after(&quota, now);
            let cost = step.ask.of(&quota);
            if cost.units() > 0 && counter.take(&quota, cost, now).allowed() {
                passed.push((counter.state().charged_at(), u64::from(cost.units())));
            }
        }
        if matches!(quota.algorithm(), Algorithm::TokenBucket { .. } | Algorithm::SlidingLog) {
            prop_assert!(passed.is_sorted_by_key(|(at, _)| *at), "nothing is written before what is written");
        }
        for (from, _) in &passed {
            let stretch = passed.iter().filter(|(at, _)| at >= from && at.micros_since(*from) < quota.window_micros());
            let units: u64 = stretch.map(|(_, units)| units).sum();
            prop_assert!(units <= quota.worst_case(), "{units} passed from {from:?} on");
        }
    }

    #[test]
    fn when_the_clock_has_caught_up_it_is_as_if_it_had_never_stepped(
        quota in quotas(), start in beginnings(), steps in unsteady(30), back in 1_u64..100_000,
    ) {
        let (mut counter, mut now) = (Counter::default(), start);
        for step in steps {
            now = step.gap.after(&quota, now);
            counter.take(&quota, step.ask.of(&quota), now);
        }
        let there = counter.standing(&quota, now);
        let earlier = Moment::from_micros(now.as_micros().saturating_sub(quota.window_micros() * back / 1_000));
        let stepped = counter.standing(&quota, earlier);
        prop_assert!(stepped.remaining <= there.remaining, "time that has not passed gives nothing back");
        prop_assert!(!counter.weigh(&quota, Cost::new(stepped.remaining.saturating_add(1)), earlier).allowed()
            || stepped.remaining == u32::MAX);
        prop_assert_eq!(counter.standing(&quota, now), there, "looking from there has changed nothing");
    }
}
