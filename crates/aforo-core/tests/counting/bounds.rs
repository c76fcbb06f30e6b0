//! How much passes in any stretch of time: never more than the worst case that a quota states, and nearly that much.

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{beginnings, cases, quotas, steady};

/// What passed, and when.
#[derive(Default)]
struct Passed(Vec<(Moment, u64)>);

impl Passed {
    fn push(&mut self, now: Moment, cost: Cost) {
        self.0.push((now, u64::from(cost.units())));
    }

    /// The most in any stretch of a window's length, its end outside.
    fn most(&self, quota: &Quota) -> u64 {
        let within = |from: Moment| {
            let stretch = self.0.iter().filter(|(at, _)| *at >= from && at.micros_since(from) < quota.window_micros());
            stretch.map(|(_, units)| units).sum()
        };
        self.0.iter().map(|(from, _)| within(*from)).max().unwrap_or(0)
    }
}

/// Takes all that is left.
fn drain(counter: &mut Counter, quota: &Quota, now: Moment, passed: &mut Passed) {
    let left = Cost::new(counter.standing(quota, now).remaining);
    assert!(counter.take(quota, left, now).allowed());
    passed.push(now, left);
}

/// The traffic that gets the most out of a quota within a window's length, beginning at a boundary of windows.
fn worst(quota: &Quota, boundary: Moment) -> u64 {
    let window = quota.window_micros();
    let (mut counter, mut passed) = (Counter::default(), Passed::default());
    let mut drain_at = |micros: u64| drain(&mut counter, quota, Moment::from_micros(micros), &mut passed);
    let begin = boundary.as_micros();
    match quota.algorithm() {
        Algorithm::TokenBucket { .. } => {
            for part in 0..128 {
                drain_at(begin + (window - 1) * part / 127);
            }
        }
        Algorithm::FixedWindow(Anchor::Epoch) => [begin - 1, begin].into_iter().for_each(drain_at),
        Algorithm::FixedWindow(Anchor::FirstHit) => {
            assert!(counter.take(quota, Cost::ONE, Moment::from_micros(begin)).allowed());
            for micros in [begin + window - 1, begin + window] {
                drain(&mut counter, quota, Moment::from_micros(micros), &mut passed);
            }
        }
        Algorithm::SlidingWindow => [begin - 1, begin + window - 2].into_iter().for_each(drain_at),
        Algorithm::SlidingLog => drain_at(begin),
    }
    passed.most(quota)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn no_stretch_of_a_windows_length_admits_more_than_the_worst_case(
        quota in quotas(), start in beginnings(), steps in steady(80),
    ) {
        let (mut counter, mut now, mut passed) = (Counter::default(), start, Passed::default());
        for step in steps {
            now = step.gap.after(&quota, now);
            let cost = step.ask.of(&quota);
            if counter.take(&quota, cost, now).allowed() {
                passed.push(now, cost);
            }
        }
        prop_assert!(passed.most(&quota) <= quota.worst_case(), "{} passed", passed.most(&quota));
    }

    #[test]
    fn who_always_takes_all_that_is_left_stays_within_the_worst_case(
        quota in quotas(), start in beginnings(), steps in steady(80),
    ) {
        let (mut counter, mut now, mut passed) = (Counter::default(), start, Passed::default());
        for step in steps {
            now = step.gap.after(&quota, now);
            drain(&mut counter, &quota, now, &mut passed);
        }
        prop_assert!(passed.most(&quota) <= quota.worst_case(), "{} passed", passed.most(&quota));
    }

    #[test]
    fn the_worst_traffic_comes_within_a_unit_of_the_worst_case(quota in quotas(), window in 2_u64..1_000) {
        let boundary = Moment::from_micros(window * quota.window_micros());
        let ticks = quota.window_micros() / u64::from(quota.grain().tick);
        // Two things keep traffic away from the bound: a share of the window before that is worth more than a unit in
        // its last two ticks, and a bucket that runs over between two of the takes above.
        prop_assume!(2 * u64::from(quota.limit()) <= ticks || quota.algorithm() != Algorithm::SlidingWindow);
        if let Algorithm::TokenBucket { burst } = quota.algorithm() {
            prop_assume!(u64::from(burst) * 100 >= u64::from(quota.limit()) + 100);
            prop_assume!(ticks >= u64::from(quota.limit()));
        }
        prop_assert!(worst(&quota, boundary) + 1 >= quota.worst_case(), "{} passed", worst(&quota, boundary));
    }
}
