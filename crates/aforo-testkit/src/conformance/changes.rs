//! Quotas that change while counters live on.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Moment, Quota};

use super::{Harness, START, Trial, costing, five_a_second};

fn twenty_seconds(limit: u32, algorithm: Algorithm) -> Quota {
    let algorithm = match algorithm {
        Algorithm::TokenBucket { .. } => Algorithm::TokenBucket { burst: limit },
        windowed => windowed,
    };
    Quota::counted_by(algorithm, limit, Duration::from_secs(20)).expect("a quota")
}

/// Exhausted, raised, lowered again: each change decides the very next request, and what was used stays used.
pub fn a_raised_quota_takes_effect_at_once_and_a_lowered_one_too<H: Harness>() {
    for algorithm in five_a_second().map(|quota| quota.algorithm()) {
        let trial = Trial::<H>::start();
        let low = trial.hit("client", twenty_seconds(10, algorithm));
        let high = trial.hit("client", twenty_seconds(1_000, algorithm));
        trial.take(costing(10, low));
        assert!(!trial.take(low).allowed(), "{algorithm:?}");
        assert_eq!(trial.take(high).remaining, 989, "{algorithm:?}");
        for _ in 0..10 {
            assert!(!trial.take(low).allowed(), "{algorithm:?}");
        }
        // Eleven are used: 989 are left, unless lowering has been allowed to forget the eleventh.
        assert!(trial.remaining(high) <= 990, "{algorithm:?}");
    }
}

/// Another window, longer or shorter, is no reason to begin anew.
pub fn a_changed_window_grants_no_fresh_quota<H: Harness>() {
    for quota in five_a_second() {
        for window in [Duration::from_micros(1_000_003), Duration::from_secs(3), Duration::from_secs(3_600)] {
            let trial = Trial::<H>::start();
            let hit = trial.hit("client", quota);
            trial.take(costing(4, hit));
            let changed = Quota::counted_by(quota.algorithm(), 5, window).expect("a quota");
            let hit = trial.hit("client", changed);
            assert_eq!(trial.remaining(hit), 1, "{quota:?}, then {window:?}");
            assert!(!trial.take(costing(2, hit)).allowed());
            assert!(trial.take(hit).allowed());
            assert!(!trial.take(hit).allowed());
        }
    }
}

/// A log that holds more than a lowered limit waits until enough of it has left.
pub fn a_lowered_log_waits_until_enough_has_left<H: Harness>() {
    let trial = Trial::<H>::start();
    let log = |limit| trial.hit("client", Quota::per_second(limit).sliding_log());
    for ms in 0..8 {
        assert!(trial.after_ms(ms).take(log(8)).allowed());
    }
    for (cost, last) in [(1, 5), (3, 7)] {
        // Taken at so many milliseconds, it leaves a second later.
        let wait = trial.after_ms(10).take(costing(cost, log(3))).wait;
        assert_eq!(wait.as_micros(), Some((1_000 + last - 10) * 1_000), "{cost}");
    }
}

/// What another algorithm has counted leaves a log as its own entries do, when a window has passed.
pub fn what_a_log_found_leaves_with_its_window<H: Harness>() {
    let trial = Trial::<H>::start();
    trial.take(costing(4, trial.hit("client", Quota::per_hour(5))));
    let hit = trial.hit("client", Quota::per_second(5).sliding_log());
    assert_eq!(trial.at(START.plus_micros(999_999)).remaining(hit), 1);
    assert_eq!(trial.at(START.plus_micros(1_000_000)).remaining(hit), 5);
}

/// The entries of a log that another algorithm has gone on with are not counted beside what that has counted.
pub fn a_log_that_was_left_and_taken_up_again_counts_nothing_twice<H: Harness>() {
    let trial = Trial::<H>::start();
    let quotas = [Quota::per_hour(10).sliding_log(), Quota::per_hour(10)];
    let [log, bucket] = quotas.map(|quota| trial.hit("client", quota));
    trial.take(costing(3, log));
    trial.after_ms(1).take(bucket);
    // The bucket has left no entry of that moment to be given back.
    assert_eq!(trial.refund(log, START.plus_micros(1_000)).remaining, 6);
    trial.take(log);
    assert_eq!(trial.remaining(log), 5);
}

/// Of a unit that is partly free again, the next algorithm finds all of it in use.
pub fn a_changed_algorithm_finds_whole_units<H: Harness>() {
    let (minute, hour) = (60_000, 3_600_000);
    let five = Quota::per_hour(5);
    let trial = Trial::<H>::start();
    let hit = |quota| trial.hit("client", quota);
    trial.take(costing(2, hit(five)));
    // A twelfth of a unit has come back by then.
    trial.after_ms(minute).take(hit(five));
    assert_eq!(trial.remaining(hit(five.fixed_window())), 2);

    let trial = Trial::<H>::start();
    let hit = |quota| trial.hit("client", quota);
    let beginning = Moment::from_millis(START.as_micros() / 1_000 / hour * hour);
    trial.at(beginning).take(costing(3, hit(five.sliding_window())));
    // Half of them still weigh.
    trial.at(beginning.plus_micros(3 * hour * 500)).take(hit(five.sliding_window()));
    assert_eq!(trial.remaining(hit(five.fixed_window())), 2);
}

/// Units times microseconds may be more than a double holds.
pub fn a_changed_algorithm_finds_millions_of_units_of_a_year<H: Harness>() {
    let (limit, window) = (71_000_000, 366 * 86_400 * 1_000_000);
    let quota = |algorithm| Quota::counted_by(algorithm, limit, Duration::from_micros(window)).expect("a quota");
    let trial = Trial::<H>::start();
    let sliding = trial.hit("client", quota(Algorithm::SlidingWindow));
    let fixed = trial.hit("client", quota(Algorithm::FixedWindow(Anchor::Epoch)));
    trial.take(costing(limit, sliding));
    let elapsed = 12_345_678_901_234;
    let beginning = (START.as_micros() / window + 1) * window;
    trial.at(Moment::from_micros(beginning + elapsed)).take(sliding);
    let weighs = (u128::from(limit) * u128::from(window - elapsed)).div_ceil(u128::from(window));
    assert_eq!(u128::from(trial.remaining(fixed)), u128::from(limit) - weighs - 1);
}

/// What one algorithm has counted, every other one finds.
pub fn a_changed_algorithm_grants_no_fresh_quota<H: Harness>() {
    for first in five_a_second() {
        for then in five_a_second() {
            let trial = Trial::<H>::start();
            trial.take(costing(4, trial.hit("client", first)));
            let hit = trial.hit("client", then);
            assert_eq!(trial.remaining(hit), 1, "{first:?}, then {then:?}");
            assert!(trial.take(hit).allowed());
            assert!(!trial.take(hit).allowed(), "{first:?}, then {then:?}");
        }
    }
}
