//! One suite for every store: what a store promises, on a manual clock.
//!
//! A store's crate says how it is started ([`Harness`]) and writes `store_conformance!(ItsHarness);`. Every test has
//! key names of its own, so that the tests may share a server.

mod changes;
mod clocks;
mod comparison;
mod deciding;
mod refunds;
mod tables;

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use aforo_core::{Cost, Decision, Hit, Hits, Key, Moment, Op, Quota, Store, Verdict};

pub use changes::*;
pub use clocks::*;
pub use comparison::*;
pub use deciding::*;
pub use refunds::*;
pub use tables::*;

/// How a kind of store is started and asked.
pub trait Harness {
    /// The store.
    type Store: Store;

    /// A store whose clock the test sets.
    fn start() -> Self;

    /// The store that was started.
    fn store(&self) -> &Self::Store;

    /// Moves the store's clock, forwards or backwards.
    fn set_clock(&self, now: Moment);

    /// Waits for an answer. A store that needs a runtime brings it.
    fn wait<F: Future>(&self, deciding: F) -> F::Output {
        crate::block_on(deciding)
    }
}

/// One test's store and its share of the key names.
pub struct Trial<H> {
    harness: H,
    prefix: String,
}

/// When trials begin unless they say otherwise: no boundary of any window.
pub const START: Moment = Moment::from_micros(1_700_000_000_123_456);

impl<H: Harness> Trial<H> {
    /// A store whose clock shows [`START`].
    pub fn start() -> Trial<H> {
        static TRIALS: AtomicU64 = AtomicU64::new(0);
        let number = TRIALS.fetch_add(1, Ordering::Relaxed);
        let trial = Trial { harness: H::start(), prefix: format!("{}.{number}", std::process::id()) };
        trial.at(START);
        trial
    }

    /// Moves the clock.
    pub fn at(&self, now: Moment) -> &Trial<H> {
        self.harness.set_clock(now);
        self
    }

    /// Moves the clock to so many milliseconds after [`START`].
    pub fn after_ms(&self, millis: u64) -> &Trial<H> {
        self.at(START.plus_micros(millis * 1_000))
    }

    /// One unit of the counter that `subject` names in this trial.
    ///
    /// # Panics
    ///
    /// If the subject is too long for a key.
    pub fn hit(&self, subject: &str, quota: Quota) -> Hit {
        Hit::new(Key::new(self.prefix.as_bytes(), subject.as_bytes()).expect("a short subject"), quota)
    }

    /// The store's answer.
    ///
    /// # Panics
    ///
    /// If it gives none.
    pub fn decide(&self, op: Op, hits: &[Hit]) -> Decision {
        let hits: Hits = hits.iter().copied().collect();
        let decision = self.harness.wait(self.harness.store().decide(op, &hits)).expect("the store answers");
        assert_eq!(decision.verdicts().len(), hits.len(), "a verdict for each hit");
        decision
    }

    /// Takes one hit's cost.
    pub fn take(&self, hit: Hit) -> Verdict {
        sole(&self.decide(Op::Take, &[hit]))
    }

    /// Looks at one hit's counter.
    pub fn peek(&self, hit: Hit) -> Verdict {
        sole(&self.decide(Op::Peek, &[hit]))
    }

    /// Gives one hit's cost back.
    ///
    /// # Panics
    ///
    /// If what is said to be left then is not what is left.
    pub fn refund(&self, hit: Hit, taken_at: Moment) -> Verdict {
        let verdict = sole(&self.decide(Op::Refund { taken_at }, &[hit]));
        assert_eq!(self.peek(hit).remaining, verdict.remaining, "{hit:?}");
        verdict
    }

    /// Units left: that many fit, and not one more.
    ///
    /// # Panics
    ///
    /// If what is said to be left and what fits are not the same.
    pub fn remaining(&self, hit: Hit) -> u32 {
        let left = self.peek(hit).remaining;
        assert!(self.peek(costing(left, hit)).allowed(), "{left} are left and do not fit: {hit:?}");
        let more = left.saturating_add(1);
        assert!(more == left || !self.peek(costing(more, hit)).allowed(), "{left} are left and {more} fit: {hit:?}");
        left
    }
}

/// The same hit at another cost.
pub fn costing(units: u32, hit: Hit) -> Hit {
    Hit { cost: Cost::new(units), ..hit }
}

/// The four algorithms, five a second each.
pub fn five_a_second() -> [Quota; 4] {
    let five = Quota::per_second(5);
    [five, five.fixed_window(), five.sliding_window(), five.sliding_log()]
}

fn sole(decision: &Decision) -> Verdict {
    *decision.verdicts().next().expect("one verdict for one hit")
}

/// Expands into a test for each promise that a store makes, run on stores that the [`Harness`] starts.
#[macro_export]
macro_rules! store_conformance {
    ($harness:ty) => {
        $crate::store_conformance!($harness:
            // tables
            replays_the_golden_tables,
            // comparison
            answers_as_the_plainest_store_does,
            // deciding
            admits_all_hits_or_none,
            charges_no_shadow_hit_of_a_refused_request,
            a_shadow_hit_that_does_not_fit_stops_nobody,
            a_refusal_writes_nothing,
            a_peek_writes_nothing,
            counts_refused_requests_if_asked_to,
            a_counted_refusal_is_over_when_its_window_is,
            a_cost_of_zero_always_fits,
            a_cost_of_the_limit_fits_once,
            a_cost_above_the_limit_never_fits,
            admits_exactly_the_quota_at_a_frozen_instant,
            counts_limits_of_one_and_of_the_most,
            never_admits_more_for_two_hits_of_one_key,
            keeps_keys_apart,
            says_when_it_was_taken,
            answers_no_hits_with_an_admission,
            // clocks
            keeps_the_promise_of_its_wait,
            a_clock_that_steps_back_admits_no_more,
            a_clock_that_steps_back_locks_nobody_out,
            is_as_new_after_ten_idle_years,
            // refunds
            a_refund_in_the_same_window_undoes_the_take,
            a_refund_of_what_was_taken_as_a_window_began_undoes_it,
            a_refund_in_a_later_window_changes_nothing,
            a_refund_to_the_window_before_lightens_a_sliding_window,
            a_refund_to_a_bucket_that_must_have_drained_changes_nothing,
            a_refund_that_comes_twice_gives_no_more_than_the_quota,
            a_refund_of_a_fresh_key_changes_nothing,
            // changes
            a_raised_quota_takes_effect_at_once_and_a_lowered_one_too,
            a_changed_window_grants_no_fresh_quota,
            a_changed_algorithm_grants_no_fresh_quota,
            a_lowered_log_waits_until_enough_has_left,
            a_changed_algorithm_finds_whole_units,
            a_changed_algorithm_finds_millions_of_units_of_a_year,
            what_a_log_found_leaves_with_its_window,
            a_log_that_was_left_and_taken_up_again_counts_nothing_twice,
        );
    };
    ($harness:ty: $($promise:ident,)+) => {
        $(
            #[test]
            fn $promise() {
                $crate::conformance::$promise::<$harness>();
            }
        )+
    };
}
