//! A state in 24 bytes.
//!
//! | word | token bucket | windows | log |
//! |---|---|---|---|
//! | 0 | debt − 1 (52), per tick (12) | previous (32), current or used (32) | ring (32), live (32) |
//! | 1 | per unit (45), per tick (19) | window (45) | window (45) |
//! | 2 | at (57), per tick (1), tick (3), seen again (1), kind (2) | at, 0, anchor, … | newest, 0, 0, … |
//!
//! The core's limits make it fit: a debt is at most 2^52, and never zero here; a window and a unit's grains are below
//! 2^45; a tick is a power of ten microseconds.

use aforo_core::{Anchor, Grain, Moment, State};

const KIND: u64 = 0b11;
const TOKEN_BUCKET: u64 = 0;
const FIXED_WINDOW: u64 = 1;
const SLIDING_WINDOW: u64 = 2;
const SLIDING_LOG: u64 = 3;

const SEEN: u64 = 1 << 2;
const TICK_SHIFT: u32 = 3;
const PER_TICK_TOP_SHIFT: u32 = 6;
const AT_SHIFT: u32 = 7;
const DEBT_BITS: u32 = 52;
const UNIT_BITS: u32 = 45;
/// The year 6536; later moments are kept as this one.
const LATEST: u64 = u64::MAX >> AT_SHIFT;

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
        Some(match *state {
            State::Fresh => return None,
            State::TokenBucket { debt, at, grain } => {
                let per_tick = u64::from(grain.per_tick);
                let tick = if grain.tick == 1 { 0 } else { u64::from(grain.tick.max(1).ilog10()) };
                Packed([
                    debt.saturating_sub(1).min(low(u64::MAX, DEBT_BITS)) | per_tick << DEBT_BITS,
                    low(grain.per_unit, UNIT_BITS) | per_tick >> (64 - DEBT_BITS) << UNIT_BITS,
                    moment(at) | per_tick >> 31 << PER_TICK_TOP_SHIFT | tick << TICK_SHIFT | TOKEN_BUCKET,
                ])
            }
            State::FixedWindow { used, at, window, anchor } => {
                let anchor = u64::from(anchor == Anchor::FirstHit);
                Packed([u64::from(used) << 32, window, moment(at) | anchor << TICK_SHIFT | FIXED_WINDOW])
            }
            State::SlidingWindow { previous, current, at, window } => {
                Packed([u64::from(previous) | u64::from(current) << 32, window, moment(at) | SLIDING_WINDOW])
            }
            State::SlidingLog { live, newest, window } => {
                Packed([u64::from(live) << 32, window, moment(newest) | SLIDING_LOG])
            }
        })
    }

    /// The state.
    #[inline]
    pub(crate) fn state(&self) -> State {
        let Packed([first, second, third]) = *self;
        let at = Moment::from_micros(third >> AT_SHIFT);
        match third & KIND {
            TOKEN_BUCKET => {
                let (bottom, middle, top) = (first >> DEBT_BITS, second >> UNIT_BITS, third >> PER_TICK_TOP_SHIFT & 1);
                let per_tick = bottom | middle << (64 - DEBT_BITS) | top << 31;
                let tick = TICKS[(third >> TICK_SHIFT & 0b111) as usize];
                let grain = Grain { per_unit: low(second, UNIT_BITS), per_tick: per_tick as u32, tick };
                State::TokenBucket { debt: low(first, DEBT_BITS) + 1, at, grain }
            }
            FIXED_WINDOW => {
                let anchor = if third >> TICK_SHIFT & 1 == 1 { Anchor::FirstHit } else { Anchor::Epoch };
                State::FixedWindow { used: (first >> 32) as u32, at, window: second, anchor }
            }
            SLIDING_WINDOW => {
                State::SlidingWindow { previous: first as u32, current: (first >> 32) as u32, at, window: second }
            }
            _ => State::SlidingLog { live: (first >> 32) as u32, newest: at, window: second },
        }
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

#[inline]
const fn low(word: u64, bits: u32) -> u64 {
    word & (u64::MAX >> (64 - bits))
}

#[inline]
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
        let grain = (1..1u64 << 45, any::<u32>(), 0..7usize).prop_map(|(per_unit, per_tick, tick)| Grain {
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
    fn the_greatest_numbers_fit() {
        let grain = Grain { per_unit: (1 << 45) - 1, per_tick: u32::MAX, tick: 1_000_000 };
        let full = State::TokenBucket { debt: 1 << 52, at: Moment::from_micros(LATEST), grain };
        assert_eq!(Packed::new(&full).unwrap().seen_again().state(), full);
        assert_eq!(Packed::new(&State::Fresh), None);
    }
}
