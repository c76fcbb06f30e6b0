//! Percentages of a limit.

use std::fmt;
use std::str::FromStr;

use crate::Invalid;

/// A share of a limit, from 1% to 100%.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u8);

impl Percent {
    /// So many hundredths; `None` unless from 1 to 100.
    pub const fn new(hundredths: u8) -> Option<Percent> {
        match hundredths {
            1..=100 => Some(Percent(hundredths)),
            _ => None,
        }
    }

    /// The hundredths.
    pub const fn hundredths(self) -> u8 {
        self.0
    }

    /// Whether `used` units are at least this share of `limit`.
    #[inline]
    pub const fn reached(self, used: u32, limit: u32) -> bool {
        used as u64 * 100 >= limit as u64 * self.0 as u64
    }
}

impl FromStr for Percent {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Percent, Invalid> {
        let help = "write a whole number from 1% to 100%, for example 90%";
        let Some(number) = text.trim().strip_suffix('%') else {
            return Err(Invalid::new(format!("`{text}` is no percentage"), help));
        };
        let number = number.trim_end();
        match number.parse().ok().and_then(Percent::new) {
            Some(percent) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(percent),
            _ => Err(Invalid::new(format!("`{text}` is no percentage from 1% to 100%"), help)),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}
