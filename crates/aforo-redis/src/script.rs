//! The script: what decides and writes inside Redis, in as many parts as a request needs.

use std::sync::{Arc, LazyLock};

use aforo_core::{Algorithm, Hits, Op};

const REQUEST: &str = include_str!("../lua/request.lua");
const BUCKETS: &str = include_str!("../lua/buckets.lua");
const STATE: &str = include_str!("../lua/state.lua");
const DECIDE: &str = include_str!("../lua/decide.lua");
/// Each algorithm by the bit that stands for it.
const ALGORITHMS: [&str; 4] = [
    include_str!("../lua/token_bucket.lua"),
    include_str!("../lua/fixed_window.lua"),
    include_str!("../lua/sliding_window.lua"),
    include_str!("../lua/sliding_log.lua"),
];

/// A script and the digest that a server knows it by.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) text: Arc<str>,
    pub(crate) digest: String,
}

impl Script {
    pub(crate) fn new(text: &str) -> Script {
        Script { text: text.into(), digest: redis::Script::new(text).get_hash().to_owned() }
    }
}

/// The bit that stands for an algorithm.
pub(crate) const fn bit(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::TokenBucket { .. } => 1,
        Algorithm::FixedWindow(_) => 2,
        Algorithm::SlidingWindow => 4,
        Algorithm::SlidingLog => 8,
    }
}

/// The script that decides those hits.
pub(crate) fn for_hits(op: Op, hits: &Hits) -> &'static Script {
    // Every one of the algorithms' combinations; the first place is for takes from buckets alone.
    static SCRIPTS: LazyLock<[Script; 16]> = LazyLock::new(|| std::array::from_fn(compose));
    let buckets_alone = |hit: &aforo_core::Hit| bit(hit.quota.algorithm()) == 1 && !hit.count_denied;
    let place = match op {
        Op::Take if hits.iter().all(buckets_alone) => 0,
        _ => hits.iter().fold(0, |bits, hit| bits | bit(hit.quota.algorithm())),
    };
    let [buckets, ..] = &*SCRIPTS;
    SCRIPTS.get(place).unwrap_or(buckets)
}

/// The script for the algorithms of those bits; for takes from buckets alone where there is none.
pub(crate) fn compose(bits: usize) -> Script {
    let chosen = if bits == 0 { 1 } else { bits };
    let algorithms = ALGORITHMS.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
    let mut parts = vec![REQUEST];
    if bits == 0 {
        parts.push(BUCKETS);
    }
    parts.push(STATE);
    parts.extend(algorithms.map(|(_, text)| *text));
    parts.push(DECIDE);
    Script::new(&parts.concat())
}
