//! Which quotas there are, and what is said of those that are not.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, InvalidQuota, Moment, Quota, State, standing, weigh};
use proptest::prelude::*;

use crate::histories::{algorithms, cases};

const DAYS_366: Duration = Duration::from_secs(366 * 86_400);

#[test]
fn what_is_no_quota_is_refused_with_its_reason() {
    let bucket = |limit, burst, window| Quota::counted_by(Algorithm::TokenBucket { burst }, limit, window);
    let second = Duration::from_secs(1);
    let refused = [
        (Quota::new(0, second), InvalidQuota::ZeroLimit),
        (bucket(1, 0, second), InvalidQuota::ZeroBurst),
        (Quota::new(1, Duration::ZERO), InvalidQuota::WindowTooShort),
        (Quota::new(1, Duration::from_nanos(999_999)), InvalidQuota::WindowTooShort),
        (Quota::new(1, Duration::from_nanos(1_000_001)), InvalidQuota::WindowTooFine),
        (Quota::new(1, DAYS_366 + Duration::from_nanos(1)), InvalidQuota::WindowTooFine),
        (Quota::new(1, DAYS_366 + Duration::from_micros(1)), InvalidQuota::WindowTooLong),
        (Quota::new(1, Duration::MAX), InvalidQuota::WindowTooLong),
        (Quota::counted_by(Algorithm::SlidingLog, 10_001, second), InvalidQuota::LogTooLong),
        (Quota::per_hour(10_001).with_algorithm(Algorithm::SlidingLog), InvalidQuota::LogTooLong),
        (Quota::new(u32::MAX, DAYS_366), InvalidQuota::NotExact),
        (bucket(1, u32::MAX, DAYS_366), InvalidQuota::NotExact),
        (bucket(9, 4_503_600, Duration::from_micros(1_000_000_001)), InvalidQuota::NotExact),
        (Quota::counted_by(Algorithm::SlidingWindow, u32::MAX, DAYS_366), InvalidQuota::NotExact),
        (Quota::nothing(Duration::ZERO), InvalidQuota::WindowTooShort),
    ];
    for (number, (quota, reason)) in refused.into_iter().enumerate() {
        assert_eq!(quota, Err(reason), "number {number}");
        assert!(reason.to_string().len() > 20, "{reason}");
    }
}

#[test]
fn the_least_and_the_most_can_be_counted() {
    let most = [
        Quota::new(1, Duration::from_millis(1)),
        Quota::new(1, DAYS_366),
        Quota::new(u32::MAX, Duration::from_millis(1)),
        Quota::new(u32::MAX, Duration::from_secs(86_400)),
        Quota::counted_by(Algorithm::FixedWindow(Anchor::Epoch), u32::MAX, DAYS_366),
        Quota::counted_by(Algorithm::FixedWindow(Anchor::FirstHit), u32::MAX, DAYS_366),
        Quota::counted_by(Algorithm::SlidingWindow, u32::MAX, Duration::from_secs(86_400)),
        Quota::counted_by(Algorithm::SlidingLog, 10_000, DAYS_366),
    ];
    for quota in most {
        assert!(quota.is_ok(), "{quota:?}");
    }
}

#[test]
fn a_literal_says_what_the_same_data_say() {
    let minute = Duration::from_secs(60);
    assert_eq!(Ok(Quota::per_second(7)), Quota::new(7, Duration::from_secs(1)));
    assert_eq!(Ok(Quota::per_minute(7)), Quota::new(7, minute));
    assert_eq!(Ok(Quota::per_hour(7)), Quota::new(7, Duration::from_secs(3_600)));
    for (literal, algorithm) in [
        (Quota::per_minute(7).burst(9), Algorithm::TokenBucket { burst: 9 }),
        (Quota::per_minute(7).fixed_window(), Algorithm::FixedWindow(Anchor::Epoch)),
        (Quota::per_minute(7).sliding_window(), Algorithm::SlidingWindow),
        (Quota::per_minute(7).sliding_log(), Algorithm::SlidingLog),
    ] {
        assert_eq!(Ok(literal), Quota::counted_by(algorithm, 7, minute));
    }
}

#[test]
fn each_algorithm_states_its_worst_case_and_its_time_to_full() {
    let quota = Quota::per_minute(100);
    let cases = [
        (quota.burst(20), 120, 12),
        (quota, 200, 60),
        (quota.fixed_window(), 200, 60),
        (quota.sliding_window(), 200, 60),
        (quota.sliding_log(), 100, 60),
    ];
    for (quota, worst_case, seconds) in cases {
        assert_eq!((quota.worst_case(), quota.time_to_full().as_secs()), (worst_case, seconds), "{quota:?}");
    }
}

