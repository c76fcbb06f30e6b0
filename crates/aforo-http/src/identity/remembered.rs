//! Who it was the last time the same was shown.
//!
//! Verifying a signature takes a hundred times as long as deciding about a request, so whoever has been verified is
//! remembered by what was shown, until it expires. The room is bounded: a set of eight places for each value of a few bits
//! of a hash. In a full set, whoever expires first makes room for one that expires later; so a crowd too large to be
//! remembered does not push one another out in turn.
//!
//! Finding the wrong one must be impossible: the hash only leads to a place, and there all bytes are compared. It is keyed
//! with what the system has drawn, so that nobody can aim at a place.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aforo_core::Moment;
use aforo_policy::Identity;

/// Sets of places; a power of two.
const SETS: usize = 2048;
/// Places in a set: some sixteen thousand in all.
const PLACES: usize = 8;
/// The most bytes that one is remembered by, so that all together stay near 64 MiB. Ten thousand tokens of the usual size
/// take eight.
const LONGEST: usize = 4096;
/// How many bytes at the end are hashed. Those of a token are of its signature, which no other has; and the whole of
/// most names.
const TELLING: usize = 32;

/// Verified identities, by what was shown.
pub(super) struct Remembered {
    hash: RandomState,
    sets: Box<[Mutex<Vec<Place>>]>,
}

/// Small, so that a set is looked through within two lines of the processor's cache.
struct Place {
    hash: u64,
    known: Box<Known>,
}

struct Known {
    shown: Box<[u8]>,
    identity: Identity,
    until: Moment,
}

impl Remembered {
    pub(super) fn new() -> Remembered {
        Remembered { hash: RandomState::new(), sets: (0..SETS).map(|_| Mutex::default()).collect() }
    }

    /// Who showed this and is remembered. It allocates nothing.
    pub(super) fn recall(&self, shown: &[u8], now: Moment) -> Option<Identity> {
        let hash = self.hash_of(shown);
        let set = self.set(hash)?;
        let place = set.iter().find(|place| place.is_of(hash, shown))?;
        (now < place.known.until).then(|| place.known.identity.clone())
    }

    /// Remembers who showed this until that moment, if there is room.
    pub(super) fn remember(&self, shown: &[u8], identity: &Identity, until: Moment, now: Moment) {
        if shown.len() > LONGEST {
            return;
        }
        let hash = self.hash_of(shown);
        let known = Box::new(Known { shown: shown.into(), identity: identity.clone(), until });
        let place = Place { hash, known };
        let Some(mut set) = self.set(hash) else { return };
        set.retain(|other| now < other.known.until && !other.is_of(hash, shown));
        if set.len() < PLACES {
            set.push(place);
        } else if let Some(first) = set.iter_mut().min_by_key(|other| other.known.until)
            && first.known.until < until
        {
            *first = place;
        }
    }

    fn hash_of(&self, shown: &[u8]) -> u64 {
        self.hash.hash_one(shown.last_chunk::<TELLING>().map_or(shown, |end| end))
    }

    fn set(&self, hash: u64) -> Option<MutexGuard<'_, Vec<Place>>> {
        // What a panic elsewhere left behind is whole: no place is half written.
        self.sets.get(hash as usize % SETS).map(|set| set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Place {
    fn is_of(&self, hash: u64, shown: &[u8]) -> bool {
        self.hash == hash && *self.known.shown == *shown
    }
}

impl fmt::Debug for Remembered {
    /// Without what was shown: it is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remembered")
    }
}

#[cfg(test)]
mod tests;
