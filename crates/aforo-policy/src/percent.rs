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

    /// All of it.
    pub const WHOLE: Percent = Percent(100);

    /// The hundredths.
    pub const fn hundredths(self) -> u8 {
        self.0
    }

    /// Whether `used` units are at least this share of `limit`.
    #[inline]
    pub const fn reached(self, used: u32, limit: u32) -> bool {
        used as u64 * 100 >= limit as u64 * self.0 as u64
    }

    /// This share of so many units: rounded down, and yet at least one. Of nothing it is nothing.
    pub const fn of(self, units: u32) -> u32 {
        match units as u64 * self.0 as u64 / 100 {
            0 if units > 0 => 1,
            // No more than `units`.
            share => share as u32,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_units_is_rounded_down_and_never_to_nothing() {
        let of = |hundredths, units| Percent::new(hundredths).unwrap().of(units);
        assert_eq!([of(50, 5), of(33, 100), of(1, 5), of(1, 199), of(1, 200), of(50, 0)], [2, 33, 1, 1, 2, 0]);
        assert_eq!([of(100, u32::MAX), of(99, u32::MAX)], [u32::MAX, 4_252_017_622]);
    }
}