#[test]
fn a_quota_of_nothing_refuses_for_ever_by_every_algorithm() {
    let nothing = Quota::nothing(Duration::from_secs(1)).unwrap();
    for algorithm in [
        Algorithm::TokenBucket { burst: 5 },
        Algorithm::FixedWindow(Anchor::Epoch),
        Algorithm::FixedWindow(Anchor::FirstHit),
        Algorithm::SlidingWindow,
        Algorithm::SlidingLog,
    ] {
        let quota = nothing.with_algorithm(algorithm).unwrap();
        let mut counter = aforo_testkit::Counter::default();
        let now = aforo_core::Moment::from_millis(1_780_000_000_500);
        assert_eq!((quota.limit(), quota.at_once()), (0, 0));
        assert_eq!(counter.take(&quota, aforo_core::Cost::ONE, now).wait.as_micros(), None, "{algorithm:?}");
        assert!(counter.take(&quota, aforo_core::Cost::new(0), now).allowed());
        assert_eq!(counter.standing(&quota, now).remaining, 0);
    }
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn a_grain_is_the_finest_that_stays_exact(
        algorithm in algorithms(), limit in 1_u32.., burst in 1_u32.., window in 1_000_u64..=366 * 86_400 * 1_000_000,
        coarse in prop::sample::select(vec![1_u64, 1_000, 1_000_000]),
    ) {
        let window = ((window / coarse).max(1) * coarse).max(1_000);
        let algorithm = match algorithm {
            Algorithm::TokenBucket { .. } => Algorithm::TokenBucket { burst },
            other => other,
        };
        // Both counts of a sliding window, and all of a bucket, in ticks; a divisor common to all is left out.
        let exact = |tick: u64| match algorithm {
            Algorithm::TokenBucket { burst } => {
                let common = gcd(u64::from(limit), window / tick);
                u128::from(burst) * u128::from(window / tick / common) <= 1 << 52
            }
            Algorithm::SlidingWindow => 2 * u128::from(limit) * u128::from(window / tick) <= 1 << 52,
            _ => true,
        };
        let finest = (0..7).map(|power| 10_u64.pow(power)).find(|tick| window % tick == 0 && exact(*tick));
        match Quota::counted_by(algorithm, limit, Duration::from_micros(window)) {
            Ok(quota) => {
                prop_assert_eq!(Some(u64::from(quota.grain().tick)), finest);
                let grain = quota.grain();
                if let Algorithm::TokenBucket { .. } = algorithm {
                    // Grains that drain in a window are the grains of the limit.
                    let drained = u128::from(grain.per_tick) * u128::from(window / u64::from(grain.tick));
                    prop_assert_eq!(drained, u128::from(limit) * u128::from(grain.per_unit));
                }
            }
            Err(InvalidQuota::NotExact) => prop_assert_eq!(finest, None),
            Err(InvalidQuota::LogTooLong) => prop_assert!(algorithm == Algorithm::SlidingLog && limit > 10_000),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn any_numbers_are_a_quota_or_are_refused(
        algorithm in algorithms(), limit in any::<u32>(), burst in any::<u32>(), seconds in any::<u64>(), nanos in any::<u32>(),
    ) {
        let algorithm = match algorithm {
            Algorithm::TokenBucket { .. } => Algorithm::TokenBucket { burst },
            other => other,
        };
        for seconds in [0, seconds % 100, seconds % 40_000_000, seconds / 8] {
            for nanos in [0, nanos / 1_000_000 * 1_000_000, nanos % 1_000_000_000 / 1_000 * 1_000, nanos % 1_000_000_000] {
                let window = Duration::new(seconds, nanos);
                if let Ok(quota) = Quota::counted_by(algorithm, limit, window) {
                    prop_assert_eq!((quota.limit(), quota.window()), (limit, window));
                    prop_assert!(quota.time_to_full() > Duration::ZERO && quota.worst_case() >= u64::from(limit));
                }
            }
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Numbers that overflow: a burst whose last unit comes back after the end of time.
#[test]
fn a_bucket_may_take_longer_to_fill_than_there_is_time_to_say() {
    let year = DAYS_366;
    let slow = Quota::new(1, year).unwrap().with_algorithm(Algorithm::TokenBucket { burst: 100_000_000 });
    let slow = slow.expect("whole seconds keep it exact");
    assert_eq!(slow.time_to_full(), Duration::from_micros(u64::MAX));
    let now = Moment::from_millis(1_780_000_000_000);
    let weighed = weigh(&slow, &State::Fresh, Cost::new(100_000_000), now);
    assert!(weighed.allowed());
    let empty = standing(&slow, &weighed.after, weighed.from);
    assert_eq!(empty.remaining, 0);
    assert!(!weigh(&slow, &weighed.after, Cost::ONE, now).allowed());
}
