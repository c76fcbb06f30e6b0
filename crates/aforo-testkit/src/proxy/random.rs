//! Chance that can be repeated.

use crate::Numbers;

/// One packet's, one connection's or one direction's share of it.
#[derive(Debug)]
pub(super) struct Random(Numbers);

impl Random {
    /// Another sequence for each seed and each number.
    pub(super) fn new(seed: u64, number: u64) -> Random {
        Random(Numbers::new(Numbers::new(seed).any() ^ number))
    }

    /// A sequence of its own for a part of the work.
    pub(super) fn split(&mut self) -> Random {
        Random(Numbers::new(self.0.any()))
    }

    /// Yes in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: u8) -> bool {
        self.0.below(100) < u64::from(percent)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    fn chances(seed: u64, number: u64, percent: u8) -> Vec<bool> {
        let mut random = Random::new(seed, number);
        (0..1_000).map(|_| random.chance(percent)).collect()
    }

    #[test]
    fn the_same_seed_and_number_are_the_same_chance() {
        assert_eq!(chances(1, 1, 30), chances(1, 1, 30));
        assert_ne!(chances(1, 1, 30), chances(2, 1, 30));
        assert_ne!(chances(1, 1, 30), chances(1, 2, 30));
    }

    #[test]
    fn a_chance_comes_as_often_as_it_says() {
        for (percent, fewest, most) in [(0, 0, 0), (30, 250, 350), (100, 1_000, 1_000)] {
            let came = chances(7, 1, percent).into_iter().filter(|came| *came).count();
            assert!((fewest..=most).contains(&came), "{percent} percent of 1000: {came}");
        }
    }
}
