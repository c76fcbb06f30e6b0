//! A state in 24 bytes.
//!
//! | word | token bucket | … of a large `per_tick` | windows | log |
//! |---|---|---|---|---|
//! | 0 | debt | debt (53), per tick (11) | previous (32), current or used (32) | ring (32), live (32) |
//! | 1 | per unit (45), tick (3), per tick (16) | the same | window, first hit (1) | window |
//! | 2 | at (55), 0 (5), seen again (1), kind (3) | at, per tick (5), … | at, 0, … | newest, 0, … |
//!
//! The core's limits make it fit: a debt is at most 2^52, a window and a unit's grains are below 2^45, and a tick is a
//! power of ten microseconds. That most quotas drain fewer than 2^16 grains a tick makes it fast.

use aforo_core::algorithm::token_bucket::Debt;
use aforo_core::{Anchor, Grain, Moment, State};

const KIND: u64 = 0b111;
const TOKEN_BUCKET: u64 = 0;
const LARGE_TOKEN_BUCKET: u64 = 1;
const FIXED_WINDOW: u64 = 2;
const SLIDING_WINDOW: u64 = 3;
const SLIDING_LOG: u64 = 4;

const SEEN: u64 = 1 << 3;
const LAST_SHIFT: u32 = 4;
const AT_SHIFT: u32 = 9;
/// The year 3111; later moments are kept as this one.
const LATEST: u64 = u64::MAX >> AT_SHIFT;

const DEBT_BITS: u32 = 53;
const UNIT_BITS: u32 = 45;
const PER_TICK_SHIFT: u32 = 48;
const FIRST_HIT: u64 = 1 << 63;

