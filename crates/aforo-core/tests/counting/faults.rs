//! Kinds of faults that limiters have had, each as the traffic that shows it.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota, State};
use aforo_testkit::Counter;

const START: u64 = 1_780_000_000_123_457;
const SECOND: u64 = 1_000_000;
const YEAR: u64 = 365 * 86_400 * SECOND;

fn at(micros: u64) -> Moment {
    Moment::from_micros(START + micros)
}

fn all(quota: Quota) -> [Quota; 5] {
    let first_hit = quota.with_algorithm(Algorithm::FixedWindow(Anchor::FirstHit)).unwrap();
    [quota, quota.fixed_window(), first_hit, quota.sliding_window(), quota.sliding_log()]
}

/// One unit at each moment; how many were admitted.
fn knock(counter: &mut Counter, quota: &Quota, moments: impl Iterator<Item = u64>) -> u32 {
    moments.map(|micros| u32::from(counter.take(quota, Cost::ONE, at(micros)).allowed())).sum()
}

// === Counting ===

/// A tolerance of the whole burst where one unit less is meant lets one too many pass after a pause.
#[test]
fn from_idle_exactly_the_burst_passes_at_one_instant() {
    for burst in 1..=100 {
        for idle in [0, 1, 333_333, 999_999, SECOND, 61 * SECOND + 7, YEAR] {
            let quota = Quota::per_second(3).burst(burst);
            let mut counter = Counter::default();
            knock(&mut counter, &quota, (0..u64::from(burst) + 5).map(|_| 0));
            let full = u64::try_from(quota.time_to_full().as_micros()).unwrap();
            let admitted = knock(&mut counter, &quota, (0..burst + 5).map(|_| full + idle));
            assert_eq!(admitted, burst, "after {idle}");
        }
    }
}

/// A cost of one more than the burst, told to come back later, comes back for ever.
#[test]
fn a_cost_above_the_burst_never_fits_and_writes_nothing() {
    let quota = Quota::per_second(1).burst(5);
    for (cost, fits) in [(4, true), (5, true), (6, false)] {
        let mut counter = Counter::default();
        let weighed = counter.take(&quota, Cost::new(cost), at(0));
        assert_eq!(weighed.allowed(), fits);
        assert_eq!(weighed.wait.as_micros().is_none(), !fits, "no time is named that would not help");
        assert_eq!(*counter.state() == State::Fresh, !fits);
    }
}

/// Whole units reckoned at each call, and the rest of the time thrown away, starve whoever calls steadily.
#[test]
fn a_steady_caller_keeps_the_fractions_that_it_has_earned() {
    let quota = Quota::new(1, Duration::from_secs(3)).unwrap();
    let steady = knock(&mut Counter::default(), &quota, (0..300).map(|second| second * SECOND));
    let patient = knock(&mut Counter::default(), &quota, (0..100).map(|third| third * 3 * SECOND));
    assert_eq!((steady, patient), (100, 100));
}

/// A state that expires after a window, while it is in use and not yet clear, comes back full.
#[test]
fn a_state_lives_until_it_owes_nothing() {
    let quota = Quota::per_second(3);
    let mut counter = Counter::default();
    let mut admitted = 0;
    for tenth in 0..200 {
        let now = at(tenth * SECOND / 10);
        admitted += knock(&mut counter, &quota, [tenth * SECOND / 10].into_iter());
        let standing = counter.standing(&quota, now);
        assert_eq!(counter.state().clear_at().micros_since(now), standing.reset_micros);
        assert_eq!(counter.state().is_clear(now), standing.reset_micros == 0);
    }
    assert!((3 + 57..=3 + 60).contains(&admitted), "{admitted}");
}

/// A refill that is added after the cap is applied overflows the bucket.
#[test]
fn ten_idle_years_refill_to_the_limit_and_no_further() {
    for quota in all(Quota::per_second(7)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(7), at(0));
        assert_eq!(counter.standing(&quota, at(10 * YEAR)).remaining, 7);
        assert_eq!(knock(&mut counter, &quota, (0..20).map(|_| 10 * YEAR)), 7, "{quota:?}");
    }
}

/// A reset that moves on by one unit's time, whatever the cost was, drops the state too early.
#[test]
fn the_reset_grows_with_the_cost() {
    let quota = Quota::per_second(1).burst(10);
    let mut counter = Counter::default();
    counter.take(&quota, Cost::new(7), at(0));
    assert_eq!(counter.standing(&quota, at(0)).reset_micros, 7 * SECOND);
}

