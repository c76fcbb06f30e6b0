//! Traffic at random under quotas of every size, answered in Redis and by the plainest store: where doubles and integers
//! could part.

use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Hit, Hits, ManualClock, Mode, Moment, Op, Quota, Store, Verdict};
use aforo_redis::RedisStore;
use aforo_testkit::servers::RedisServer;
use aforo_testkit::{Numbers, PlainStore, block_on};

use crate::asking::{costing, hit, patient};

const START: Moment = Moment::from_micros(1_700_000_000_123_456);
/// Doubles count microseconds exactly until 2255. No test goes as far.
const END: u64 = 5_000_000_000_000_000;
const LONGEST: u64 = 366 * 86_400 * 1_000_000;
const SUBJECTS: u64 = 2;
const STEPS: u64 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lua_counts_as_the_engine_does_whatever_the_size() {
    // More seeds: AFORO_SEEDS=4000.
    let seeds = std::env::var("AFORO_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    let server = RedisServer::start();
    for seed in 0..seeds {
        compare(&server, seed).await;
    }
}

async fn compare(server: &RedisServer, seed: u64) {
    let clock: &ManualClock = Box::leak(Box::new(ManualClock::at(START)));
    let settings = patient(&server.url()).prefix(format!("seed{seed}")).unwrap();
    let (store, plain) = (RedisStore::with_clock(settings, clock), PlainStore::new(clock));
    let mut numbers = Numbers::new(seed);
    let mut rules: Vec<Rule> = (0..4).map(|_| Rule::any(&mut numbers)).collect();
    let mut last = Vec::new();
    let mut taken_at = START;
    for step in 0..STEPS {
        let now = later(aforo_core::Clock::now(&clock), taken_at, &rules, &last, &mut numbers);
        clock.set(now);
        if numbers.below(8) == 0 {
            let changed = numbers.below(4) as usize;
            rules[changed] = Rule::any(&mut numbers);
        }
        let op = match numbers.below(8) {
            0 | 1 => Op::Peek,
            2 => Op::Refund { taken_at },
            _ => Op::Take,
        };
        let mut hits = request(&rules, &mut numbers);
        let takes_back = matches!(op, Op::Refund { .. });
        if takes_back {
            // Of nothing it writes nothing in Redis; the plainest store writes down what has drained.
            hits.retain(|hit| hit.cost.units() > 0);
        }
        for hit in &mut hits {
            // What is left just fits, and one more does not: that is where two computations would part.
            if !takes_back && numbers.below(2) == 0 {
                let looked = block_on(plain.decide(Op::Peek, &Hits::one(*hit))).unwrap();
                let left = looked.verdicts().next().unwrap().remaining;
                *hit = costing(left.saturating_add(numbers.below(2) as u32), *hit);
            }
        }
        let asked = hits.iter().copied().collect();
        let place = format!("seed {seed}, step {step}: {op:?} of {hits:?} at {now:?}");
        let answer = store.decide(op, &asked).await.unwrap_or_else(|error| panic!("{place}: {error}"));
        let plainly = block_on(plain.decide(op, &asked)).unwrap();
        last = plainly.verdicts().copied().collect();
        assert_eq!(answer.verdicts().copied().collect::<Vec<Verdict>>(), last, "{place}");
        assert_eq!((answer.allowed(), answer.taken_at()), (plainly.allowed(), now), "{place}");
        if numbers.below(2) == 0 {
            taken_at = now;
        }
    }
}

#[derive(Clone, Copy)]
struct Rule {
    quota: Quota,
    mode: Mode,
    count_denied: bool,
}

impl Rule {
    fn any(numbers: &mut Numbers) -> Rule {
        let quota = std::iter::repeat_with(|| quota(numbers)).flatten().next().unwrap();
        let mode = numbers.one_of(&[Mode::Enforce, Mode::Enforce, Mode::Enforce, Mode::Shadow]);
        Rule { quota, mode, count_denied: numbers.below(4) == 0 }
    }
}

/// A quota of any size, often one of the largest that is exact; `None` if it is none.
fn quota(numbers: &mut Numbers) -> Option<Quota> {
    let window = match numbers.below(4) {
        0 => numbers.one_of(&[1_000, 1_001, 300_000, 1_000_000, 60_000_000, 86_400_000_000, LONGEST, LONGEST - 1]),
        1 => 1_000 * (1 + of_any_size(numbers, LONGEST / 1_000)),
        _ => 1_000 + of_any_size(numbers, LONGEST - 1_000),
    };
    let limit = match numbers.below(4) {
        0 => 1 + numbers.below(9),
        1 => numbers.one_of(&[u64::from(u32::MAX), u64::from(u32::MAX) - 1, 1 << 31, 1]),
        // Two windows of this just fit.
        2 => (1 << 51) / window,
        _ => 1 + of_any_size(numbers, u64::from(u32::MAX)),
    };
    let limit = limit.clamp(1, u32::MAX.into()) as u32;
    let algorithm = match numbers.below(6) {
        0 | 1 => Algorithm::TokenBucket { burst: burst(limit, window, numbers) },
        2 => Algorithm::FixedWindow(Anchor::Epoch),
        3 => Algorithm::FixedWindow(Anchor::FirstHit),
        4 => Algorithm::SlidingWindow,
        _ => Algorithm::SlidingLog,
    };
    let limit = if algorithm == Algorithm::SlidingLog { 1 + limit % numbers.one_of(&[7, 700]) } else { limit };
    Quota::counted_by(algorithm, limit, Duration::from_micros(window)).ok()
}

fn burst(limit: u32, window: u64, numbers: &mut Numbers) -> u32 {
    if numbers.below(2) == 0 {
        return limit;
    }
    let smallest = Quota::counted_by(Algorithm::TokenBucket { burst: 1 }, limit, Duration::from_micros(window));
    let per_unit = smallest.map_or(1, |quota| quota.grain().per_unit);
    // More than fit in the finest tick is counted in a coarser one.
    let most = ((1 << 52) / per_unit).saturating_mul(numbers.one_of(&[1, 1, 10, 1_000_000])).clamp(1, u32::MAX.into());
    if numbers.below(2) == 0 { most as u32 } else { 1 + of_any_size(numbers, most - 1) as u32 }
}

/// A number that is as likely small as large.
fn of_any_size(numbers: &mut Numbers, most: u64) -> u64 {
    (numbers.any() >> numbers.below(64)).min(most)
}

/// Some of the rules, for one of the subjects.
fn request(rules: &[Rule], numbers: &mut Numbers) -> Vec<Hit> {
    let subject = format!("client{}", numbers.below(SUBJECTS));
    let chosen = if numbers.below(2) == 0 { 1 << numbers.below(4) } else { 1 + numbers.below(15) };
    let met = rules.iter().enumerate().filter(|(rule, _)| chosen >> rule & 1 == 1);
    met.map(|(number, &Rule { quota, mode, count_denied })| {
        let hit = Hit { mode, count_denied, ..hit(&number.to_string(), &subject, quota) };
        costing(cost(quota.at_once(), numbers), hit)
    })
    .collect()
}

fn cost(most: u32, numbers: &mut Numbers) -> u32 {
    match numbers.below(10) {
        0 => 0,
        1 => most,
        2 => most - 1,
        3 => most.saturating_add(1),
        4 => most / 2,
        5 => most / 2 + 1,
        6 => numbers.one_of(&[u32::MAX, 1 + (most / 3)]),
        7 => of_any_size(numbers, most.into()) as u32,
        _ => 1,
    }
}

/// The next moment: often the very one at which something changes, or the one beside it; sometimes an earlier one.
fn later(now: Moment, taken_at: Moment, rules: &[Rule], last: &[Verdict], numbers: &mut Numbers) -> Moment {
    let quota = numbers.one_of(rules).quota;
    let window = quota.window_micros();
    let full = u64::try_from(quota.time_to_full().as_micros()).unwrap_or(u64::MAX);
    let at = now.as_micros();
    let promised = last.iter().flat_map(|verdict| [verdict.wait.as_micros().unwrap_or(0), verdict.reset_micros]);
    let promised: Vec<u64> = promised.filter(|micros| (1..LONGEST * 2).contains(micros)).collect();
    let next = match numbers.below(11) {
        0 | 1 => at,
        2..=4 if !promised.is_empty() => at + numbers.one_of(&promised) - numbers.below(2),
        5 => at - at % window + window - numbers.below(2),
        6 => at.saturating_sub(of_any_size(numbers, window)),
        7 => at + of_any_size(numbers, 3 * window),
        // A refund comes to nothing from here on.
        8 => taken_at.as_micros().saturating_add(full) - numbers.below(2),
        _ => at + of_any_size(numbers, window),
    };
    if next > END { START } else { Moment::from_micros(next) }
}
