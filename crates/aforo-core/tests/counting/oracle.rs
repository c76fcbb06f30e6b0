//! The engine and the slow exact model say the same, to the microsecond.

use aforo_core::{Cost, standing};
use aforo_testkit::{Answer, Counter, Oracle};
use proptest::prelude::*;

use crate::histories::{beginnings, cases, quotas, unsteady};

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn every_answer_is_the_oracles(quota in quotas(), start in beginnings(), steps in unsteady(40)) {
        let (mut counter, mut oracle, mut now) = (Counter::default(), Oracle::new(quota), start);
        for step in steps {
            now = step.gap.after(&quota, now);
            let cost = step.ask.of(&quota);
            let weighed = counter.take(&quota, cost, now);
            let stands = standing(&quota, &weighed.after, weighed.from);
            let answer = Answer {
                wait: weighed.wait.as_micros(),
                remaining: stands.remaining,
                reset_micros: stands.reset_micros,
            };
            prop_assert_eq!(answer, oracle.take(cost, now), "{:?} at {:?}", cost, now);
            prop_assert_eq!(stands, counter.standing(&quota, now), "what was weighed is what was written");
        }
    }

    #[test]
    fn every_answer_is_the_oracles_where_refusals_are_charged(
        quota in quotas(), start in beginnings(), steps in unsteady(30),
    ) {
        let (mut counter, mut oracle, mut now) = (Counter::default(), Oracle::new(quota), start);
        for step in steps {
            now = step.gap.after(&quota, now);
            let cost = step.ask.of(&quota);
            let weighed = counter.weigh(&quota, cost, now);
            prop_assert_eq!(weighed.wait.as_micros(), oracle.peek(cost, now).wait);
            if weighed.allowed() {
                counter.take(&quota, cost, now);
            } else {
                counter.overcharge(&quota, cost, &weighed);
            }
            oracle.write(cost, now);
            let stands = counter.standing(&quota, now);
            let model = oracle.peek(Cost::new(0), now);
            prop_assert_eq!((stands.remaining, stands.reset_micros), (model.remaining, model.reset_micros));
        }
    }
}
