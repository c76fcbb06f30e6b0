//! Quotas, costs and traffic to test with, chosen where mistakes like to be.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota};
use proptest::prelude::*;
use proptest::test_runner::Config;

const MILLI: u64 = 1_000;
const SECOND: u64 = 1_000 * MILLI;
const DAY: u64 = 86_400 * SECOND;
const YEAR: u64 = 365 * DAY;

/// So many cases; ten times as many with `PROPTEST_CASES=2560`, ten times the crate's own default.
///
/// A case that fails becomes a test with a name, so none is kept aside.
pub(crate) fn cases(cases: u32) -> Config {
    let default = Config::default();
    let cases = (u64::from(cases) * u64::from(default.cases) / 256) as u32;
    Config { cases, max_global_rejects: cases, failure_persistence: None, ..default }
}

/// A request: how long after the one before, and what it asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) gap: Gap,
    pub(crate) ask: Ask,
}

/// The time since the request before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gap {
    Still,
    Micros(u64),
    /// Thousandths of the window.
    Share(u64),
    /// To the next multiple of the window and as many microseconds on.
    Boundary(i64),
    /// So many windows, and as many microseconds on.
    Windows(u64, i64),
    TenYears,
    /// Back by thousandths of the window.
    Back(u64),
}

/// What is asked for, whatever the quota is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Units(u32),
    /// Thousandths of what can be had at once.
    Share(u32),
    /// What can be had at once and as many more.
    All(u32),
    Most,
}

impl Gap {
    pub(crate) fn after(self, quota: &Quota, now: Moment) -> Moment {
        let (now, window) = (now.as_micros(), quota.window_micros());
        Moment::from_micros(match self {
            Gap::Still => now,
            Gap::Micros(micros) => now + micros,
            Gap::Share(thousandths) => now + window * thousandths / 1_000,
            Gap::Boundary(beyond) => ((now / window + 1) * window).saturating_add_signed(beyond).max(now),
            Gap::Windows(windows, beyond) => (now + windows * window).saturating_add_signed(beyond).max(now),
            Gap::TenYears => now + 10 * YEAR,
            Gap::Back(thousandths) => now.saturating_sub(window * thousandths / 1_000),
        })
    }
}

impl Ask {
    pub(crate) fn of(self, quota: &Quota) -> Cost {
        let all = quota.at_once();
        Cost::new(match self {
            Ask::Units(units) => units,
            Ask::Share(thousandths) => (u64::from(all) * u64::from(thousandths) / 1_000) as u32,
            Ask::All(more) => all.saturating_add(more),
            Ask::Most => u32::MAX,
        })
    }
}

/// Any quota at all.
pub(crate) fn quotas() -> impl Strategy<Value = Quota> {
    (algorithms(), limits(), windows(), 1_u32..4_000).prop_map(|(algorithm, limit, window, burst_share)| {
        let burst = (u64::from(limit) * u64::from(burst_share) / 1_000).clamp(1, u64::from(u32::MAX)) as u32;
        allowed(algorithm, limit, burst, window)
    })
}

/// Any algorithm; the burst of a bucket is set with its limit.
pub(crate) fn algorithms() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        2 => Just(Algorithm::TokenBucket { burst: 1 }),
        1 => Just(Algorithm::FixedWindow(Anchor::Epoch)),
        1 => Just(Algorithm::FixedWindow(Anchor::FirstHit)),
        2 => Just(Algorithm::SlidingWindow),
        2 => Just(Algorithm::SlidingLog),
    ]
}

/// The quota, or the next smaller one that can be counted.
fn allowed(algorithm: Algorithm, limit: u32, burst: u32, window: u64) -> Quota {
    let (algorithm, limit) = match algorithm {
        Algorithm::TokenBucket { .. } => (Algorithm::TokenBucket { burst }, limit),
        // Long logs are slow, and no different.
        Algorithm::SlidingLog if limit > 10_000 => (algorithm, limit % 50 + 1),
        other => (other, limit),
    };
    match Quota::counted_by(algorithm, limit, Duration::from_micros(window)) {
        Ok(quota) => quota,
        Err(_) if limit > 1 => allowed(algorithm, limit / 2, (burst / 2).max(1), window),
        Err(_) => allowed(algorithm, limit, burst, window / SECOND * SECOND),
    }
}

fn limits() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => 1_u32..12,
        1 => prop::sample::select(vec![60, 100, 300, 1_000, 1_500, 5_000, 10_000, 999_983, 1_000_000_000, u32::MAX]),
        1 => 1_u32..=10_000,
        1 => 1_u32..=u32::MAX,
    ]
}

fn windows() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => prop::sample::select(vec![MILLI, 7 * MILLI, SECOND, 10 * SECOND, 60 * SECOND, 3_600 * SECOND, DAY, 366 * DAY]),
        1 => MILLI..20 * SECOND,
        1 => (1_u64..=366 * 86_400).prop_map(|seconds| seconds * SECOND),
    ]
}

/// A moment to begin at: now, or soon after the epoch.
pub(crate) fn beginnings() -> impl Strategy<Value = Moment> {
    prop_oneof![
        3 => (0..DAY).prop_map(|micros| Moment::from_micros(1_780_000_000 * SECOND + micros)),
        1 => (0..10 * SECOND).prop_map(Moment::from_micros),
    ]
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        6 => Just(Ask::Units(1)),
        1 => Just(Ask::Units(0)),
        2 => (2_u32..5).prop_map(Ask::Units),
        4 => (1_u32..=1_000).prop_map(Ask::Share),
        1 => (0_u32..2).prop_map(Ask::All),
        1 => Just(Ask::Most),
    ]
}

fn forward() -> impl Strategy<Value = Gap> {
    prop_oneof![
        3 => Just(Gap::Still),
        2 => (1_u64..5_000).prop_map(Gap::Micros),
        6 => (1_u64..600).prop_map(Gap::Share),
        2 => (-2_i64..=2).prop_map(Gap::Boundary),
        2 => (1_u64..=2, -2_i64..=2).prop_map(|(windows, beyond)| Gap::Windows(windows, beyond)),
    ]
}

fn any_gap() -> impl Strategy<Value = Gap> {
    prop_oneof![
        12 => forward(),
        1 => Just(Gap::TenYears),
        3 => (1_u64..2_500).prop_map(Gap::Back),
    ]
}

/// Traffic on a clock that never steps back.
pub(crate) fn steady(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((forward(), asks()).prop_map(|(gap, ask)| Step { gap, ask }), 1..most)
}

/// Traffic on a clock that runs, stops, leaps and steps back.
pub(crate) fn unsteady(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((any_gap(), asks()).prop_map(|(gap, ask)| Step { gap, ask }), 1..most)
}
