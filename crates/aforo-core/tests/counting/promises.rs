//! What is said about time to come is true, to the microsecond.

use aforo_core::{Algorithm, Cost, Moment, Quota, Weighed};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{Step, beginnings, cases, quotas, unsteady};

/// The moment that promises count from: what the clock shows for a bucket, else the one that is counted by.
pub(crate) fn seen(quota: &Quota, weighed: &Weighed, now: Moment) -> Moment {
    if matches!(quota.algorithm(), Algorithm::TokenBucket { .. }) { now } else { weighed.from }
}

fn run(quota: &Quota, start: Moment, steps: Vec<Step>) -> (Counter, Moment) {
    let (mut counter, mut now) = (Counter::default(), start);
    for step in steps {
        now = step.gap.after(quota, now);
        counter.take(quota, step.ask.of(quota), now);
    }
    (counter, now)
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn a_refused_cost_fits_exactly_when_promised_and_not_a_microsecond_before(
        quota in quotas(), start in beginnings(), steps in unsteady(30), share in 0_u64..=1_000,
    ) {
        let (counter, now) = run(&quota, start, steps);
        let part = (u64::from(quota.at_once()) * share / 1_000) as u32;
        for cost in [1, part, quota.at_once()].map(Cost::new) {
            let weighed = counter.weigh(&quota, cost, now);
            let from = seen(&quota, &weighed, now);
            match weighed.wait.as_micros() {
                Some(0) => prop_assert!(weighed.allowed()),
                Some(wait) => {
                    prop_assert!(!counter.weigh(&quota, cost, from.plus_micros(wait - 1)).allowed());
                    prop_assert!(counter.weigh(&quota, cost, from.plus_micros(wait)).allowed());
                }
                None => prop_assert!(false, "{cost:?} can be had at once, so it fits some day"),
            }
        }
    }

    #[test]
    fn a_key_is_as_new_exactly_when_promised_and_not_a_microsecond_before(
        quota in quotas(), start in beginnings(), steps in unsteady(30),
    ) {
        let (counter, now) = run(&quota, start, steps);
        let weighed = counter.weigh(&quota, Cost::new(0), now);
        let (from, reset) = (seen(&quota, &weighed, now), counter.standing(&quota, now).reset_micros);
        prop_assert_eq!(counter.standing(&quota, from.plus_micros(reset)).remaining, quota.at_once());
        if reset > 0 && *counter.state() != aforo_core::State::Fresh {
            let before = counter.standing(&quota, from.plus_micros(reset - 1));
            prop_assert!(before.reset_micros == 1, "{before:?}");
        }
    }

    #[test]
    fn a_cost_beyond_what_can_be_had_at_once_never_fits(
        quota in quotas(), start in beginnings(), steps in unsteady(20), more in 1_u32..1_000, years in 0_u64..30,
    ) {
        prop_assume!(quota.at_once() < u32::MAX);
        let (counter, now) = run(&quota, start, steps);
        let later = now.plus_micros(years * 365 * 86_400 * 1_000_000);
        let weighed = counter.weigh(&quota, Cost::new(quota.at_once().saturating_add(more)), later);
        prop_assert_eq!((weighed.wait.as_micros(), weighed.after), (None, weighed.before));
    }

    #[test]
    fn a_refusal_and_a_cost_of_zero_change_nothing(
        quota in quotas(), start in beginnings(), steps in unsteady(30),
    ) {
        let (mut counter, mut now) = (Counter::default(), start);
        for step in steps {
            now = step.gap.after(&quota, now);
            let before = counter.clone();
            let cost = step.ask.of(&quota);
            let weighed = counter.take(&quota, cost, now);
            if !weighed.allowed() || cost.units() == 0 {
                prop_assert_eq!(&counter, &before);
                prop_assert_eq!(weighed.after, weighed.before);
            }
            prop_assert!(cost.units() > 0 || weighed.allowed());
        }
    }

    #[test]
    fn a_key_that_is_forgotten_when_it_owes_nothing_is_not_missed(
        quota in quotas(), start in beginnings(), steps in unsteady(40),
    ) {
        let (mut kept, mut swept, mut now) = (Counter::default(), Counter::default(), start);
        for step in steps {
            let before = now;
            now = step.gap.after(&quota, now);
            // A store forgets by its own clock: where that steps back, what it forgot was forgotten too early.
            if now < before {
                now = before;
            }
            if swept.state().is_clear(now) {
                prop_assert!(swept.state().clear_at() <= now);
                swept = Counter::default();
            } else {
                prop_assert!(swept.state().clear_at() > now);
            }
            let cost = step.ask.of(&quota);
            prop_assert_eq!(kept.take(&quota, cost, now).wait, swept.take(&quota, cost, now).wait);
            prop_assert_eq!(kept.standing(&quota, now), swept.standing(&quota, now));
        }
    }
}
