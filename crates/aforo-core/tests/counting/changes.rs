//! Quotas and algorithms that change while counters live on.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{beginnings, cases, quotas, steady};
use crate::promises::seen;

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn what_was_used_stays_used_under_any_other_quota(
        first in quotas(), then in quotas(), start in beginnings(), steps in steady(20),
    ) {
        // Of a window that begins with its first hit only the beginning is known: what was used ages from there.
        prop_assume!(first.algorithm() != Algorithm::FixedWindow(Anchor::FirstHit));
        // A finer tick sees the part of the old tick that has gone by.
        prop_assume!(first.grain().tick == 1);
        let (mut counter, mut now) = (Counter::default(), start);
        for step in steps {
            now = step.gap.after(&first, now);
            counter.take(&first, step.ask.of(&first), now);
        }
        if !counter.take(&first, Cost::ONE, now).allowed() {
            now = now.plus_micros(2 * first.window_micros());
            counter.take(&first, Cost::ONE, now);
        }
        let used = first.at_once() - counter.standing(&first, now).remaining;
        let left = then.at_once().saturating_sub(used);
        let remaining = counter.standing(&then, now).remaining;
        let lowered = then.at_once() < first.at_once();
        let slides = |quota: &Quota| quota.algorithm() == Algorithm::SlidingWindow;
        if slides(&first) && slides(&then) && first.window() == then.window() && lowered {
            // Of two counters that were higher, each goes on as if it had been full.
            prop_assert!(remaining >= left);
            let mut full = Counter::default();
            full.take(&then, Cost::new(then.at_once()), now);
            prop_assert!(remaining < then.at_once() || full.standing(&then, now).remaining == 0);
        } else if matches!((first.algorithm(), then.algorithm()), (Algorithm::SlidingLog, Algorithm::SlidingLog)) {
            // Entries are as old as they are: a shorter window has let some of them go.
            prop_assert!(remaining == left || remaining > left && then.window() < first.window());
        } else {
            prop_assert_eq!(remaining, left, "{} of {:?} were used", used, first);
        }
    }

    #[test]
    fn what_is_promised_under_a_changed_quota_is_kept(
        first in quotas(), then in quotas(), lowered in any::<bool>(), start in beginnings(), steps in steady(20),
    ) {
        let then = if lowered {
            Quota::counted_by(first.algorithm(), first.limit().div_ceil(2), first.window()).unwrap_or(then)
        } else {
            then
        };
        let (mut counter, mut now) = (Counter::default(), start);
        for step in steps {
            now = step.gap.after(&first, now);
            counter.take(&first, step.ask.of(&first), now);
        }
        for cost in [1, then.at_once()].map(Cost::new) {
            let weighed = counter.weigh(&then, cost, now);
            let from = seen(&then, &weighed, now);
            match weighed.wait.as_micros() {
                Some(0) => {}
                Some(wait) => {
                    prop_assert!(!counter.weigh(&then, cost, from.plus_micros(wait - 1)).allowed());
                    prop_assert!(counter.weigh(&then, cost, from.plus_micros(wait)).allowed());
                }
                None => prop_assert!(false, "{cost:?} can be had at once, so it fits some day"),
            }
        }
    }

    #[test]
    fn a_quota_that_flaps_admits_no_more_than_the_higher_one(
        low in 1_u32..50, more in 0_u32..50, window in 1_000_u64..20_000_000, algorithm in 0_usize..4,
        flaps in prop::collection::vec(any::<bool>(), 1..200), now in beginnings(),
    ) {
        let quota = |limit| {
            let algorithm = [
                Algorithm::TokenBucket { burst: limit },
                Algorithm::FixedWindow(Anchor::Epoch),
                Algorithm::SlidingWindow,
                Algorithm::SlidingLog,
            ][algorithm];
            Quota::counted_by(algorithm, limit, Duration::from_micros(window)).unwrap()
        };
        let (low, high) = (quota(low), quota(low + more));
        let mut counter = Counter::default();
        let mut admitted = 0;
        for flap in flaps {
            admitted += u32::from(counter.take(if flap { &high } else { &low }, Cost::ONE, now).allowed());
        }
        prop_assert!(admitted <= high.limit(), "{admitted} of {high:?} at one instant");
    }
}

