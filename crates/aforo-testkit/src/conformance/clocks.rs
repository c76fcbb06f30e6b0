//! Clocks that run, stand still and step back.

use aforo_core::{Moment, Quota};

use super::{Harness, START, Trial, costing, five_a_second};

/// Admitted exactly when it was promised, and not a microsecond earlier.
pub fn keeps_the_promise_of_its_wait<H: Harness>() {
    for (number, quota) in five_a_second().into_iter().enumerate() {
        let trial = Trial::<H>::start();
        let hit = trial.hit(&number.to_string(), quota);
        trial.take(costing(2, hit));
        trial.after_ms(350).take(costing(3, hit));
        // A bucket has one unit back by now: from two on, all of them wait.
        for cost in 2..=5 {
            let now = START.plus_micros(351_000);
            let wait = trial.at(now).peek(costing(cost, hit)).wait.as_micros().expect("a wait");
            assert!(!trial.at(now.plus_micros(wait - 1)).peek(costing(cost, hit)).allowed(), "{cost} of {quota:?}");
            assert!(trial.at(now.plus_micros(wait)).peek(costing(cost, hit)).allowed(), "{cost} of {quota:?}");
        }
    }
}

/// Moments in any order mint nothing.
pub fn a_clock_that_steps_back_admits_no_more<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        let steps = [500, 100, 499, 0, 300, 500, 200, 400, 1];
        let admitted = steps.iter().cycle().take(200).filter(|ms| trial.after_ms(**ms).take(hit).allowed()).count();
        // Half a second passes: a bucket refills by two, and a boundary of windows may lie in it.
        assert!((5..=10).contains(&admitted), "{admitted} of {quota:?}");
        for ms in steps {
            assert!(trial.after_ms(ms).peek(hit).remaining <= 5);
        }
    }
}

/// When the clock has caught up, all is as if it had never stepped.
pub fn a_clock_that_steps_back_locks_nobody_out<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.after_ms(11_000).take(costing(5, hit));
        for ms in [0, 5_000, 10_999] {
            assert!(!trial.after_ms(ms).take(hit).allowed(), "{quota:?}");
        }
        assert!(trial.after_ms(13_000).take(costing(5, hit)).allowed(), "{quota:?}");
    }
}

/// Ten years of idling give the quota back, and nothing beyond.
pub fn is_as_new_after_ten_idle_years<H: Harness>() {
    let years = Moment::from_micros(START.as_micros() + 10 * 365 * 86_400 * 1_000_000);
    let day = Quota::per_hour(100);
    for quota in [day, day.fixed_window(), day.sliding_window(), day.sliding_log()].into_iter().chain(five_a_second()) {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        let all = quota.at_once();
        trial.take(costing(all, hit));
        assert_eq!(trial.at(years).remaining(hit), all);
        assert!(trial.take(costing(all, hit)).allowed());
        assert!(!trial.take(hit).allowed());
    }
}
