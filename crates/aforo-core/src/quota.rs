//! Quotas: so many units per window, by an algorithm.

use core::time::Duration;

use crate::grain::{Grain, bucket_grain, coarse_grain};
use crate::invalid_quota::InvalidQuota;

/// The shortest window, in microseconds.
const SHORTEST: u64 = 1_000;
/// The longest window, in microseconds: 366 days.
const LONGEST: u64 = 366 * 86_400 * 1_000_000;
/// The longest log of single units that a quota may ask for.
const LONGEST_LOG: u32 = 10_000;

/// How units are counted within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Units drip back one by one at the quota's rate; at most `burst` can be had at once.
    ///
    /// At most `burst + limit` units in any window.
    TokenBucket {
        /// The most units that can be had at once.
        burst: u32,
    },
    /// A counter that starts at zero with each window.
    ///
    /// Up to twice the limit in a window's length of time that straddles a boundary.
    FixedWindow(Anchor),
    /// Two counters: this window's, and the previous one's weighted by how much of it still lies within a window's
    /// length of now.
    ///
    /// An approximation: under twice the limit in the worst window, close to the limit for even traffic.
    SlidingWindow,
    /// One entry for each unit, kept for a window's length: never more than the limit in any window.
    SlidingLog,
}

/// Where fixed windows begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// At whole multiples of the window since the Unix epoch.
    #[default]
    Epoch,
    /// At the first unit that is taken after the last window has ended.
    FirstHit,
}

/// So many units per window, counted by an algorithm.
///
/// ```
/// use aforo_core::Quota;
/// use core::time::Duration;
///
/// const SEARCH: Quota = Quota::per_second(5).burst(20);
/// assert_eq!((SEARCH.limit(), SEARCH.at_once()), (5, 20));
///
/// let from_data = Quota::new(300, Duration::from_secs(60))?.sliding_window();
/// assert_eq!(from_data.worst_case(), 600);
/// # Ok::<(), aforo_core::InvalidQuota>(())
/// ```
///
/// A constant that is no quota does not compile:
///
/// ```compile_fail,E0080
/// # use aforo_core::Quota;
/// const NOTHING: Quota = Quota::per_second(0);
/// ```
///
/// ```compile_fail,E0080
/// # use aforo_core::Quota;
/// const NEVER_ONE: Quota = Quota::per_minute(60).burst(0);
/// ```
///
/// ```compile_fail,E0080
/// # use aforo_core::Quota;
/// const NO_BUCKET: Quota = Quota::per_minute(60).fixed_window().burst(5);
/// ```
///
/// ```compile_fail,E0080
/// # use aforo_core::Quota;
/// const TOO_LONG: Quota = Quota::per_hour(10_001).sliding_log();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u32,
    window: u64,
    algorithm: Algorithm,
    grain: Grain,
}

impl Quota {
    /// A token bucket of `limit` units a second, all of which can be had at once.
    ///
    /// # Panics
    ///
    /// If `limit` is zero; in a constant that is an error of compilation. For data, use [`Quota::new`].
    pub const fn per_second(limit: u32) -> Quota {
        literal(Quota::new(limit, Duration::from_secs(1)))
    }

    /// A token bucket of `limit` units a minute, all of which can be had at once.
    ///
    /// # Panics
    ///
    /// If `limit` is zero; in a constant that is an error of compilation. For data, use [`Quota::new`].
    pub const fn per_minute(limit: u32) -> Quota {
        literal(Quota::new(limit, Duration::from_secs(60)))
    }

    /// A token bucket of `limit` units an hour, all of which can be had at once.
    ///
    /// # Panics
    ///
    /// If `limit` is zero; in a constant that is an error of compilation. For data, use [`Quota::new`].
    pub const fn per_hour(limit: u32) -> Quota {
        literal(Quota::new(limit, Duration::from_secs(3_600)))
    }

    /// A token bucket of `limit` units per `window`, all of which can be had at once.
    ///
    /// # Errors
    ///
    /// If the limit is zero, if the window is not a whole number of microseconds from 1 ms to 366 days, or if the
    /// quota cannot be counted exactly.
    pub const fn new(limit: u32, window: Duration) -> Result<Quota, InvalidQuota> {
        Quota::counted_by(Algorithm::TokenBucket { burst: limit }, limit, window)
    }

    /// A quota of `limit` units per `window` that is counted by `algorithm`.
    ///
    /// More general than [`Quota::new`] and [`Quota::with_algorithm`] in a row: a quota may be too large to be counted
    /// exactly as a bucket that holds all of it, and not too large for the algorithm that is wanted.
    ///
    /// # Errors
    ///
    /// If the limit or the burst is zero, if the window is not a whole number of microseconds from 1 ms to 366 days, if
    /// the log is too long, or if the quota cannot be counted exactly by that algorithm.
    pub const fn counted_by(algorithm: Algorithm, limit: u32, window: Duration) -> Result<Quota, InvalidQuota> {
        let micros = window.as_micros();
        if limit == 0 {
            return Err(InvalidQuota::ZeroLimit);
        }
        if micros < SHORTEST as u128 {
            return Err(InvalidQuota::WindowTooShort);
        }
        if micros > LONGEST as u128 {
            return Err(InvalidQuota::WindowTooLong);
        }
        if !window.subsec_nanos().is_multiple_of(1000) {
            return Err(InvalidQuota::WindowTooFine);
        }
        Quota { limit, window: micros as u64, algorithm, grain: Grain::WHOLE }.with_algorithm(algorithm)
    }

