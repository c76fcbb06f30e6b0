//! All or nothing, modes, costs and limits.

use aforo_core::{Algorithm, Hit, Mode, Op, Quota, Wait};

use super::{Harness, START, Trial, costing, five_a_second};

/// One enforced refusal charges no other rule.
pub fn admits_all_hits_or_none<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let (wide, narrow) = (trial.hit("wide", Quota::per_hour(40)), trial.hit("narrow", quota));
        trial.take(costing(4, narrow));
        assert!(trial.decide(Op::Take, &[wide, narrow]).allowed());
        for _ in 0..500 {
            let refused = trial.decide(Op::Take, &[wide, narrow]);
            let fits: Vec<bool> = refused.verdicts().map(|verdict| verdict.allowed()).collect();
            assert_eq!((refused.allowed(), fits), (false, vec![true, false]));
        }
        assert_eq!((trial.remaining(wide), trial.remaining(narrow)), (39, 0));
    }
}

/// A refused request leaves the shadow rules' counters alone too.
pub fn charges_no_shadow_hit_of_a_refused_request<H: Harness>() {
    let trial = Trial::<H>::start();
    let shadow = Hit { mode: Mode::Shadow, ..trial.hit("shadow", Quota::per_minute(3)) };
    let enforced = trial.hit("enforced", Quota::per_minute(1));
    assert!(trial.decide(Op::Take, &[shadow, enforced]).allowed());
    assert!(!trial.decide(Op::Take, &[shadow, enforced]).allowed());
    assert_eq!(trial.remaining(shadow), 2);
}

/// A shadow rule's refusal is reported; the request is admitted and the other rules are charged.
pub fn a_shadow_hit_that_does_not_fit_stops_nobody<H: Harness>() {
    let trial = Trial::<H>::start();
    let shadow = Hit { mode: Mode::Shadow, ..trial.hit("shadow", Quota::per_minute(1)) };
    let enforced = trial.hit("enforced", Quota::per_minute(5));
    for fits in [true, false, false] {
        let decision = trial.decide(Op::Take, &[shadow, enforced]);
        assert!(decision.allowed());
        assert_eq!(decision.verdicts().map(|verdict| verdict.allowed()).collect::<Vec<_>>(), [fits, true]);
    }
    assert_eq!((trial.remaining(shadow), trial.remaining(enforced)), (0, 2));
}

/// Who keeps knocking is let in when the window says so.
pub fn a_refusal_writes_nothing<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(5, hit));
        let first = trial.take(hit);
        for _ in 0..100 {
            assert_eq!(trial.take(hit), first);
        }
        let opens = START.plus_micros(first.wait.as_micros().expect("a wait"));
        assert!(trial.at(opens).take(hit).allowed(), "{quota:?}");
    }
}

/// A thousand looks change nothing.
pub fn a_peek_writes_nothing<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        trial.take(costing(2, hit));
        let before = trial.peek(hit);
        for _ in 0..1_000 {
            assert_eq!(trial.peek(costing(3, hit)), before);
        }
        assert!(trial.take(costing(3, hit)).allowed());
        assert!(!trial.peek(hit).allowed());
        assert!(trial.peek(trial.hit("stranger", quota)).allowed());
    }
}

/// `count_denied` charges a refused request, as far as the quota goes.
pub fn counts_refused_requests_if_asked_to<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let counting = Hit { count_denied: true, ..trial.hit("client", quota) };
        trial.take(costing(3, counting));
        assert_eq!(trial.take(costing(4, counting)).remaining, 0);
        assert!(!trial.peek(counting).allowed(), "{quota:?}");

        // It fits, another hit refuses the request, and it is charged all the same.
        let (other, never) = (Hit { count_denied: true, ..trial.hit("other", quota) }, trial.hit("never", quota));
        let refused = trial.decide(Op::Take, &[costing(2, other), costing(6, never)]);
        assert!(!refused.allowed());
        assert_eq!((trial.remaining(other), trial.remaining(never)), (3, 5), "{quota:?}");
    }
}

