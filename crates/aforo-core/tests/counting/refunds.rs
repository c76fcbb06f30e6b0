//! Giving back is the inverse of taking, and never more.

use aforo_core::{Cost, Moment, Quota};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{Step, beginnings, cases, quotas, steady};

fn run(quota: &Quota, start: Moment, steps: Vec<Step>) -> (Counter, Moment) {
    let (mut counter, mut now) = (Counter::default(), start);
    for step in steps {
        now = step.gap.after(quota, now);
        counter.take(quota, step.ask.of(quota), now);
    }
    (counter, now)
}

fn refund(counter: &mut Counter, quota: &Quota, cost: Cost, now: Moment, taken_at: Moment) {
    let weighed = counter.weigh(quota, cost, now);
    counter.refund(quota, cost, &weighed, taken_at);
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn a_take_that_is_given_back_was_never_taken(
        quota in quotas(), start in beginnings(), steps in steady(20), share in 1_u64..=1_000, later in 0_u64..2_500,
    ) {
        let (untouched, now) = run(&quota, start, steps);
        let left = u64::from(untouched.standing(&quota, now).remaining);
        let cost = Cost::new((left * share).div_ceil(1_000) as u32);
        let mut counter = untouched.clone();
        prop_assert!(counter.take(&quota, cost, now).allowed());
        let then = now.plus_micros(quota.window_micros() * later / 1_000);
        refund(&mut counter, &quota, cost, then, now);
        prop_assert_eq!(counter.standing(&quota, then), untouched.standing(&quota, then));
        for cost in [Cost::ONE, Cost::new(quota.at_once())] {
            prop_assert_eq!(counter.weigh(&quota, cost, then).wait, untouched.weigh(&quota, cost, then).wait);
        }
    }

    #[test]
    fn what_was_taken_in_a_window_that_is_gone_is_not_given_back(
        quota in quotas(), start in beginnings(), share in 1_u64..=1_000, later in 0_u64..2_000,
    ) {
        let gone = (2 * quota.window_micros()).max(quota.time_to_full().as_micros() as u64);
        let now = start.plus_micros(gone + quota.window_micros() * later / 1_000);
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(quota.at_once()), start);
        let cost = Cost::new((u64::from(quota.at_once()) * share / 1_000).max(1) as u32);
        prop_assert!(counter.take(&quota, cost, now).allowed());
        let before = counter.standing(&quota, now);
        refund(&mut counter, &quota, cost, now, start);
        prop_assert_eq!(counter.standing(&quota, now), before);
    }

    #[test]
    fn refunds_in_any_number_leave_no_more_than_the_quota(
        quota in quotas(), start in beginnings(), steps in steady(20), refunds in prop::collection::vec(0_u64..3_000, 1..6),
    ) {
        let (mut counter, now) = run(&quota, start, steps);
        for ago in refunds {
            let before = counter.standing(&quota, now).remaining;
            let taken_at = Moment::from_micros(now.as_micros().saturating_sub(quota.window_micros() * ago / 1_000));
            refund(&mut counter, &quota, Cost::new(u32::MAX), now, taken_at);
            let after = counter.standing(&quota, now).remaining;
            prop_assert!((before..=quota.at_once()).contains(&after), "{before}, then {after}");
        }
        prop_assert!(!counter.weigh(&quota, Cost::new(quota.at_once().saturating_add(1)), now).allowed()
            || quota.at_once() == u32::MAX);
    }
}

#[test]
fn a_moment_at_which_nothing_was_taken_gives_nothing_back() {
    let now = Moment::from_millis(1_780_000_000_500);
    let quota = Quota::per_second(5);
    for quota in [quota.fixed_window(), quota.sliding_window(), quota.sliding_log()] {
        for taken_at in [Moment::EPOCH, now.plus_micros(500_000), now.plus_micros(7_000_000)] {
            let mut counter = Counter::default();
            counter.take(&quota, Cost::new(4), now);
            refund(&mut counter, &quota, Cost::new(4), now, taken_at);
            assert_eq!(counter.standing(&quota, now).remaining, 1, "{quota:?}, {taken_at:?}");
        }
    }
}

#[test]
fn of_two_counters_only_the_one_that_was_charged_gives_back() {
    let quota = Quota::per_second(5).sliding_window();
    let at = |window: u64| Moment::from_millis(1_780_000_000_000 + window * 1_000);
    let mut counter = Counter::default();
    counter.take(&quota, Cost::new(3), at(0));
    counter.take(&quota, Cost::new(2), at(1));
    for (taken_at, remaining) in [(at(0), 3), (at(1), 5)] {
        refund(&mut counter, &quota, Cost::new(2), at(2), taken_at);
        assert_eq!(counter.standing(&quota, at(2)).remaining, remaining, "{taken_at:?}");
    }
}