    /// A quota that allows nothing: every cost but zero is refused, and waiting does not help.
    ///
    /// # Errors
    ///
    /// If the window is not a whole number of microseconds from 1 ms to 366 days.
    pub const fn nothing(window: Duration) -> Result<Quota, InvalidQuota> {
        match Quota::new(1, window) {
            Ok(mut quota) => {
                quota.limit = 0;
                quota.algorithm = Algorithm::TokenBucket { burst: 0 };
                Ok(quota)
            }
            Err(invalid) => Err(invalid),
        }
    }

    /// The same quota, of whose units `units` can be had at once.
    ///
    /// # Panics
    ///
    /// If `units` is zero, if the quota is no token bucket, or if it could then not be counted exactly; in a
    /// constant that is an error of compilation. For data, use [`Quota::with_algorithm`].
    pub const fn burst(self, units: u32) -> Quota {
        match self.algorithm {
            Algorithm::TokenBucket { .. } => literal(self.with_algorithm(Algorithm::TokenBucket { burst: units })),
            _ => panic!("only a token bucket has a burst"),
        }
    }

    /// The same quota in fixed windows aligned to the Unix epoch.
    pub const fn fixed_window(self) -> Quota {
        literal(self.with_algorithm(Algorithm::FixedWindow(Anchor::Epoch)))
    }

    /// The same quota over a sliding window of two counters.
    ///
    /// # Panics
    ///
    /// If it cannot be counted exactly. For data, use [`Quota::with_algorithm`].
    pub const fn sliding_window(self) -> Quota {
        literal(self.with_algorithm(Algorithm::SlidingWindow))
    }

    /// The same quota over a log with one entry a unit.
    ///
    /// # Panics
    ///
    /// If the limit is above 10,000. For data, use [`Quota::with_algorithm`].
    pub const fn sliding_log(self) -> Quota {
        literal(self.with_algorithm(Algorithm::SlidingLog))
    }

    /// The same quota counted by another algorithm.
    ///
    /// # Errors
    ///
    /// If the burst is zero, the log too long, or the quota cannot be counted exactly by that algorithm.
    pub const fn with_algorithm(self, algorithm: Algorithm) -> Result<Quota, InvalidQuota> {
        if self.limit == 0 {
            // Nothing, however it is counted. Windows go on all the same, and are what a reset speaks of.
            let algorithm = match algorithm {
                Algorithm::TokenBucket { .. } => Algorithm::TokenBucket { burst: 0 },
                windowed => windowed,
            };
            return Ok(Quota { algorithm, ..self });
        }
        let grain = match algorithm {
            Algorithm::TokenBucket { burst: 0 } => return Err(InvalidQuota::ZeroBurst),
            Algorithm::SlidingLog if self.limit > LONGEST_LOG => return Err(InvalidQuota::LogTooLong),
            Algorithm::TokenBucket { burst } => bucket_grain(self.limit, burst, self.window),
            // Two windows full of units and the cost, each weighing a whole window, must stay below 2^53.
            Algorithm::SlidingWindow => coarse_grain(self.limit as u128 * 2, self.window),
            Algorithm::FixedWindow(_) | Algorithm::SlidingLog => Some(Grain::WHOLE),
        };
        match grain {
            Some(grain) => Ok(Quota { algorithm, grain, ..self }),
            None => Err(InvalidQuota::NotExact),
        }
    }

    /// Units per window.
    #[inline]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// The window.
    #[inline]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// The window, in microseconds.
    #[inline]
    pub const fn window_micros(&self) -> u64 {
        self.window
    }

    /// How units are counted.
    #[inline]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The most units that can be had at once: a token bucket's burst, else the limit.
    #[inline]
    pub const fn at_once(&self) -> u32 {
        match self.algorithm {
            Algorithm::TokenBucket { burst } => burst,
            _ => self.limit,
        }
    }

    /// The integers in which a token bucket counts; of the others, only the tick has a meaning.
    #[inline]
    pub const fn grain(&self) -> Grain {
        self.grain
    }

    /// The most units that this quota admits in any stretch of time as long as its window.
    ///
    /// A stretch contains its beginning and not its end. Exact for the sliding log; for the others a bound that the
    /// worst traffic comes close to: within one unit if the quota has fewer units than its window has ticks.
    pub const fn worst_case(&self) -> u64 {
        let limit = self.limit as u64;
        match self.algorithm {
            Algorithm::TokenBucket { burst } => burst as u64 + limit,
            Algorithm::FixedWindow(_) | Algorithm::SlidingWindow => 2 * limit,
            Algorithm::SlidingLog => limit,
        }
    }

    /// How long an exhausted counter takes until it is as new: what a token bucket takes to fill, else the window.
    pub const fn time_to_full(&self) -> Duration {
        match self.algorithm {
            Algorithm::TokenBucket { burst } if self.limit > 0 => {
                let grains = burst as u64 * self.grain.per_unit;
                // A huge burst that drips back once a year takes longer than there are microseconds to say it in.
                let ticks = grains.div_ceil(self.grain.per_tick as u64);
                Duration::from_micros(ticks.saturating_mul(self.grain.tick as u64))
            }
            _ => self.window(),
        }
    }
}

const fn literal(quota: Result<Quota, InvalidQuota>) -> Quota {
    match quota {
        Ok(quota) => quota,
        Err(invalid) => panic!("{}", invalid.reason()),
    }
}