/// However long somebody knocked, who stops is let in when the window has passed.
pub fn a_counted_refusal_is_over_when_its_window_is<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let counting = Hit { count_denied: true, ..trial.hit("client", quota) };
        for knock in 0..100 {
            trial.after_ms(knock * 20).take(counting);
        }
        // A window that slides by two counters weighs what came before until the next one has ended.
        let windows = if quota.algorithm() == Algorithm::SlidingWindow { 2 } else { 1 };
        let again = START.plus_micros(99 * 20_000 + windows * quota.window_micros());
        assert!(trial.at(again).take(counting).allowed(), "{quota:?}");
    }
}

/// A cost of zero fits into a counter that is used up, and takes nothing.
pub fn a_cost_of_zero_always_fits<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        assert_eq!(trial.take(costing(0, hit)).remaining, 5);
        trial.take(costing(5, hit));
        let verdict = trial.take(costing(0, hit));
        assert_eq!((verdict.wait, verdict.remaining), (Wait::NONE, 0));
    }
}

/// All of the quota at once.
pub fn a_cost_of_the_limit_fits_once<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = costing(5, trial.hit("client", quota));
        assert_eq!(trial.take(hit).remaining, 0);
        assert!(!trial.take(hit).allowed());
    }
}

/// One unit more than can be had at once is refused for ever, and writes nothing.
pub fn a_cost_above_the_limit_never_fits<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        for units in [6, u32::MAX] {
            assert_eq!(trial.take(costing(units, hit)).wait, Wait::FOREVER);
        }
        assert_eq!(trial.remaining(hit), 5);
    }
}

/// A hundred takes while the clock stands still.
pub fn admits_exactly_the_quota_at_a_frozen_instant<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        let admitted = (0..100).filter(|_| trial.take(hit).allowed()).count();
        assert_eq!(admitted, 5, "{quota:?}");
    }
}

/// The least limit and the largest.
pub fn counts_limits_of_one_and_of_the_most<H: Harness>() {
    let trial = Trial::<H>::start();
    let one = trial.hit("one", Quota::per_second(1));
    assert!(trial.take(one).allowed());
    assert!(!trial.take(one).allowed());
    let most = Quota::per_second(u32::MAX);
    for (subject, quota) in [("bucket", most), ("fixed", most.fixed_window()), ("sliding", most.sliding_window())] {
        let hit = trial.hit(subject, quota);
        assert_eq!(trial.take(costing(u32::MAX - 1, hit)).remaining, 1);
        assert!(!trial.take(costing(2, hit)).allowed());
        assert_eq!(trial.take(hit).remaining, 0);
        assert!(!trial.take(hit).allowed());
    }
}

/// A request that names one counter twice gets no more of it than it has.
pub fn never_admits_more_for_two_hits_of_one_key<H: Harness>() {
    for quota in five_a_second() {
        let trial = Trial::<H>::start();
        let hit = trial.hit("client", quota);
        let requests = (0..20).filter(|_| trial.decide(Op::Take, &[hit, hit]).allowed()).count();
        assert!(requests <= 2, "{requests} requests of two units each, of {quota:?}");
        assert!(trial.remaining(hit) <= 1);
    }
}

/// The same subject under two rules, and bytes that move from one part of the key to the other, are different keys.
pub fn keeps_keys_apart<H: Harness>() {
    let trial = Trial::<H>::start();
    let quota = Quota::per_minute(1);
    for subject in ["a", "ab", "", "a ", "A", "a\0"] {
        assert!(trial.take(trial.hit(subject, quota)).allowed(), "{subject:?}");
    }
    let other = Trial::<H>::start();
    assert!(other.take(other.hit("a", quota)).allowed());
}

/// A refund needs the moment.
pub fn says_when_it_was_taken<H: Harness>() {
    let trial = Trial::<H>::start();
    let hit = trial.hit("client", Quota::per_minute(5));
    assert_eq!(trial.after_ms(7).decide(Op::Take, &[hit]).taken_at(), START.plus_micros(7_000));
}

/// A request that meets no rule passes.
pub fn answers_no_hits_with_an_admission<H: Harness>() {
    assert!(Trial::<H>::start().decide(Op::Take, &[]).allowed());
}