#[test]
fn a_raised_quota_admits_at_once_and_a_lowered_one_refuses_at_once() {
    let window = Duration::from_secs(20);
    let (low, high) = (Quota::new(10, window).unwrap(), Quota::new(1_000, window).unwrap());
    let now = Moment::from_millis(1_780_000_000_000);
    let mut counter = Counter::default();
    assert!(counter.take(&low, Cost::new(10), now).allowed());
    assert!(!counter.weigh(&low, Cost::ONE, now).allowed());
    assert!(counter.take(&high, Cost::new(990), now).allowed(), "ten of the thousand are used");
    assert!(!counter.weigh(&high, Cost::ONE, now).allowed());
    assert_eq!(counter.weigh(&low, Cost::ONE, now).wait.as_micros(), Some(2_000_000), "never more than a full debt");
}

#[test]
fn a_part_of_a_unit_crosses_over_as_a_whole_one() {
    let now = Moment::from_millis(1_780_000_000_000);
    let (slow, fast) = (Quota::per_minute(7), Quota::per_second(9).burst(9));
    let mut counter = Counter::default();
    counter.take(&slow, Cost::new(3), now);
    // A third of a unit has come back when the next is taken: three and two thirds are owed.
    let later = now.plus_micros(60_000_000 / 21);
    counter.take(&slow, Cost::ONE, later);
    assert_eq!(counter.standing(&fast, later).remaining, 9 - 4);
}

#[test]
fn a_longer_window_finds_the_units_of_the_shorter_ones_in_full() {
    // Ten in the minute before and none in this one: half of them still count. In an hour's window none has aged.
    let (minute, hour) = (Quota::per_minute(10).sliding_window(), Quota::per_hour(10).sliding_window());
    let boundary = 1_780_000_020_000_000 / 3_600_000_000 * 3_600_000_000 + 30 * 60_000_000;
    let mut counter = Counter::default();
    counter.take(&minute, Cost::new(10), Moment::from_micros(boundary - 1));
    let half_past = Moment::from_micros(boundary + 30_000_000);
    assert_eq!(counter.standing(&minute, half_past).remaining, 5);
    assert_eq!(counter.standing(&hour, half_past).remaining, 0);
}

#[test]
fn a_coarser_tick_gives_nothing_for_the_part_that_had_gone_by() {
    // Nine microseconds into a tick of ten, a hundred units are owed. They take 360,006.12 µs to drain.
    let (fine, coarse) = (Quota::per_second(100), Quota::per_hour(999_983).burst(1_251_978));
    assert_eq!((fine.grain().tick, coarse.grain().tick), (1, 10));
    let now = Moment::from_micros(1_780_000_000_000_009);
    let mut counter = Counter::default();
    counter.take(&fine, Cost::new(100), now);
    assert!(counter.standing(&coarse, now).reset_micros > 360_006);
}

#[test]
fn a_wait_after_the_burst_was_lowered_does_not_begin_anew() {
    let (high, low) = (Quota::per_second(10), Quota::per_second(1));
    let now = Moment::from_millis(1_780_000_000_000);
    let mut counter = Counter::default();
    counter.take(&high, Cost::new(10), now);
    for passed in [0, 1, 999_999] {
        let weighed = counter.weigh(&low, Cost::ONE, now.plus_micros(passed));
        assert_eq!(weighed.wait.as_micros(), Some(1_000_000 - passed));
    }
    assert!(counter.weigh(&low, Cost::ONE, now.plus_micros(1_000_000)).allowed());
}
