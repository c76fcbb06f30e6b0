//! Quotas: so many units per window, by an algorithm.

use core::fmt;
use core::time::Duration;

/// The shortest window, in microseconds.
const SHORTEST: u64 = 1_000;
/// The longest window, in microseconds: 366 days.
const LONGEST: u64 = 366 * 86_400 * 1_000_000;
/// The longest log of single units that a quota may ask for.
pub(crate) const LONGEST_LOG: u32 = 10_000;
/// The ticks that counting may use, in microseconds, finest first.
const TICKS: [u64; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// A double holds every integer up to 2^53; half of that leaves room for a sum of two.
const EXACT: u128 = 1 << 52;

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
        literal(Quota::of_micros(limit, 1_000_000))
    }

    /// A token bucket of `limit` units a minute, all of which can be had at once.
    ///
    /// # Panics
    ///
    /// If `limit` is zero; in a constant that is an error of compilation. For data, use [`Quota::new`].
    pub const fn per_minute(limit: u32) -> Quota {
        literal(Quota::of_micros(limit, 60_000_000))
    }

    /// A token bucket of `limit` units an hour, all of which can be had at once.
    ///
    /// # Panics
    ///
    /// If `limit` is zero; in a constant that is an error of compilation. For data, use [`Quota::new`].
    pub const fn per_hour(limit: u32) -> Quota {
        literal(Quota::of_micros(limit, 3_600_000_000))
    }

    /// A token bucket of `limit` units per `window`, all of which can be had at once.
    ///
    /// # Errors
    ///
    /// If the limit is zero, if the window is not a whole number of microseconds from 1 ms to 366 days, or if the
    /// quota cannot be counted exactly.
    pub const fn new(limit: u32, window: Duration) -> Result<Quota, InvalidQuota> {
        let micros = window.as_micros();
        if micros > LONGEST as u128 {
            return Err(InvalidQuota::WindowTooLong);
        }
        if window.subsec_nanos() % 1000 != 0 && micros >= SHORTEST as u128 {
            return Err(InvalidQuota::WindowTooFine);
        }
        Quota::of_micros(limit, micros as u64)
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
            return Ok(self);
        }
        let grain = match algorithm {
            Algorithm::TokenBucket { burst: 0 } => return Err(InvalidQuota::ZeroBurst),
            Algorithm::SlidingLog if self.limit > LONGEST_LOG => return Err(InvalidQuota::LogTooLong),
            Algorithm::TokenBucket { burst } => bucket_grain(self.limit, burst, self.window),
            // Two windows full of units and the cost, each weighing a whole window, must stay below 2^53.
            Algorithm::SlidingWindow => coarse_grain(self.limit as u128 * 2, self.window),
            Algorithm::FixedWindow(_) | Algorithm::SlidingLog => Some(WHOLE),
        };
        match grain {
            Some(grain) => Ok(Quota { algorithm, grain, ..self }),
            None => Err(InvalidQuota::NotExact),
        }
    }

    const fn of_micros(limit: u32, window: u64) -> Result<Quota, InvalidQuota> {
        if limit == 0 {
            return Err(InvalidQuota::ZeroLimit);
        }
        if window < SHORTEST {
            return Err(InvalidQuota::WindowTooShort);
        }
        if window > LONGEST {
            return Err(InvalidQuota::WindowTooLong);
        }
        let algorithm = Algorithm::TokenBucket { burst: limit };
        Quota { limit, window, algorithm, grain: WHOLE }.with_algorithm(algorithm)
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
    /// Exact for the sliding log; for the others a bound that the worst traffic comes within one unit of.
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
                Duration::from_micros(grains.div_ceil(self.grain.per_tick as u64) * self.grain.tick as u64)
            }
            _ => self.window(),
        }
    }
}

const WHOLE: Grain = Grain { per_unit: 1, per_tick: 1, tick: 1 };

/// The finest grain in which a bucket of `burst` units stays exact.
const fn bucket_grain(limit: u32, burst: u32, window: u64) -> Option<Grain> {
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
const fn coarse_grain(units: u128, window: u64) -> Option<Grain> {
    let mut index = 0;
    while index < TICKS.len() && window.is_multiple_of(TICKS[index]) {
        if units * (window / TICKS[index]) as u128 <= EXACT {
            return Some(Grain { tick: TICKS[index] as u32, ..WHOLE });
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

const fn literal(quota: Result<Quota, InvalidQuota>) -> Quota {
    match quota {
        Ok(quota) => quota,
        Err(invalid) => panic!("{}", invalid.reason()),
    }
}

/// Why there is no such quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidQuota {
    /// The limit is zero.
    ZeroLimit,
    /// The burst is zero.
    ZeroBurst,
    /// The window is shorter than 1 ms.
    WindowTooShort,
    /// The window is longer than 366 days.
    WindowTooLong,
    /// The window is not a whole number of microseconds.
    WindowTooFine,
    /// A sliding log of more than 10,000 units.
    LogTooLong,
    /// No tick from 1 µs to 1 s that divides the window keeps the count below 2^52.
    NotExact,
}

impl InvalidQuota {
    const fn reason(self) -> &'static str {
        match self {
            InvalidQuota::ZeroLimit => "a limit of zero allows nothing: ask for that by `nothing`",
            InvalidQuota::ZeroBurst => "a burst of zero allows nothing: it is at least 1",
            InvalidQuota::WindowTooShort => "the window is shorter than 1 ms",
            InvalidQuota::WindowTooLong => "the window is longer than 366 days",
            InvalidQuota::WindowTooFine => "the window is not a whole number of microseconds",
            InvalidQuota::LogTooLong => "a sliding log keeps every unit: its limit is at most 10,000",
            InvalidQuota::NotExact => {
                "so large a limit cannot be counted exactly over so long a window: take a smaller limit, a shorter window or one of whole seconds"
            }
        }
    }
}

impl fmt::Display for InvalidQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl core::error::Error for InvalidQuota {}