const TICKS: [u32; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// A state that is not fresh, and whether its key has been charged more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed([u64; 3]);

impl Packed {
    /// The words of an empty place.
    pub(crate) const NOTHING: Packed = Packed([0; 3]);

    /// Packs a state. A fresh one has no form: it is not kept.
    ///
    /// A sliding log's ring is set by [`Packed::with_log`].
    #[inline]
    pub(crate) fn new(state: &State) -> Option<Packed> {
        match *state {
            State::Fresh => None,
            State::TokenBucket { debt, at, grain } => {
                let words = [debt, pack_grain(grain), moment(at) | TOKEN_BUCKET];
                Some(if grain.per_tick >> 16 == 0 { Packed(words) } else { Packed::large(words, grain.per_tick) })
            }
            ref other => Packed::other(other),
        }
    }

    #[cold]
    fn large([debt, grain, at]: [u64; 3], per_tick: u32) -> Packed {
        let (middle, last) = (u64::from(per_tick >> 16) & 0x7FF, u64::from(per_tick >> 27));
        Packed([low(debt, DEBT_BITS) | middle << DEBT_BITS, grain, at | last << LAST_SHIFT | LARGE_TOKEN_BUCKET])
    }

    fn other(state: &State) -> Option<Packed> {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Some(Packed(match *state {
            State::Fresh | State::TokenBucket { .. } => return None,
            State::FixedWindow { used, at, window, anchor } => {
                let first_hit = if anchor == Anchor::FirstHit { FIRST_HIT } else { 0 };
                [pair(0, used), window | first_hit, moment(at) | FIXED_WINDOW]
            }
            State::SlidingWindow { previous, current, at, window } => {
                [pair(previous, current), window, moment(at) | SLIDING_WINDOW]
            }
            State::SlidingLog { live, newest, window } => [pair(0, live), window, moment(newest) | SLIDING_LOG],
        }))
    }

    /// The state.
    #[inline]
    pub(crate) fn state(&self) -> State {
        let Packed([debt, grain, at]) = *self;
        match at & KIND {
            TOKEN_BUCKET => State::TokenBucket { debt, at: self.charged_at(), grain: unpack_grain(grain) },
            _ => self.other_state(),
        }
    }

    fn other_state(&self) -> State {
        let Packed([first, second, third]) = *self;
        let at = self.charged_at();
        match third & KIND {
            FIXED_WINDOW => {
                let anchor = if second & FIRST_HIT == 0 { Anchor::Epoch } else { Anchor::FirstHit };
                State::FixedWindow { used: (first >> 32) as u32, at, window: second & !FIRST_HIT, anchor }
            }
            SLIDING_WINDOW => {
                State::SlidingWindow { previous: first as u32, current: (first >> 32) as u32, at, window: second }
            }
            SLIDING_LOG => State::SlidingLog { live: (first >> 32) as u32, newest: at, window: second },
            _ => {
                let grain = unpack_grain(second);
                let (middle, last) = ((first >> DEBT_BITS) as u32, (third >> LAST_SHIFT) as u32 & 0b11111);
                let per_tick = grain.per_tick | middle << 16 | last << 27;
                State::TokenBucket { debt: low(first, DEBT_BITS), at, grain: Grain { per_tick, ..grain } }
            }
        }
    }

    /// The debt, if it is counted in this grain.
    #[inline(always)]
    pub(crate) fn debt_in(&self, grain: Grain) -> Option<Debt> {
        let Packed([grains, counted_in, at]) = *self;
        // Field by field: taking the word apart is less work than packing the quota's grain.
        let same = at & KIND == TOKEN_BUCKET
            && low(counted_in, UNIT_BITS) == grain.per_unit
            && counted_in >> PER_TICK_SHIFT == grain.per_tick.into()
            && tick(counted_in) == grain.tick;
        same.then(|| Debt { grains, at: self.charged_at() })
    }

    /// The same key with another debt in the same grain, charged again.
    #[inline(always)]
    pub(crate) fn with_debt(self, Debt { grains, at }: Debt) -> Packed {
        Packed([grains, self.0[1], moment(at) | SEEN | TOKEN_BUCKET])
    }

    /// The ring of a log's entries; `None` of another state.
    #[inline]
    pub(crate) const fn log(&self) -> Option<u32> {
        if self.0[2] & KIND == SLIDING_LOG { Some(self.0[0] as u32) } else { None }
    }

    /// The same log, its entries in `ring`.
    pub(crate) const fn with_log(self, ring: u32) -> Packed {
        let Packed([first, second, third]) = self;
        Packed([first >> 32 << 32 | ring as u64, second, third])
    }

    /// The same state of a key that has been charged before.
    #[inline]
    pub(crate) const fn seen_again(self) -> Packed {
        let Packed([first, second, third]) = self;
        Packed([first, second, third | SEEN])
    }

    /// Whether the key has been charged more than once.
    #[inline]
    pub(crate) const fn is_seen_again(&self) -> bool {
        self.0[2] & SEEN != 0
    }

    /// When the key was last charged.
    #[inline]
    pub(crate) const fn charged_at(&self) -> Moment {
        Moment::from_micros(self.0[2] >> AT_SHIFT)
    }
}

#[inline(always)]
const fn low(word: u64, bits: u32) -> u64 {
    word & (u64::MAX >> (64 - bits))
}

/// A grain, of whose `per_tick` only the lowest 16 bits are kept.
#[inline(always)]
fn pack_grain(grain: Grain) -> u64 {
    let tick = if grain.tick == 1 { 0 } else { u64::from(grain.tick.max(1).ilog10()) };
    low(grain.per_unit, UNIT_BITS) | tick << UNIT_BITS | u64::from(grain.per_tick) << PER_TICK_SHIFT
}

#[inline(always)]
fn unpack_grain(word: u64) -> Grain {
    Grain { per_unit: low(word, UNIT_BITS), per_tick: (word >> PER_TICK_SHIFT) as u32, tick: tick(word) }
}

#[inline(always)]
fn tick(word: u64) -> u32 {
    TICKS[(word >> UNIT_BITS & 0b111) as usize]
}

#[inline(always)]
fn moment(at: Moment) -> u64 {
    at.as_micros().min(LATEST) << AT_SHIFT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at() -> impl Strategy<Value = Moment> {
        (0..=LATEST).prop_map(Moment::from_micros)
    }

    fn window() -> impl Strategy<Value = u64> {
        1_000..1u64 << 45
    }

    fn anchor() -> impl Strategy<Value = Anchor> {
        prop_oneof![Just(Anchor::Epoch), Just(Anchor::FirstHit)]
    }

    fn state() -> impl Strategy<Value = State> {
        let per_tick = (any::<u32>(), 0..32u32).prop_map(|(bits, short)| bits >> short);
        let grain = (1..1u64 << 45, per_tick, 0..7usize).prop_map(|(per_unit, per_tick, tick)| Grain {
            per_unit,
            per_tick,
            tick: TICKS[tick],
        });
        prop_oneof![
            (1..=1u64 << 52, at(), grain).prop_map(|(debt, at, grain)| State::TokenBucket { debt, at, grain }),
            (any::<u32>(), at(), window(), anchor()).prop_map(|(used, at, window, anchor)| State::FixedWindow {
                used,
                at,
                window,
                anchor
            }),
            (any::<u32>(), any::<u32>(), at(), window())
                .prop_map(|(previous, current, at, window)| { State::SlidingWindow { previous, current, at, window } }),
            (any::<u32>(), at(), window()).prop_map(|(live, newest, window)| State::SlidingLog {
                live,
                newest,
                window
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_again(state in state(), ring: u32) {
            let packed = Packed::new(&state).unwrap();
            prop_assert_eq!(packed.state(), state);
            prop_assert_eq!(packed.seen_again().state(), state);
            prop_assert_eq!(packed.charged_at(), state.charged_at());
            prop_assert!(!packed.is_seen_again() && packed.seen_again().is_seen_again());
            if packed.log().is_some() {
                prop_assert_eq!(packed.with_log(ring).seen_again().log(), Some(ring));
                prop_assert_eq!(packed.with_log(ring).state(), state);
            }
        }
    }

    #[test]
    fn a_debt_is_told_in_the_grain_that_it_was_counted_in_and_in_no_other() {
        let grain = Grain { per_unit: 7, per_tick: 3, tick: 10 };
        let at = Moment::from_millis(1);
        let packed = Packed::new(&State::TokenBucket { debt: 5, at, grain }).unwrap();
        assert_eq!(packed.debt_in(grain), Some(Debt { grains: 5, at }));
        for other in [
            Grain { per_unit: 8, ..grain },
            Grain { per_tick: 4, ..grain },
            Grain { per_tick: 3 + (1 << 16), ..grain },
            Grain { tick: 1, ..grain },
        ] {
            assert_eq!(packed.debt_in(other), None, "{other:?}");
        }
        let window = State::FixedWindow { used: 5, at, window: 1_000_000, anchor: Anchor::Epoch };
        assert_eq!(Packed::new(&window).unwrap().debt_in(grain), None);
    }

    #[test]
    fn the_greatest_numbers_fit() {
        let grain = Grain { per_unit: (1 << 45) - 1, per_tick: u32::MAX, tick: 1_000_000 };
        let full = State::TokenBucket { debt: 1 << 52, at: Moment::from_micros(LATEST), grain };
        assert_eq!(Packed::new(&full).unwrap().seen_again().state(), full);
        assert_eq!(Packed::new(&State::Fresh), None);
    }
}
