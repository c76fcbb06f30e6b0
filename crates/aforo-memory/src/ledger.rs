//! The counters of one request, held while it is decided.

use aforo_core::{Algorithm, Cost, Hit, Hits, Key, Ledger, Moment, Op, State, Weighed};
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
            overflow_room: Room::new(std::num::NonZeroUsize::MAX),
        }
    }

    pub(crate) const fn room(&self) -> &Room {
        &self.room
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

    /// Drops all that is known of a key.
    pub(crate) fn forget(&self, key: &Key) -> bool {
        let owner = self.seeds.key(key);
        let shard = self.shards.get(owner.shard(self.shard_bits));
        shard.is_some_and(|shard| shard.0.lock().forget(owner, &self.room))
    }
}

/// Where one hit is counted.
#[derive(Clone, Copy, Debug)]
struct Seat {
    owner: Fingerprint,
    /// Which of the guards; ignored once in the overflow.
    guard: usize,
    in_overflow: bool,
    /// Where the counter was found.
    place: Option<usize>,
    /// What the hit takes, and what earlier hits of the same key take: two hits of one key fit only together.
    cost: Cost,
    /// Whether room for a new counter was taken and is not used yet.
    reserved: bool,
}

impl Seat {
    const EMPTY: Seat = Seat {
        owner: Fingerprint::NOBODY,
        guard: 0,
        in_overflow: false,
        place: None,
        cost: Cost::new(0),
        reserved: false,
    };
}

/// The shards of at most `N` hits, locked.
pub(crate) struct Held<'a, const N: usize> {
    counters: &'a Counters,
    op: Op,
    now: Moment,
    seats: [Seat; N],
    guards: [Option<MutexGuard<'a, Shard>>; N],
    overflow: Option<MutexGuard<'a, Shard>>,
    written: bool,
}

