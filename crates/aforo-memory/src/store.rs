//! The store.

use std::fmt;
use std::future::{Ready, ready};
use std::num::NonZeroUsize;

use aforo_core::{Clock, Decision, Hit, Hits, Key, Moment, Op, Origin, Store, StoreError, Verdict};

use crate::SystemClock;
use crate::counters::Counters;
use crate::ledger::Held;
use crate::room::Room;
use crate::rounds::Rounds;
use crate::shard::Found;
use crate::sole::Sole;

/// How many keys a store holds unless it is told otherwise: about 60 MB when all are in use.
pub const DEFAULT_MAX_KEYS: NonZeroUsize = NonZeroUsize::new(1_000_000).unwrap();

/// Keys to a shard when the store is full. Whatever one decision sweeps or moves is not more than that.
const KEYS_A_SHARD: usize = 4096;
/// Shards that a small store has, so that threads seldom wait for each other.
const FEWEST_SHARDS: usize = 64;
/// Shards that a huge store has.
const MOST_SHARDS: usize = 1 << 16;
/// Shards that one call of [`MemoryStore::sweep`] visits.
const SHARE: usize = 4;

/// Counters in the memory of this process.
///
/// It never fails and never waits for anything but a lock that is held for nanoseconds, so that
/// [`MemoryStore::decide_now`] needs no async. An empty store takes about 150 kilobytes; a key in use less than 64 bytes
/// (a sliding log, 8 bytes more for each unit in its window); the memory of keys that owe nothing is given back by the
/// decisions that come after, on whatever keys. Once it has grown, a decision allocates nothing.
///
/// # When it is full
///
/// `max_keys` bounds the keys that owe something. When there are as many, a new key is counted together with others:
/// each rule has sixteen overflow counters, under the rule's own quota, and [`MemoryStore::overflowed`] counts the
/// decisions that met one. No debt is forgotten to make room. A key that was charged more than once keeps its counter
/// for ten seconds after its last charge, so that a flood of new keys does not take the place of a client between two
/// of its requests.
pub struct MemoryStore<C = SystemClock> {
    counters: Counters,
    rounds: Rounds,
    clock: C,
}

impl MemoryStore {
    /// An empty store on the system's time, for at most [`DEFAULT_MAX_KEYS`].
    pub fn new() -> MemoryStore {
        MemoryStore::with_clock(SystemClock::new())
    }
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new()
    }
}

impl<C: Clock> MemoryStore<C> {
    /// An empty store on another clock, for at most [`DEFAULT_MAX_KEYS`].
    pub fn with_clock(clock: C) -> MemoryStore<C> {
        MemoryStore::bounded(clock, DEFAULT_MAX_KEYS)
    }

    /// An empty store on the same clock, for at most so many keys.
    ///
    /// ```
    /// # use aforo_memory::MemoryStore;
    /// # use std::num::NonZeroUsize;
    /// let store = MemoryStore::new().max_keys(NonZeroUsize::new(50_000).unwrap());
    /// ```
    #[must_use]
    pub fn max_keys(self, most: NonZeroUsize) -> MemoryStore<C> {
        MemoryStore::bounded(self.clock, most)
    }

    fn bounded(clock: C, most: NonZeroUsize) -> MemoryStore<C> {
        let shards = most.get().div_ceil(KEYS_A_SHARD).clamp(FEWEST_SHARDS, MOST_SHARDS).next_power_of_two();
        let counters = Counters::new(shards.trailing_zeros(), Room::new(most));
        MemoryStore { counters, rounds: Rounds::default(), clock }
    }

    /// Decides a request at the clock's moment: [`Store::decide`] without the future.
    ///
    /// Two hits of one key fit only together.
    #[inline]
    pub fn decide_now(&self, op: Op, hits: &Hits) -> Decision {
        let now = self.moment();
        match hits.only() {
            Some(hit) => Decision::one(self.verdict(op, hit, now), now, Origin::Store),
            None => self.decide_held(op, hits, now),
        }
    }

