//! Durations as people write them.

use std::fmt;
use std::time::Duration;

use crate::Invalid;
use crate::names::nearest;

/// The names of each unit, the one that is written first, and its length in milliseconds.
const UNITS: [(&[&str], u64); 6] = [
    (&["ms"], 1),
    (&["s", "sec", "second", "seconds"], 1_000),
    (&["min", "m", "minute", "minutes"], 60_000),
    (&["h", "hour", "hours"], 3_600_000),
    (&["d", "day", "days"], 86_400_000),
    (&["w", "week", "weeks"], 604_800_000),
];

/// Reads `50ms`, `10s`, `5 minutes`; a unit alone is one of it where `bare` is set.
pub(crate) fn read(text: &str, bare: bool) -> Result<Duration, Invalid> {
    let text = text.trim();
    let split = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.trim_start();
    let units = "units are ms, s, min, h, d, w";
    if unit.is_empty() {
        return Err(Invalid::new(format!("`{text}` has no unit"), format!("write for example 10s; {units}")));
    }
    let Some((_, millis)) = UNITS.iter().find(|(names, _)| names.contains(&unit)) else {
        let known = UNITS.iter().flat_map(|(names, _)| names.iter().copied());
        let meant = nearest(unit, known).filter(|name| name.len() > 1);
        let help = meant.map_or_else(|| units.to_owned(), |name| format!("did you mean `{name}`? {units}"));
        return Err(Invalid::new(format!("`{unit}` is no unit of time"), help));
    };
    let number = match number {
        "" if bare => 1,
        "" => return Err(Invalid::new(format!("`{text}` has no number"), format!("write for example 10{unit}"))),
        digits => digits.parse::<u64>().unwrap_or(u64::MAX),
    };
    match number.checked_mul(*millis) {
        Some(millis) => Ok(Duration::from_millis(millis)),
        None => Err(Invalid::new(format!("`{text}` is too long"), "a duration is at most 366 days")),
    }
}

/// A window in its largest whole unit, of which one is the unit alone: `15min`, `s`.
pub(crate) struct Written(pub(crate) Duration);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        let fits = |(_, millis): &&(&[&str], u64)| micros.is_multiple_of(u128::from(*millis) * 1000);
        match UNITS.iter().rev().find(fits) {
            _ if micros == 0 => f.write_str("0s"),
            Some((names, millis)) => {
                let unit = names.first().copied().unwrap_or_default();
                match micros / (u128::from(*millis) * 1000) {
                    1 => f.write_str(unit),
                    count => write!(f, "{count}{unit}"),
                }
            }
            None => write!(f, "{micros}us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit_and_written_in_the_largest() {
        for (text, written) in [
            ("50ms", "50ms"),
            ("1000ms", "s"),
            ("90s", "90s"),
            ("120 seconds", "2min"),
            ("5m", "5min"),
            ("5minutes", "5min"),
            ("24h", "d"),
            ("14 days", "2w"),
            ("0s", "0s"),
        ] {
            assert_eq!(Written(read(text, false).unwrap()).to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_duration_is_named() {
        for (text, message) in [
            ("10", "`10` has no unit"),
            ("s", "`s` has no number"),
            ("10 parsecs", "`parsecs` is no unit of time"),
            ("1.5s", "`.5s` is no unit of time"),
            ("99999999999999999999w", "`99999999999999999999w` is too long"),
            ("", "`` has no unit"),
        ] {
            assert_eq!(read(text, false).unwrap_err().message(), message);
        }
    }
}