/// A previous window that vanishes when it should still weigh lets nearly twice the limit pass.
#[test]
fn the_window_before_still_weighs_after_the_boundary() {
    let quota = Quota::per_hour(10).sliding_window();
    let minute = 60 * SECOND;
    let hour = Moment::from_micros(START / (60 * minute) * 60 * minute);
    let mut counter = Counter::default();
    counter.take(&quota, Cost::ONE, hour);
    counter.take(&quota, Cost::new(8), hour.plus_micros(59 * minute));
    assert!(counter.state().clear_at() >= hour.plus_micros(120 * minute), "it outlives two windows");
    let later = hour.plus_micros(61 * minute);
    assert_eq!(counter.standing(&quota, later).remaining, 1, "nine weigh 8.85");
}

/// Calls spread over a window, and the next one told to wait a whole window more.
#[test]
fn the_next_call_passes_when_the_first_has_left_the_window() {
    let quota = Quota::new(10, Duration::from_secs(10)).unwrap().sliding_log();
    let mut counter = Counter::default();
    assert_eq!(knock(&mut counter, &quota, (0..10).map(|second| second * SECOND)), 10);
    let refused = counter.take(&quota, Cost::ONE, at(9 * SECOND + 1));
    assert_eq!(refused.wait.as_micros(), Some(SECOND - 1));
    assert!(counter.take(&quota, Cost::ONE, at(10 * SECOND)).allowed());
}

/// Refused calls that are recorded block for ever whoever keeps knocking.
#[test]
fn who_keeps_knocking_is_let_in_unless_refusals_are_charged() {
    let quota = Quota::new(2, Duration::from_secs(4)).unwrap().sliding_log();
    assert_eq!(knock(&mut Counter::default(), &quota, (0..60).map(|second| second * SECOND)), 30);

    let mut counter = Counter::default();
    let mut admitted = 0;
    for second in 0..60 {
        let weighed = counter.take(&quota, Cost::ONE, at(second * SECOND));
        admitted += u32::from(weighed.allowed());
        if !weighed.allowed() {
            counter.overcharge(&quota, Cost::ONE, &weighed);
        }
    }
    assert_eq!(admitted, 2);
}

/// A quota that is full at another time than it says follows another anchor than it says.
#[test]
fn each_anchor_is_full_again_when_it_says() {
    for quota in all(Quota::per_minute(5)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(5), at(0));
        let reset = counter.standing(&quota, at(0)).reset_micros;
        assert_eq!(counter.standing(&quota, at(reset)).remaining, 5, "{quota:?}");
        assert!(counter.standing(&quota, at(reset - 1)).remaining < 5, "{quota:?}");
    }
}

/// A cost that passes because something is left takes what is not there.
#[test]
fn one_unit_left_does_not_let_ten_pass() {
    for quota in all(Quota::per_minute(10)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(9), at(0));
        assert!(!counter.take(&quota, Cost::new(10), at(0)).allowed());
        assert_eq!(counter.standing(&quota, at(0)).remaining, 1, "{quota:?}");
    }
}

// === Clocks ===

/// Two threads read the clock and take their turns the other way round: the later moment must not be forgotten.
#[test]
fn a_late_reader_of_the_clock_mints_nothing() {
    for quota in all(Quota::per_second(2).burst(2)) {
        let orders: [[u64; 3]; 4] = [[9, 10, 11], [10, 9, 11], [11, 9, 10], [10, 11, 9]];
        let left = orders.map(|order| {
            let mut counter = Counter::default();
            knock(&mut counter, &quota, order.into_iter().map(|tenth| tenth * SECOND / 10));
            counter.standing(&quota, at(11 * SECOND / 10)).remaining
        });
        assert_eq!(left, [left[0]; 4], "{quota:?}");
    }
}

/// A step back makes the elapsed time negative: it must not be subtracted from anything.
#[test]
fn a_clock_that_steps_back_takes_nothing_away() {
    for quota in all(Quota::per_hour(10)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(4), at(30 * SECOND));
        assert_eq!(counter.standing(&quota, at(0)).remaining, 6, "{quota:?}");
        assert_eq!(knock(&mut counter, &quota, (0..10).map(|_| 0)), 6, "{quota:?}");
    }
}

// === Several limits at once: see deciding.rs and the conformance suite ===

/// Refusals counted as usage make a raise useless until the window ends.
#[test]
fn a_raise_in_mid_window_gives_exactly_what_was_added() {
    for (low, high) in all(Quota::per_hour(10)).into_iter().zip(all(Quota::per_hour(20))) {
        let mut counter = Counter::default();
        assert_eq!(knock(&mut counter, &low, (0..50).map(|_| 0)), 10);
        assert_eq!(knock(&mut counter, &high, (0..50).map(|_| 0)), 10, "{high:?}");
    }
}

