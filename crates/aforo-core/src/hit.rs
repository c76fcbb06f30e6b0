//! The questions that a request puts to a store.

use core::fmt;

use crate::{Key, Quota};

/// The most rules that one request may meet.
pub const MAX_HITS: usize = 8;

/// Units that a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u32);

impl Cost {
    /// One unit: the cost of a request unless a rule says otherwise.
    pub const ONE: Cost = Cost(1);

    /// So many units. Zero always fits and takes nothing.
    #[inline]
    pub const fn new(units: u32) -> Cost {
        Cost(units)
    }

    /// The units.
    #[inline]
    pub const fn units(self) -> u32 {
        self.0
    }
}

impl Default for Cost {
    fn default() -> Cost {
        Cost::ONE
    }
}

/// Whether a rule's refusal refuses the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It does.
    #[default]
    Enforce,
    /// It is reported, and changes nothing for anyone.
    Shadow,
}

/// One rule's question: may this cost be taken from that counter?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The counter.
    pub key: Key,
    /// What it allows.
    pub quota: Quota,
    /// What the request takes.
    pub cost: Cost,
    /// Whether a refusal counts.
    pub mode: Mode,
    /// Whether a request that is refused is charged all the same.
    pub count_denied: bool,
}

impl Hit {
    /// An enforced hit that takes one unit and charges admitted requests only.
    #[inline]
    pub const fn new(key: Key, quota: Quota) -> Hit {
        Hit { key, quota, cost: Cost::ONE, mode: Mode::Enforce, count_denied: false }
    }
}

/// The questions of one request, at most [`MAX_HITS`], in rule order. They lie inline.
#[derive(Clone, Copy, Debug)]
pub struct Hits {
    length: usize,
    hits: [Option<Hit>; MAX_HITS],
}

impl Hits {
    /// No question yet.
    #[inline]
    pub const fn new() -> Hits {
        Hits { length: 0, hits: [None; MAX_HITS] }
    }

    /// The single question of a request that meets one rule.
    #[inline]
    pub const fn one(hit: Hit) -> Hits {
        // Filled in place: built apart, all eight places would be copied once more.
        let mut hits = Hits::new();
        hits.hits[0] = Some(hit);
        hits.length = 1;
        hits
    }

    /// Adds a question.
    ///
    /// # Errors
    ///
    /// If there are [`MAX_HITS`] already.
    #[inline]
    pub const fn push(&mut self, hit: Hit) -> Result<(), TooManyHits> {
        if self.length == MAX_HITS {
            return Err(TooManyHits);
        }
        self.hits[self.length] = Some(hit);
        self.length += 1;
        Ok(())
    }

    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The question, if there is only one.
    #[inline]
    pub const fn only(&self) -> Option<&Hit> {
        if self.length == 1 { self.hits[0].as_ref() } else { None }
    }

    /// The questions, in rule order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Hit> {
        self.hits[..self.length].iter().flatten()
    }
}

impl Default for Hits {
    fn default() -> Hits {
        Hits::new()
    }
}

impl FromIterator<Hit> for Hits {
    /// The first [`MAX_HITS`] of them.
    fn from_iter<I: IntoIterator<Item = Hit>>(all: I) -> Hits {
        let mut hits = Hits::new();
        for hit in all.into_iter().take(MAX_HITS) {
            let _ = hits.push(hit);
        }
        hits
    }
}

/// A ninth hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyHits;

impl fmt::Display for TooManyHits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a request may meet at most {MAX_HITS} rules")
    }
}

impl core::error::Error for TooManyHits {}
