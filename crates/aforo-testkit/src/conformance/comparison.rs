//! Traffic at random, answered by the store and by the plainest one.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Hit, ManualClock, Mode, Op, Quota, Store, Verdict};

use super::{Harness, START, Trial, costing};
use crate::{Numbers, PlainStore, block_on};

/// Every answer, in full, is the plainest store's: several rules a request, all modes, takes, looks and refunds.
pub fn answers_as_the_plainest_store_does<H: Harness>() {
    for seed in 0..40 {
        let clock: &ManualClock = Box::leak(Box::default());
        let (trial, plain, mut numbers) = (Trial::<H>::start(), PlainStore::new(clock), Numbers::new(seed));
        let rules = rules(&mut numbers);
        let (mut now, mut taken_at) = (START, START);
        for step in 0..60 {
            now = now.plus_micros(pause(&mut numbers));
            clock.set(now);
            trial.at(now);
            let hits = request(&trial, &rules, &mut numbers);
            let op = match numbers.below(8) {
                0 => Op::Peek,
                1 => Op::Refund { taken_at },
                _ => Op::Take,
            };
            let answer = trial.decide(op, &hits);
            let plainly = block_on(plain.decide(op, &hits.iter().copied().collect())).expect("it always answers");
            let verdicts = |decision: &aforo_core::Decision| -> Vec<Verdict> { decision.verdicts().copied().collect() };
            let place = format!("seed {seed}, step {step}: {op:?} of {hits:?}");
            assert_eq!(verdicts(&answer), verdicts(&plainly), "{place}");
            assert_eq!((answer.allowed(), answer.taken_at()), (plainly.allowed(), now), "{place}");
            if numbers.below(2) == 0 {
                taken_at = now;
            }
        }
    }
}

/// From one to eight rules, each of its own quota.
fn rules(numbers: &mut Numbers) -> Vec<(Quota, Mode, bool)> {
    let windows = [1_000, 250_000, 1_000_000, 1_000_003, 60_000_000].map(Duration::from_micros);
    let rule = |_| {
        let limit = 1 + numbers.below(12) as u32;
        let algorithm = match numbers.below(5) {
            0 => Algorithm::TokenBucket { burst: 1 + numbers.below(20) as u32 },
            1 => Algorithm::FixedWindow(Anchor::Epoch),
            2 => Algorithm::FixedWindow(Anchor::FirstHit),
            3 => Algorithm::SlidingWindow,
            _ => Algorithm::SlidingLog,
        };
        let window = numbers.one_of(&windows);
        let quota = Quota::counted_by(algorithm, limit, window).expect("small enough to be exact");
        let mode = if numbers.below(4) == 0 { Mode::Shadow } else { Mode::Enforce };
        (quota, mode, numbers.below(4) == 0)
    };
    (0..8).map(rule).collect()
}

/// Some of the rules, for one of three subjects.
fn request<H: Harness>(trial: &Trial<H>, rules: &[(Quota, Mode, bool)], numbers: &mut Numbers) -> Vec<Hit> {
    // Half of the requests meet one rule, as most do.
    let subject = numbers.below(3);
    let chosen = if numbers.below(2) == 0 { 1 << numbers.below(8) } else { 1 + numbers.below(255) };
    let met = rules.iter().enumerate().filter(|(rule, _)| chosen >> rule & 1 == 1);
    met.map(|(rule, &(quota, mode, count_denied))| {
        let hit = Hit { mode, count_denied, ..trial.hit(&format!("{rule}.{subject}"), quota) };
        costing(numbers.one_of(&[1, 1, 1, 0, 2, 5, 40]), hit)
    })
    .collect()
}

/// Microseconds to the next request: none, few, or as long as windows are.
fn pause(numbers: &mut Numbers) -> u64 {
    match numbers.below(6) {
        0 | 1 => 0,
        2 => numbers.below(1_000),
        3 | 4 => numbers.below(300_000),
        _ => numbers.below(90_000_000),
    }
}
