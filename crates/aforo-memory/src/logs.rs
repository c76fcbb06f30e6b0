//! The entries of sliding logs: a ring for each key that has one.

use std::collections::VecDeque;

use aforo_core::algorithm::sliding_log::Log;
use aforo_core::{Moment, Quota, State};

/// A ring that could hold so many entries is not worth making smaller.
const SMALL: usize = 16;

/// The moments at which units were taken, oldest first, one entry a unit.
#[derive(Debug, Default)]
pub(crate) struct Ring(VecDeque<Moment>);

impl Log for Ring {
    fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    fn at(&self, index: u32) -> Moment {
        self.0.get(index as usize).copied().unwrap_or_default()
    }
}

impl Ring {
    /// Adds units that were taken at `at`, which no entry is later than.
    pub(crate) fn push(&mut self, units: u32, at: Moment) {
        self.0.extend(std::iter::repeat_n(at, units as usize));
    }

    /// Drops the oldest entries until `most` are left.
    pub(crate) fn keep_newest(&mut self, most: u32) {
        let excess = self.0.len().saturating_sub(most as usize);
        self.0.drain(..excess);
    }

    /// Drops the entries that have left the window at `from`.
    pub(crate) fn expire(&mut self, quota: &Quota, from: Moment) {
        let expired = aforo_core::algorithm::sliding_log::expired(quota, self, from);
        self.0.drain(..expired as usize);
        if self.0.capacity() > SMALL && self.0.len() * 4 < self.0.capacity() {
            self.0.shrink_to(self.0.len() * 2);
        }
    }

    /// Drops up to `units` entries of exactly `at`.
    pub(crate) fn give_back(&mut self, units: u32, at: Moment) {
        let first = self.0.partition_point(|&entry| entry < at);
        let behind = self.0.partition_point(|&entry| entry <= at);
        self.0.drain(first..behind.min(first + units as usize));
    }

    /// What a state says of it.
    pub(crate) fn summary(&self, quota: &Quota) -> State {
        match self.0.back() {
            None => State::Fresh,
            Some(&newest) => State::SlidingLog { live: self.len(), newest, window: quota.window_micros() },
        }
    }
}

/// The rings of a shard.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    rings: Vec<Ring>,
    free: Vec<u32>,
}

impl Logs {
    /// The number of an empty ring.
    pub(crate) fn open(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.rings.push(Ring::default());
            // A shard cannot hold 2^32 rings: each takes 32 bytes and belongs to a counter.
            (self.rings.len() - 1) as u32
        })
    }

    /// Gives back the memory of a ring.
    pub(crate) fn close(&mut self, ring: u32) {
        if let Some(closed) = self.rings.get_mut(ring as usize) {
            *closed = Ring::default();
            self.free.push(ring);
        }
        if self.free.len() == self.rings.len() {
            *self = Logs::default();
        }
    }

    /// A ring that is open.
    pub(crate) fn get(&self, ring: u32) -> Option<&Ring> {
        self.rings.get(ring as usize)
    }

    /// A ring that is open, to write.
    pub(crate) fn get_mut(&mut self, ring: u32) -> Option<&mut Ring> {
        self.rings.get_mut(ring as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota::per_second(100).sliding_log();

    fn at(micros: u64) -> Moment {
        Moment::from_micros(micros)
    }

    #[test]
    fn a_refund_takes_out_the_entries_of_that_moment_and_no_others() {
        let mut ring = Ring::default();
        ring.push(2, at(1));
        ring.push(3, at(2));
        ring.push(1, at(3));
        ring.give_back(2, at(2));
        ring.give_back(9, at(3));
        ring.give_back(1, at(4));
        assert_eq!(ring.0, [at(1), at(1), at(2)]);
    }

    #[test]
    fn a_ring_gives_back_the_memory_of_what_has_expired() {
        let mut ring = Ring::default();
        ring.push(5_000, at(0));
        ring.push(1, at(900_000));
        ring.expire(&QUOTA, at(1_000_000));
        assert_eq!(ring.0, [at(900_000)]);
        assert!(ring.0.capacity() <= SMALL, "{}", ring.0.capacity());
    }

    #[test]
    fn closed_rings_are_opened_again_and_the_last_takes_all_memory_along() {
        let mut logs = Logs::default();
        let (first, second) = (logs.open(), logs.open());
        logs.close(first);
        assert_eq!(logs.open(), first);
        logs.close(first);
        logs.close(second);
        assert_eq!((logs.rings.capacity(), logs.free.capacity()), (0, 0));
    }
}
