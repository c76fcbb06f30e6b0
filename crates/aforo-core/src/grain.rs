//! The integers in which a quota is counted exactly.

/// The ticks that counting may use, in microseconds, finest first.
const TICKS: [u64; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// A double holds every integer up to 2^53; half of that leaves room for a sum of two.
const EXACT: u128 = 1 << 52;

/// The integers in which a token bucket counts.
///
/// With `w` ticks to the window and `g = gcd(limit, w)`, a unit weighs `w/g` grains and each tick drains `limit/g`
/// of them: the rate is exact, whatever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grain {
    /// Grains to a unit.
    pub per_unit: u64,
    /// Grains drained each tick.
    pub per_tick: u32,
    /// Microseconds to a tick.
    pub tick: u32,
}

impl Grain {
    /// Whole units, and the finest tick.
    pub(crate) const WHOLE: Grain = Grain { per_unit: 1, per_tick: 1, tick: 1 };
}

/// The finest grain in which a bucket of `burst` units stays exact.
pub(crate) const fn bucket_grain(limit: u32, burst: u32, window: u64) -> Option<Grain> {
    let mut index = 0;
    while index < TICKS.len() && window.is_multiple_of(TICKS[index]) {
        let ticks = window / TICKS[index];
        let divisor = gcd(limit as u64, ticks);
        let per_unit = ticks / divisor;
        if burst as u128 * per_unit as u128 <= EXACT {
            let per_tick = (limit as u64 / divisor) as u32;
            return Some(Grain { per_unit, per_tick, tick: TICKS[index] as u32 });
        }
        index += 1;
    }
    None
}

/// The finest tick in which `units` windows of ticks stay exact.
pub(crate) const fn coarse_grain(units: u128, window: u64) -> Option<Grain> {
    let mut index = 0;
    while index < TICKS.len() && window.is_multiple_of(TICKS[index]) {
        if units * (window / TICKS[index]) as u128 <= EXACT {
            return Some(Grain { tick: TICKS[index] as u32, ..Grain::WHOLE });
        }
        index += 1;
    }
    None
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