impl<'a, const N: usize> Held<'a, N> {
    /// Locks the shards of `hits`, at most `N`: each once, in ascending order.
    #[inline]
    pub(crate) fn lock(counters: &'a Counters, op: Op, hits: &Hits, now: Moment) -> Held<'a, N> {
        let mut seats = [Seat::EMPTY; N];
        let mut shards = [usize::MAX; N];
        for ((hit, seat), shard) in hits.iter().zip(&mut seats).zip(&mut shards) {
            seat.owner = counters.seeds.key(&hit.key);
            seat.cost = hit.cost;
            *shard = seat.owner.shard(counters.shard_bits);
        }
        let mut guards = [const { None }; N];
        if N == 1 {
            guards[0] = counters.shards.get(shards[0]).map(|shard| shard.0.lock());
        } else {
            let mut ascending = shards;
            ascending.sort_unstable();
            for (index, &shard) in ascending.iter().enumerate() {
                if index == 0 || ascending[index - 1] != shard {
                    guards[index] = counters.shards.get(shard).map(|shard| shard.0.lock());
                }
            }
            for index in 0..N {
                seats[index].guard = ascending.iter().position(|shard| *shard == shards[index]).unwrap_or(0);
                let (earlier, rest) = seats.split_at_mut(index);
                let Some(seat) = rest.first_mut() else { continue };
                if let Some(same) = earlier.iter().rfind(|earlier| earlier.owner == seat.owner) {
                    seat.cost = Cost::new(seat.cost.units().saturating_add(same.cost.units()));
                }
            }
        }
        Held { counters, op, now, seats, guards, overflow: None, written: false }
    }

    /// Gives back the room that was reserved and not used, then unlocks.
    #[inline]
    pub(crate) fn release(self) {
        for seat in &self.seats {
            if seat.reserved {
                let room = if seat.in_overflow { &self.counters.overflow_room } else { &self.counters.room };
                room.give_back(1);
            }
        }
    }

    /// A seat, its shard, and the room that bounds it. Every hit has one.
    #[inline]
    fn at(&mut self, index: usize) -> Option<(&mut Seat, &mut Shard, &'a Room)> {
        let seat = self.seats.get_mut(index)?;
        if seat.in_overflow {
            return Some((seat, self.overflow.as_mut()?, &self.counters.overflow_room));
        }
        let shard = self.guards.get_mut(seat.guard)?.as_mut()?;
        Some((seat, shard, &self.counters.room))
    }

    /// Weighs against a fresh counter if there is room for one, else against an overflow counter.
    #[inline(never)]
    fn weigh_absent(&mut self, index: usize, place: usize, hit: &Hit) -> Option<Weighed> {
        let (op, now, counters) = (self.op, self.now, self.counters);
        let (seat, shard, room) = self.at(index)?;
        let fits = match op {
            Op::Take => {
                shard.sweep_near(place, now, room);
                seat.reserved = room.take() || (shard.sweep_in_want(now, room) && room.take());
                seat.reserved
            }
            Op::Peek | Op::Refund { .. } => !room.is_full(),
        };
        if fits || seat.in_overflow {
            return Some(shard.weigh(None, &hit.quota, seat.cost, now));
        }
        seat.in_overflow = true;
        seat.owner = counters.seeds.overflow(&hit.key, seat.owner);
        if self.overflow.is_none() {
            counters.room.count_overflow();
            self.overflow = Some(counters.overflow.0.lock());
        }
        self.weigh_at(index, hit)
    }

    #[inline]
    fn weigh_at(&mut self, index: usize, hit: &Hit) -> Option<Weighed> {
        let now = self.now;
        let (seat, shard, _) = self.at(index)?;
        match shard.find(seat.owner) {
            Ok(place) => {
                seat.place = Some(place);
                Some(shard.weigh(Some(place), &hit.quota, seat.cost, now))
            }
            Err(place) => self.weigh_absent(index, place, hit),
        }
    }

    /// Weighs once more, after something was written.
    #[inline(never)]
    fn weigh_again(&mut self, index: usize, hit: &Hit) -> Option<Weighed> {
        let now = self.now;
        let (seat, shard, _) = self.at(index)?;
        Some(shard.weigh(shard.find(seat.owner).ok(), &hit.quota, hit.cost, now))
    }
}

impl<const N: usize> Ledger for Held<'_, N> {
    #[inline]
    fn weigh(&mut self, index: usize, hit: &Hit, now: Moment) -> Weighed {
        let weighed = if self.written { self.weigh_again(index, hit) } else { self.weigh_at(index, hit) };
        weighed.unwrap_or_else(|| aforo_core::weigh(&hit.quota, &State::Fresh, hit.cost, now))
    }

    #[inline]
    fn charge(&mut self, index: usize, hit: &Hit, weighed: &Weighed) {
        let now = self.now;
        self.written = true;
        let Some((seat, shard, room)) = self.at(index) else { return };
        let added = match hit.quota.algorithm() {
            Algorithm::SlidingLog => shard.append(seat.owner, (&hit.quota, hit.cost), weighed, now, room),
            _ => shard.write(seat.place, seat.owner, &weighed.after, now, room),
        };
        seat.reserved &= !added;
    }

    #[inline(never)]
    fn overcharge(&mut self, index: usize, hit: &Hit, weighed: &Weighed) {
        let now = self.now;
        self.written = true;
        let Some((seat, shard, room)) = self.at(index) else { return };
        let added = match hit.quota.algorithm() {
            Algorithm::SlidingLog => shard.append(seat.owner, (&hit.quota, hit.cost), weighed, now, room),
            _ => {
                let after = aforo_core::overcharge(&hit.quota, weighed, seat.cost);
                shard.write(seat.place, seat.owner, &after, now, room)
            }
        };
        seat.reserved &= !added;
    }

    #[inline(never)]
    fn refund(&mut self, index: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment) {
        let now = self.now;
        self.written = true;
        let Some((seat, shard, room)) = self.at(index) else { return };
        if hit.quota.algorithm() == Algorithm::SlidingLog {
            return shard.take_out(seat.owner, &hit.quota, hit.cost, taken_at, room);
        }
        let after = aforo_core::refund(&hit.quota, weighed, seat.cost, taken_at);
        if after != weighed.before {
            shard.write(seat.place, seat.owner, &after, now, room);
        }
    }
}
