//! A table of counters, sorted by fingerprint.
//!
//! Ordered linear probing: a counter lies at its home (its fingerprint scaled to the number of homes) or, where that
//! is taken, a little behind it, so that the places read from left to right are in the order of the fingerprints.
//! A search ends as soon as it meets a greater one. Growing, shrinking and reclaiming are one pass from left to right:
//! nothing is hashed again, and memory is read in sequence. Any number of homes will do, not only powers of two, so a
//! table can be kept between 70 and 85 % full: 47 to 57 bytes a counter.
//!
//! What must stay true: between a counter's home and its place no place is empty, and no place holds a greater
//! fingerprint than one behind it.

use crate::fingerprint::Fingerprint;
use crate::packed::Packed;

/// The fewest homes that a table has.
const FEWEST: usize = 8;
/// Places behind the last home for counters that are pushed past it, unless more prove necessary. At 85 % fewer than
/// one table in 10,000 needs more.
const MOST_SPARE: usize = 32;

/// A counter: 40 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    pub(crate) owner: Fingerprint,
    pub(crate) state: Packed,
}

impl Counter {
    const NONE: Counter = Counter { owner: Fingerprint::NOBODY, state: Packed::NOTHING };

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.owner == Fingerprint::NOBODY
    }
}

/// The counters of one shard.
#[derive(Debug)]
pub(crate) struct Table {
    places: Box<[Counter]>,
    homes: usize,
    len: usize,
    /// The few places that the table began with, kept for when they suffice again. Few places that were allocated then
    /// would lie anywhere among the memory that is given back, and an allocator that gives back only the end of its
    /// heap could give back little.
    first: Option<Box<[Counter]>>,
}

impl Default for Table {
    fn default() -> Table {
        Table { places: empty(FEWEST + spare(FEWEST)), homes: FEWEST, len: 0, first: None }
    }
}

fn empty(places: usize) -> Box<[Counter]> {
    vec![Counter::NONE; places].into_boxed_slice()
}

/// Places behind the last of so many homes.
const fn spare(homes: usize) -> usize {
    let few = homes / 4 + 2;
    if few < MOST_SPARE { few } else { MOST_SPARE }
}

impl Table {
    /// How many counters there are.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether one more counter would fill more than so many percent of the homes.
    pub(crate) const fn is_fuller_than(&self, percent: usize) -> bool {
        (self.len + 1) * 100 > self.homes * percent
    }

    /// Whether more than half of its memory is wasted.
    pub(crate) const fn is_sparse(&self) -> bool {
        self.len * 2 < self.homes && self.homes > FEWEST
    }

    /// The place of the counter of `owner`, or the place where it would be put.
    #[inline(always)]
    pub(crate) fn find(&self, owner: Fingerprint) -> Result<usize, usize> {
        let home = owner.home(self.homes);
        // Every other counter is at home.
        if self.places.get(home).is_some_and(|counter| counter.owner == owner) {
            return Ok(home);
        }
        let run = self.places.get(home..).unwrap_or_default();
        // NOBODY is the greatest: an empty place ends the search too.
        match run.iter().position(|counter| counter.owner.order() >= owner.order()) {
            Some(steps) if run.get(steps).is_some_and(|counter| counter.owner == owner) => Ok(home + steps),
            Some(steps) => Err(home + steps),
            None => Err(self.places.len()),
        }
    }

    /// The counter at `place`.
    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> Option<&Counter> {
        self.places.get(place).filter(|counter| !counter.is_none())
    }

    /// The state of the counter that was just found at `place`.
    #[inline(always)]
    pub(crate) fn state_mut(&mut self, place: usize) -> Option<&mut Packed> {
        self.places.get_mut(place).map(|counter| &mut counter.state)
    }

    /// The counter at `place`, if it is that of `owner`.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, place: usize, owner: Fingerprint) -> Option<&mut Counter> {
        self.places.get_mut(place).filter(|counter| counter.owner == owner)
    }

    /// Adds a counter whose owner has none yet. The table has room: see [`Table::is_fuller_than`].
    pub(crate) fn insert(&mut self, counter: Counter) {
        loop {
            let place = self.find(counter.owner).unwrap_or_else(|place| place);
            let run = self.places.get_mut(place..).unwrap_or_default();
            if let Some(gap) = run.iter().position(Counter::is_none) {
                run.copy_within(..gap, 1);
                run[0] = counter;
                self.len += 1;
                return;
            }
            // Pushed past the end.
            self.rebuild(self.len + 1, self.places.len() - self.homes + 1);
        }
    }

    /// Drops the counters among the places `from..until` that `keep` rejects, and says how many those were.
    pub(crate) fn retain(&mut self, from: usize, until: usize, mut keep: impl FnMut(&Counter) -> bool) -> usize {
        let before = self.len;
        // The first place that a counter from further right may move to: the place behind the last one kept.
        let mut free = from;
        let mut place = from;
        while let Some(&counter) = self.places.get(place) {
            let asked = place < until;
            // Behind the range the run is only closed up.
            if !asked && (free == place || counter.is_none()) {
                break;
            }
            if counter.is_none() {
                free = place + 1;
            } else if asked && !keep(&counter) {
                self.places[place] = Counter::NONE;
                self.len -= 1;
            } else {
                if free < place {
                    free = free.max(counter.owner.home(self.homes));
                    self.places[place] = Counter::NONE;
                    self.places[free] = counter;
                }
                free += 1;
            }
            place += 1;
        }
        before - self.len
    }

    /// Gives the table as many homes as make it 70 % full with `len` counters, or with those that it has if they are
    /// more.
    pub(crate) fn resize(&mut self, len: usize) {
        self.rebuild(len.max(self.len), 0);
    }

    fn rebuild(&mut self, len: usize, at_least: usize) {
        let homes = (len * 10).div_ceil(7).max(FEWEST);
        let mut spare = spare(homes).max(at_least);
        loop {
            let first = self.first.take_if(|first| first.len() == homes + spare);
            let mut places = first.unwrap_or_else(|| empty(homes + spare));
            if self.copy_to(&mut places, homes) {
                let mut before = std::mem::replace(&mut self.places, places);
                if before.len() == FEWEST + self::spare(FEWEST) {
                    before.fill(Counter::NONE);
                    self.first = Some(before);
                }
                self.homes = homes;
                return;
            }
            spare *= 2;
        }
    }

    /// Whether all counters fit.
    fn copy_to(&self, places: &mut [Counter], homes: usize) -> bool {
        let mut free = 0;
        for counter in self.places.iter().filter(|counter| !counter.is_none()) {
            free = free.max(counter.owner.home(homes));
            let Some(place) = places.get_mut(free) else { return false };
            *place = *counter;
            free += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests;
