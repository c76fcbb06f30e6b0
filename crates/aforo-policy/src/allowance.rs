//! What a rule allows, as people write it: `5/s`, `300/min`, `5 per 15 minutes`, `0/s`, `unlimited`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use aforo_core::{Algorithm, InvalidQuota, Quota};

use crate::Invalid;
use crate::duration::{self, Written};

/// What a rule allows.
///
/// ```
/// use aforo_policy::Allowance;
///
/// let allowance: Allowance = "5 per 15 minutes".parse()?;
/// assert_eq!(allowance.to_string(), "5/15min");
/// # Ok::<(), aforo_policy::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// So much.
    Quota(Quota),
    /// Everything: the rule never asks.
    Unlimited,
}

impl Allowance {
    /// The quota, unless everything is allowed.
    #[inline]
    pub fn quota(&self) -> Option<&Quota> {
        match self {
            Allowance::Quota(quota) => Some(quota),
            Allowance::Unlimited => None,
        }
    }
}

impl From<Quota> for Allowance {
    fn from(quota: Quota) -> Allowance {
        Allowance::Quota(quota)
    }
}

const EXAMPLES: &str = "write LIMIT/WINDOW, for example 5/s, 300/min or 5/15min, or the word `unlimited`";

/// A quota as it stands in a text, which does not say how it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    Of { limit: u32, window: Duration },
    Unlimited,
}

impl FromStr for Amount {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Amount, Invalid> {
        let text = text.trim();
        if text == "unlimited" {
            return Ok(Amount::Unlimited);
        }
        let Some((limit, window)) = text.split_once('/').or_else(|| text.split_once(" per ")) else {
            return Err(Invalid::new(format!("`{text}` is no quota"), EXAMPLES));
        };
        let limit = read_limit(limit.trim())?;
        let window = duration::read(window, true).map_err(|invalid| {
            Invalid::new(format!("the window of `{text}`: {}", invalid.message()), invalid.help())
        })?;
        // Whatever counts it, a window has its bounds.
        match Quota::nothing(window) {
            Ok(_) => Ok(Amount::Of { limit, window }),
            Err(invalid) => Err(refused(text, invalid)),
        }
    }
}

impl Amount {
    /// What is allowed, counted by the algorithm that `by` says for the limit.
    pub(crate) fn counted(self, by: impl FnOnce(u32) -> Algorithm) -> Result<Allowance, InvalidQuota> {
        match self {
            Amount::Unlimited => Ok(Allowance::Unlimited),
            Amount::Of { limit: 0, window } => Quota::nothing(window).map(Allowance::Quota),
            Amount::Of { limit, window } => Quota::counted_by(by(limit), limit, window).map(Allowance::Quota),
        }
    }
}

impl FromStr for Allowance {
    type Err = Invalid;

    /// Reads a token bucket whose burst is its limit.
    fn from_str(text: &str) -> Result<Allowance, Invalid> {
        let bucket = |limit| Algorithm::TokenBucket { burst: limit };
        text.parse::<Amount>()?.counted(bucket).map_err(|invalid| refused(text.trim(), invalid))
    }
}

fn read_limit(limit: &str) -> Result<u32, Invalid> {
    if limit.is_empty() || !limit.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Invalid::new(format!("the limit `{limit}` is no whole number"), EXAMPLES));
    }
    limit.parse().map_err(|_| {
        Invalid::new(format!("the limit {limit} is too large"), format!("a limit is at most {}", u32::MAX))
    })
}

/// The core's reason, and the way out of it.
pub(crate) fn refused(text: &str, invalid: InvalidQuota) -> Invalid {
    let help = match invalid {
        InvalidQuota::WindowTooShort | InvalidQuota::WindowTooLong | InvalidQuota::WindowTooFine => {
            "a window is from 1ms to 366d"
        }
        InvalidQuota::LogTooLong => {
            "take `algorithm: sliding-window`, which keeps two counters however large the limit"
        }
        InvalidQuota::ZeroBurst => "leave `burst` out, or write at least 1",
        InvalidQuota::ZeroLimit => "write 0/s to refuse everything",
        _ => "take a smaller limit, a shorter window or one of whole seconds",
    };
    Invalid::new(format!("`{text}`: {}", plainly(invalid)), help)
}

/// The core's reason, without the way out that a help says better.
pub(crate) fn plainly(invalid: InvalidQuota) -> String {
    let reason = invalid.to_string();
    match invalid {
        InvalidQuota::NotExact => reason.split(':').next().unwrap_or(&reason).to_owned(),
        _ => reason,
    }
}

impl fmt::Display for Allowance {
    /// The shortest text that means the same, without the algorithm and the burst.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Unlimited => f.write_str("unlimited"),
            Allowance::Quota(quota) => write!(f, "{}/{}", quota.limit(), Written(quota.window())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_read_in_every_form_and_written_in_the_shortest() {
        for (text, written) in [
            ("5/s", "5/s"),
            ("5/sec", "5/s"),
            ("5/second", "5/s"),
            ("300/min", "300/min"),
            ("300/m", "300/min"),
            ("300/60s", "300/min"),
            ("5/15min", "5/15min"),
            ("5 per 15 minutes", "5/15min"),
            ("1 per hour", "1/h"),
            ("5000/h", "5000/h"),
            ("5/100ms", "5/100ms"),
            ("7/week", "7/w"),
            ("1/366d", "1/366d"),
            ("4294967295/s", "4294967295/s"),
            ("0/s", "0/s"),
            (" 5 / s ", "5/s"),
            ("unlimited", "unlimited"),
        ] {
            let allowance: Allowance = text.parse().unwrap();
            assert_eq!(allowance.to_string(), written, "{text}");
            assert_eq!(written.parse(), Ok(allowance));
        }
    }

    #[test]
    fn what_is_too_fine_for_a_bucket_may_be_right_for_a_window() {
        let amount: Amount = "4294967291/366d".parse().unwrap();
        assert!(amount.counted(|limit| Algorithm::TokenBucket { burst: limit }).is_err());
        assert!(amount.counted(|_| Algorithm::FixedWindow(aforo_core::Anchor::Epoch)).is_ok());
    }

    #[test]
    fn the_faulty_part_of_a_quota_is_named() {
        for (text, message) in [
            ("", "`` is no quota"),
            ("5", "`5` is no quota"),
            ("five/s", "the limit `five` is no whole number"),
            ("-5/s", "the limit `-5` is no whole number"),
            ("+5/s", "the limit `+5` is no whole number"),
            ("1.5/s", "the limit `1.5` is no whole number"),
            ("/s", "the limit `` is no whole number"),
            ("4294967296/s", "the limit 4294967296 is too large"),
            ("5/", "the window of `5/`: `` has no unit"),
            ("5/15", "the window of `5/15`: `15` has no unit"),
            ("5/minutse", "the window of `5/minutse`: `minutse` is no unit of time"),
            ("5/0s", "`5/0s`: the window is shorter than 1 ms"),
            ("5/53w", "`5/53w`: the window is longer than 366 days"),
            ("5/s/s", "the window of `5/s/s`: `s/s` is no unit of time"),
        ] {
            assert_eq!(text.parse::<Allowance>().unwrap_err().message(), message);
        }
    }
}
