//! Giving back.

use aforo_core::{Moment, Quota};

use super::{Harness, START, Trial, costing, five_a_second};

/// What was taken is there again.
pub fn a_refund_in_the_same_window_undoes_the_take<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(2, hit));
        let before = trial.peek(hit);
        trial.take(costing(3, hit));
        let after = trial.refund(costing(3, hit), START);
        assert_eq!((after.remaining, after.reset_micros), (before.remaining, before.reset_micros), "{quota:?}");
        assert!(trial.take(costing(3, hit)).allowed());
        assert!(!trial.take(hit).allowed());
    }
}

/// The first moment of a window belongs to it.
pub fn a_refund_of_what_was_taken_as_a_window_began_undoes_it<H: Harness>() {
    let beginning = Moment::from_micros(1_700_000_001_000_000);
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.at(beginning).take(costing(2, hit));
        trial.take(hit);
        assert_eq!(trial.refund(costing(2, hit), beginning).remaining, 4, "{quota:?}");
    }
}

/// What was taken in a window that is gone came back with it: nothing more is given.
pub fn a_refund_in_a_later_window_changes_nothing<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(5, hit));
        trial.after_ms(2_500).take(costing(4, hit));
        trial.refund(costing(5, hit), START);
        assert_eq!(trial.remaining(hit), 1, "{quota:?}");
    }
}

/// The window before still weighs on this one, so what was taken there can be given back.
pub fn a_refund_to_the_window_before_lightens_a_sliding_window<H: Harness>() {
    let beginning = Moment::from_micros(1_700_000_001_000_000);
    for taken_at in [beginning, beginning.plus_micros(345_678), beginning.plus_micros(999_999)] {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", Quota::per_second(8).sliding_window());
        trial.at(taken_at).take(costing(8, hit));
        trial.at(beginning.plus_micros(1_500_000)).take(hit);
        assert_eq!(trial.remaining(hit), 3);
        assert_eq!(trial.refund(costing(6, hit), taken_at).remaining, 6);
        // The one before that does not weigh any more.
        assert_eq!(trial.refund(costing(2, hit), START).remaining, 6);
    }
}

/// What was taken from a bucket that has drained since is there again: nothing more is given, from that very moment on.
pub fn a_refund_to_a_bucket_that_must_have_drained_changes_nothing<H: Harness>() {
    // Empty, it fills in 714,285 microseconds and five sevenths.
    let quota = Quota::per_second(7).burst(5);
    for (micros, left) in [(714_285, 3), (714_286, 2)] {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(5, hit));
        trial.after_ms(700).take(costing(3, hit));
        trial.at(START.plus_micros(micros)).refund(costing(2, hit), START);
        assert_eq!(trial.remaining(hit), left, "{micros}");
    }
}

/// A refund may be repeated by mistake: never is more than the quota there.
pub fn a_refund_that_comes_twice_gives_no_more_than_the_quota<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(3, hit));
        for _ in 0..3 {
            assert_eq!(trial.refund(costing(3, hit), START).remaining, 5, "{quota:?}");
        }
        let admitted = (0..20).filter(|_| trial.take(hit).allowed()).count();
        assert_eq!(admitted, 5, "{quota:?}");
    }
}

/// There is nothing to give back.
pub fn a_refund_of_a_fresh_key_changes_nothing<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        assert_eq!(trial.refund(costing(u32::MAX, hit), START).remaining, 5);
        assert!(trial.take(costing(5, hit)).allowed());
        assert!(!trial.take(hit).allowed());
    }
}