// === Numbers ===

/// A rate whose interval is finer than the unit of time is rounded, or is rounded away.
#[test]
fn any_rate_is_exact_under_saturation() {
    for rate in [1, 3, 7, 1_000, 1_500, 6_000, 999_983, 1_000_000_000, u32::MAX] {
        // A bucket of one unit runs over while it waits to be asked.
        let burst = rate.max(2);
        let quota = Quota::per_second(rate).burst(burst);
        let mut counter = Counter::default();
        let mut admitted = 0;
        for instant in 0..=997_u64 {
            let now = at(instant * 10 * SECOND / 997);
            let left = Cost::new(counter.standing(&quota, now).remaining);
            assert!(counter.take(&quota, left, now).allowed());
            admitted += u64::from(left.units());
        }
        assert_eq!(admitted, u64::from(burst) + u64::from(rate) * 10, "the burst and ten seconds' worth of {rate}/s");
    }
}

/// Elapsed time times a rate wraps around, and a client that was away is refused for ever.
#[test]
fn the_longest_pause_and_the_highest_rate_do_not_wrap_around() {
    for quota in [Quota::per_second(u32::MAX), Quota::per_second(1), Quota::per_hour(999_983)] {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(quota.at_once()), Moment::EPOCH);
        let end_of_time = Moment::from_micros(u64::MAX);
        assert_eq!(counter.standing(&quota, end_of_time).remaining, quota.at_once());
        assert_eq!(counter.weigh(&quota, Cost::ONE, end_of_time).wait.as_micros(), Some(0));
    }
}

/// A timer of 32 bits fires at once when it should wait for a month.
#[test]
fn a_window_of_a_month_or_a_year_lasts_as_long() {
    for days in [25, 30, 50, 365, 366] {
        let window = Duration::from_secs(days * 86_400);
        for quota in all(Quota::new(1, window).unwrap()) {
            let mut counter = Counter::default();
            counter.take(&quota, Cost::ONE, at(0));
            let wait = counter.weigh(&quota, Cost::ONE, at(0)).wait.as_micros().unwrap();
            assert!(!counter.weigh(&quota, Cost::ONE, at(wait - 1)).allowed(), "{quota:?}");
            assert!(counter.weigh(&quota, Cost::ONE, at(wait)).allowed());
            if quota.algorithm() != Algorithm::FixedWindow(Anchor::Epoch) {
                assert!(u128::from(wait) >= window.as_micros(), "{quota:?}");
            }
        }
    }
}

// === Refunds ===

/// A refund that comes after the window has rolled over makes the new count negative: an extra allowance.
#[test]
fn a_refund_of_the_last_window_gives_the_new_one_nothing() {
    for quota in all(Quota::per_second(5)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(5), at(0));
        let now = at(3 * SECOND);
        let weighed = counter.weigh(&quota, Cost::new(5), now);
        counter.refund(&quota, Cost::new(5), &weighed, at(0));
        assert_eq!(knock(&mut counter, &quota, (0..20).map(|_| 3 * SECOND)), 5, "{quota:?}");
    }
}

/// What was reserved and not used is given back where it was taken, and only there.
#[test]
fn the_rest_of_a_reservation_comes_back_in_its_own_window() {
    for quota in all(Quota::per_minute(100)) {
        let mut counter = Counter::default();
        counter.take(&quota, Cost::new(100), at(0));
        let weighed = counter.weigh(&quota, Cost::new(63), at(0));
        counter.refund(&quota, Cost::new(63), &weighed, at(0));
        assert_eq!(counter.standing(&quota, at(0)).remaining, 63, "{quota:?}");
    }
}

// === Refusals that are charged ===

/// Fifty tries are charged against a quota of ten: whoever then raises it to twenty has raised nothing.
#[test]
fn charged_refusals_never_hold_more_than_the_quota() {
    for (low, high) in all(Quota::per_hour(10)).into_iter().zip(all(Quota::per_hour(20))) {
        let mut counter = Counter::default();
        for cost in [1, 10, 40, u32::MAX] {
            let weighed = counter.weigh(&low, Cost::new(cost), at(0));
            counter.overcharge(&low, Cost::new(cost), &weighed);
        }
        assert_eq!(counter.standing(&high, at(0)).remaining, 10, "{high:?}");
    }
}
