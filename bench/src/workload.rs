//! Who asks.

use crate::Terms;

/// The keys of the workloads with many.
pub const KEYS: usize = 1_000_000;
/// Requests after which a workload begins again.
const LENGTH: usize = 1 << 21;

/// A key's name, twenty bytes, built for each request as a server would: `user:` and a number.
pub(crate) struct Name([u8; 20]);

impl Name {
    #[inline]
    pub(crate) fn of(mut number: u32) -> Name {
        let mut name = *b"user:000000000000000";
        for digit in name.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        Name(name)
    }

    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// In which order keys are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One key, always allowed.
    Hot,
    /// One key, refused.
    Refused,
    /// A million keys, each as likely.
    Uniform,
    /// A million keys, the one of rank `n` with a weight of `n^-1.1`.
    Zipf,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 4] = [Workload::Hot, Workload::Refused, Workload::Uniform, Workload::Zipf];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Hot => "one hot key",
            Workload::Refused => "refused",
            Workload::Uniform => "1M keys",
            Workload::Zipf => "1M keys, Zipf 1.1",
        }
    }

    /// The quota that goes with it.
    pub fn terms(self) -> Terms {
        if self == Workload::Refused { Terms::REFUSED } else { Terms::ALLOWED }
    }

    /// How many keys there are before the first request is measured.
    pub(crate) fn keys(self) -> u32 {
        match self {
            Workload::Hot | Workload::Refused => 1,
            Workload::Uniform | Workload::Zipf => KEYS as u32,
        }
    }

    /// The numbers of the keys, drawn beforehand: drawing is not what is measured.
    pub(crate) fn numbers(self, seed: u64) -> Vec<u32> {
        let mut dice = Dice(seed * 2 + 1);
        match self {
            Workload::Hot | Workload::Refused => vec![0; 1 << 10],
            Workload::Uniform => (0..LENGTH).map(|_| dice.below(KEYS as u64) as u32).collect(),
            Workload::Zipf => {
                let mut sum = 0.0;
                let sums: Vec<f64> = (1..=KEYS)
                    .map(|rank| (rank as f64).powf(-1.1))
                    .map(|w| {
                        sum += w;
                        sum
                    })
                    .collect();
                let mut draw = || sums.partition_point(|&below| below < dice.unit() * sum).min(KEYS - 1) as u32;
                (0..LENGTH).map(|_| draw()).collect()
            }
        }
    }
}

/// SplitMix64: the same requests in every process.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }
}
