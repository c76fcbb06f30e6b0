//! All counters, and who may touch which.

use std::num::NonZeroUsize;

use aforo_core::{Key, Moment};
use parking_lot::{Mutex, MutexGuard};

use crate::fingerprint::{Fingerprint, Seeds};
use crate::room::Room;
use crate::shard::Shard;

/// A shard on cache lines of its own: two at once, as processors fetch them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(Mutex<Shard>);

/// All counters.
#[derive(Debug)]
pub(crate) struct Counters {
    seeds: Seeds,
    shards: Box<[Apart]>,
    shard_bits: u32,
    room: Room,
    /// What keys share that came when there was no room. Locked after any shard, so that no two threads can wait for
    /// each other.
    overflow: Apart,
    /// Sixteen counters a rule: bounded by the policy, not by `max_keys`.
    overflow_room: Room,
}

impl Counters {
    /// Counters in `2^shard_bits` shards.
    pub(crate) fn new(shard_bits: u32, room: Room) -> Counters {
        Counters {
            seeds: Seeds::random(),
            shards: (0..1usize << shard_bits).map(|_| Apart::default()).collect(),
            shard_bits,
            room,
            overflow: Apart::default(),
            overflow_room: Room::new(NonZeroUsize::MAX),
        }
    }

    /// The room for keys with a counter of their own.
    pub(crate) const fn room(&self) -> &Room {
        &self.room
    }

    /// The room for overflow counters.
    pub(crate) const fn overflow_room(&self) -> &Room {
        &self.overflow_room
    }

    /// Shards, and one for the overflow.
    pub(crate) const fn len(&self) -> usize {
        self.shards.len() + 1
    }

    /// Sweeps the shard at `index`, below [`Counters::len`]; if somebody holds it, only when one may `wait`.
    pub(crate) fn sweep(&self, index: usize, now: Moment, wait: bool) {
        let (shard, room) = match self.shards.get(index) {
            Some(shard) => (&shard.0, &self.room),
            None => (&self.overflow.0, &self.overflow_room),
        };
        let held = if wait { Some(shard.lock()) } else { shard.try_lock() };
        if let Some(mut shard) = held {
            shard.sweep(now, room);
        }
    }

    /// The fingerprint of a key.
    #[inline(always)]
    pub(crate) fn owner(&self, key: &Key) -> Fingerprint {
        self.seeds.key(key)
    }

    /// The shard that a key's counter is in.
    #[inline(always)]
    pub(crate) fn shard_of(&self, owner: Fingerprint) -> usize {
        owner.shard(self.shard_bits)
    }

    /// Locks a shard; there are as many as [`Counters::shard_of`] tells apart.
    #[inline(always)]
    pub(crate) fn lock(&self, shard: usize) -> Option<MutexGuard<'_, Shard>> {
        self.shards.get(shard).map(|shard| shard.0.lock())
    }

    /// Locks the counters that keys share for which there was no room, and counts that somebody had to.
    pub(crate) fn lock_overflow(&self) -> MutexGuard<'_, Shard> {
        self.room.count_overflow();
        self.overflow.0.lock()
    }

    /// The overflow counter that stands in for that of `key`.
    pub(crate) fn overflow_owner(&self, key: &Key, owner: Fingerprint) -> Fingerprint {
        self.seeds.overflow(key, owner)
    }

    /// The locked shard of a key's counter, whose it is and where it is, if the key has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: &Key) -> Option<(MutexGuard<'_, Shard>, Fingerprint, usize)> {
        let owner = self.owner(key);
        let shard = self.lock(self.shard_of(owner))?;
        let place = shard.find(owner).ok()?;
        Some((shard, owner, place))
    }

    /// Drops all that is known of a key.
    pub(crate) fn forget(&self, key: &Key) -> bool {
        let owner = self.owner(key);
        self.lock(self.shard_of(owner)).is_some_and(|mut shard| shard.forget(owner, &self.room))
    }
}
