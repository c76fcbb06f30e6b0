//! The golden tables of `vectors/`, whose README defines the format.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use aforo_core::{Algorithm, Anchor, Cost, Moment, Quota};

/// A file of tables and the algorithm that they are about.
#[derive(Clone, Copy, Debug)]
pub struct File {
    name: &'static str,
    text: &'static str,
    family: Family,
}

/// What the parameters of a table mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    TokenBucket,
    FixedWindow,
    SlidingWindow,
    SlidingLog,
}

/// Requests on one key that is fresh at the first of them.
#[derive(Clone, Debug)]
pub struct Table {
    /// Where it stands, as `file:line`.
    pub place: String,
    /// What it is called.
    pub name: String,
    /// The quota, or why there is none.
    pub quota: Result<Quota, String>,
    /// The reason for which the table says that there is no such quota.
    pub refused: Option<String>,
    /// The requests, in order.
    pub rows: Vec<Row>,
}

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands, as `file:line`.
    pub place: String,
    /// When the request comes.
    pub now: Moment,
    /// What it asks for.
    pub cost: Cost,
    /// The answer, in the table's milliseconds.
    pub expected: Expected,
}

/// An answer as a table states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the cost fits.
    pub allowed: bool,
    /// Whole units left.
    pub remaining: u32,
    /// Milliseconds until the key is as new, rounded up.
    pub reset_after_ms: u64,
    /// Milliseconds until the cost fits, rounded up; `None` for never.
    pub retry_after_ms: Option<u64>,
}

/// A line that is no part of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    place: String,
    reason: String,
}

const COLUMNS: [&str; 6] = ["now_ms", "cost", "allowed", "remaining", "reset_after_ms", "retry_after_ms"];

macro_rules! file {
    ($name:literal, $family:ident) => {
        File {
            name: concat!("vectors/", $name),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/", $name)),
            family: Family::$family,
        }
    };
}

/// Every file of golden tables.
pub const FILES: [File; 5] = [
    file!("token_bucket.txt", TokenBucket),
    file!("gcra.txt", TokenBucket),
    file!("fixed_window.txt", FixedWindow),
    file!("sliding_window.txt", SlidingWindow),
    file!("sliding_log.txt", SlidingLog),
];

// === impl File ===

impl File {
    /// The file's name, from the root of the repository.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its tables.
    ///
    /// # Errors
    ///
    /// If a line is no part of a table; the error says which and what would be right.
    pub fn tables(&self) -> Result<Vec<Table>, Misread> {
        let mut tables: Vec<Table> = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            let line = line.trim();
            let place = format!("{}:{}", self.name, index + 1);
            let misread = |reason: String| Misread { place: place.clone(), reason };
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                tables.push(Table::named(name, &place));
            } else if !line.is_empty() && !line.starts_with('#') {
                let table = tables.last_mut().ok_or_else(|| misread("before the first [table]".into()))?;
                table.read(line, &place, self.family).map_err(misread)?;
            }
        }
        for table in &tables {
            table.complete()?;
        }
        Ok(tables)
    }
}

// === impl Table ===

impl Table {
    fn named(name: &str, place: &str) -> Table {
        let quota = Err("no `quota:` line".to_owned());
        Table { place: place.to_owned(), name: name.to_owned(), quota, refused: None, rows: Vec::new() }
    }

    fn read(&mut self, line: &str, place: &str, family: Family) -> Result<(), String> {
        if let Some(parameters) = line.strip_prefix("quota:") {
            self.quota = quota(parameters, family)?;
        } else if let Some(reason) = line.strip_prefix("refused:") {
            self.refused = Some(reason.trim().to_owned());
        } else if line.split_whitespace().ne(COLUMNS) {
            self.rows.push(Row::read(line, place)?);
        }
        Ok(())
    }

    fn complete(&self) -> Result<(), Misread> {
        let reason = match (&self.refused, &self.quota) {
            (None, Err(reason)) => format!("[{}] has no quota: {reason}", self.name),
            (None, Ok(_)) if self.rows.is_empty() => format!("[{}] has neither rows nor `refused:`", self.name),
            (Some(_), _) if !self.rows.is_empty() => format!("[{}] is refused and has rows", self.name),
            _ => return Ok(()),
        };
        Err(Misread { place: self.place.clone(), reason })
    }
}

// === impl Row ===

impl Row {
    fn read(line: &str, place: &str) -> Result<Row, String> {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let Ok([now, cost, allowed, remaining, reset, retry]) = <[&str; 6]>::try_from(cells) else {
            return Err(format!("a row has the {} columns {}", COLUMNS.len(), COLUMNS.join(", ")));
        };
        let expected = Expected {
            allowed: match allowed {
                "yes" => true,
                "no" => false,
                other => return Err(format!("allowed is `yes` or `no`, not `{other}`")),
            },
            remaining: number("remaining", remaining)?,
            reset_after_ms: number("reset_after_ms", reset)?,
            retry_after_ms: match retry {
                "—" => None,
                millis => Some(number("retry_after_ms", millis)?),
            },
        };
        let (now, cost) = (Moment::from_millis(number("now_ms", now)?), Cost::new(number("cost", cost)?));
        Ok(Row { place: place.to_owned(), now, cost, expected })
    }
}

fn number<N: FromStr>(column: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{column} is a whole number, not `{text}`"))
}

/// The quota of a `quota:` line; the inner error is why there is no such quota.
fn quota(parameters: &str, family: Family) -> Result<Result<Quota, String>, String> {
    let (mut limit, mut window_ms, mut burst, mut anchor) = (None, None, None, Anchor::Epoch);
    for parameter in parameters.split_whitespace() {
        match parameter.split_once('=') {
            Some(("limit", value)) => limit = Some(number::<u64>("limit", value)?),
            Some(("window_ms", value)) => window_ms = Some(number::<u64>("window_ms", value)?),
            Some(("burst", value)) if family == Family::TokenBucket => burst = Some(number::<u64>("burst", value)?),
            Some(("anchor", "epoch")) if family == Family::FixedWindow => anchor = Anchor::Epoch,
            Some(("anchor", "first-hit")) if family == Family::FixedWindow => anchor = Anchor::FirstHit,
            _ => return Err(format!("unknown parameter `{parameter}`")),
        }
    }
    let limit = limit.ok_or("the quota has no limit=")?;
    let window = Duration::from_millis(window_ms.ok_or("the quota has no window_ms=")?);
    let (Ok(limit), Ok(burst)) = (u32::try_from(limit), u32::try_from(burst.unwrap_or(limit))) else {
        return Ok(Err(format!("a limit is at most {}", u32::MAX)));
    };
    let algorithm = match family {
        Family::TokenBucket => Algorithm::TokenBucket { burst },
        Family::FixedWindow => Algorithm::FixedWindow(anchor),
        Family::SlidingWindow => Algorithm::SlidingWindow,
        Family::SlidingLog => Algorithm::SlidingLog,
    };
    Ok(quota_of(limit, window, algorithm).map_err(|invalid| invalid.to_string()))
}

fn quota_of(limit: u32, window: Duration, algorithm: Algorithm) -> Result<Quota, aforo_core::InvalidQuota> {
    match limit {
        0 => Quota::nothing(window)?.with_algorithm(algorithm),
        _ => Quota::counted_by(algorithm, limit, window),
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl std::error::Error for Misread {}

#[cfg(test)]
mod tests;