    /// Decides a request that meets one rule, as [`MemoryStore::decide_now`] does, in less time: nothing is collected.
    ///
    /// Says what the rule says, and when that was decided, which is what a refund names.
    ///
    /// ```
    /// # use aforo_core::{Hit, Key, Op, Quota};
    /// # use aforo_memory::MemoryStore;
    /// let store = MemoryStore::new();
    /// let login = Hit::new(Key::new(b"login", b"192.0.2.7")?, Quota::per_minute(5));
    /// let (verdict, taken_at) = store.decide_one(Op::Take, &login);
    /// assert!(verdict.allowed() && verdict.remaining == 4);
    /// let (verdict, _) = store.decide_one(Op::Refund { taken_at }, &login);
    /// assert_eq!(verdict.remaining, 5);
    /// # Ok::<(), aforo_core::KeyTooLong>(())
    /// ```
    #[inline]
    pub fn decide_one(&self, op: Op, hit: &Hit) -> (Verdict, Moment) {
        let now = self.moment();
        (self.verdict(op, hit, now), now)
    }

    /// The moment of a decision, which also sweeps what is due.
    #[inline(always)]
    fn moment(&self) -> Moment {
        let now = self.clock.now();
        for _ in 0..self.rounds.due(now) {
            self.counters.sweep(self.rounds.next(self.counters.len()), now, false);
        }
        now
    }

    #[inline(always)]
    fn verdict(&self, op: Op, hit: &Hit, now: Moment) -> Verdict {
        let Some((mut shard, owner, place)) = self.counters.find(&hit.key) else {
            return self.verdict_held(op, hit, now);
        };
        if op == Op::Take
            && let Some(verdict) = shard.take(place, hit, now)
        {
            return verdict;
        }
        let found = Found { owner, place: Some(place), cost: hit.cost, now, room: self.counters.room() };
        aforo_core::decide_one(op, hit, now, &mut Sole::new(shard, found))
    }

    #[inline(never)]
    fn verdict_held(&self, op: Op, hit: &Hit, now: Moment) -> Verdict {
        let mut held = Held::lock(&self.counters, op, &Hits::one(*hit), now);
        let verdict = aforo_core::decide_one(op, hit, now, &mut held);
        held.release();
        verdict
    }

    #[inline(never)]
    fn decide_held(&self, op: Op, hits: &Hits, now: Moment) -> Decision {
        let mut held = Held::lock(&self.counters, op, hits, now);
        let decision = aforo_core::decide(op, hits, now, &mut held);
        held.release();
        decision
    }

    /// Keys that have a counter of their own: those that owe something, and some that lately did.
    pub fn keys(&self) -> usize {
        self.counters.room().keys()
    }

    /// The most keys that have a counter of their own.
    pub fn most_keys(&self) -> usize {
        self.counters.room().most()
    }

    /// Decisions so far that met a counter shared by keys for which there was no room.
    pub fn overflowed(&self) -> u64 {
        self.counters.room().overflowed()
    }

    /// Forgets all that a key has used. Says whether anything was known.
    pub fn forget(&self, key: &Key) -> bool {
        self.counters.forget(key)
    }

    /// Sweeps a few shards of keys that owe nothing, and gives back their memory.
    ///
    /// Decisions do so on their own, a few microseconds every few milliseconds. Only a store that is asked nothing at
    /// all needs this, from a timer: a hundred calls see to a store of the default size.
    pub fn sweep(&self) {
        let now = self.clock.now();
        for _ in 0..SHARE {
            self.counters.sweep(self.rounds.next(self.counters.len()), now, true);
        }
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock + 'static> Store for MemoryStore<C> {
    type Deciding = Ready<Result<Decision, StoreError>>;

    #[inline]
    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding {
        ready(Ok(self.decide_now(op, hits)))
    }

    #[inline]
    fn always_answers(&self) -> bool {
        true
    }
}

impl<C: fmt::Debug> fmt::Debug for MemoryStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = self.counters.room();
        f.debug_struct("MemoryStore")
            .field("keys", &room.keys())
            .field("overflowed", &room.overflowed())
            .field("clock", &self.clock)
            .finish()
    }
}
