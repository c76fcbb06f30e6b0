//! Chance that can be repeated.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Another sequence for each seed and each number.
    pub(super) fn new(seed: u64, number: u64) -> Random {
        let mut random = Random(seed);
        Random(random.next() ^ number)
    }

    /// A sequence of its own for a part of the work.
    pub(super) fn split(&mut self) -> Random {
        Random(self.next())
    }

    /// Yes in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: u8) -> bool {
        self.next() % 100 < u64::from(percent)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
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
