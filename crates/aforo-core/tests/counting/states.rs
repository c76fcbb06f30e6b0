//! States that no engine has written: what a damaged store may hold. Nothing panics, and nothing is granted.

use aforo_core::{Anchor, Cost, Grain, Moment, Quota, State, overcharge, refund, standing, weigh};
use aforo_testkit::Counter;
use proptest::prelude::*;

use crate::histories::{cases, quotas};

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), Just(1), Just(u64::MAX), 0..2_000_000_u64, 0..1_u64 << 53, any::<u64>()]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0_u32), Just(1), Just(u32::MAX), 0..100_u32, any::<u32>()]
}

fn moments() -> impl Strategy<Value = Moment> {
    numbers().prop_map(Moment::from_micros)
}

fn states() -> impl Strategy<Value = State> {
    let grains =
        (numbers(), small(), small()).prop_map(|(per_unit, per_tick, tick)| Grain { per_unit, per_tick, tick });
    let anchors = prop_oneof![Just(Anchor::Epoch), Just(Anchor::FirstHit)];
    prop_oneof![
        (numbers(), moments(), grains).prop_map(|(debt, at, grain)| State::TokenBucket { debt, at, grain }),
        (small(), moments(), numbers(), anchors).prop_map(|(used, at, window, anchor)| State::FixedWindow {
            used,
            at,
            window,
            anchor
        }),
        (small(), small(), moments(), numbers()).prop_map(|(previous, current, at, window)| State::SlidingWindow {
            previous,
            current,
            at,
            window
        }),
        (small(), moments(), numbers()).prop_map(|(live, newest, window)| State::SlidingLog { live, newest, window }),
    ]
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn no_state_whatever_panics_or_grants_more_than_the_quota(
        quota in quotas(), state in states(), now in moments(), taken_at in moments(), cost in small(),
        // The state's own integers, where the quota would take them for its own.
        own in any::<bool>(),
    ) {
        let state = match state {
            State::TokenBucket { debt, at, .. } if own => State::TokenBucket { debt, at, grain: quota.grain() },
            State::SlidingWindow { previous, current, at, .. } if own => {
                State::SlidingWindow { previous, current, at, window: quota.window_micros() }
            }
            other => other,
        };
        let _ = (state.clear_at(), state.is_clear(now), state.charged_at(), state.usage());
        let cost = Cost::new(cost);
        let weighed = weigh(&quota, &state, cost, now);
        prop_assert!(!weighed.allowed() || cost.units() <= quota.at_once());
        prop_assert!(!weighed.allowed() || cost.units() == 0 || weighed.after != weighed.before, "free of charge");
        for state in [
            weighed.before,
            weighed.after,
            overcharge(&quota, &weighed, cost),
            refund(&quota, &weighed, cost, taken_at),
        ] {
            prop_assert!(standing(&quota, &state, weighed.from).remaining <= quota.at_once());
            let _ = (state.clear_at(), state.is_clear(now), state.usage());
        }
    }
}

#[test]
fn a_count_of_the_window_before_is_owed_until_this_window_ends() {
    let quota = Quota::per_second(5).sliding_window();
    let at = |millis: u64| Moment::from_millis(1_780_000_000_000 + millis);
    let mut counter = Counter::default();
    counter.take(&quota, Cost::new(3), at(0));
    counter.take(&quota, Cost::ONE, at(1_000));
    let weighed = counter.weigh(&quota, Cost::ONE, at(1_000));
    counter.refund(&quota, Cost::ONE, &weighed, at(1_000));
    assert_eq!(counter.state().clear_at(), at(2_000));
    assert!(!counter.state().is_clear(at(1_999)) && counter.state().is_clear(at(2_000)));
}
