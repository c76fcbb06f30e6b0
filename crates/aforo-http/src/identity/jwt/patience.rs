//! How many made-up signatures one address may cost us.
//!
//! A token of plausible claims with a made-up signature takes as long as a true one: 20 µs with RSA, and near a
//! millisecond on the curve P-384. Nothing can be remembered of it, for the next one is another. So each address has
//! fifty a second, and what it shows after that is nobody's until the second is over. Who has been verified before is
//! not concerned.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use aforo_core::Moment;

/// Failures in a second after which nothing is verified.
const FAILURES: u64 = 50;
/// Counters; a power of two. Addresses that share one share the fifty.
const COUNTERS: usize = 4096;
/// The bits of a counter that count; the others say in which second.
const COUNT: u64 = 0xffff;

pub(super) struct Patience {
    hash: RandomState,
    counters: Box<[AtomicU64]>,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { hash: RandomState::new(), counters: (0..COUNTERS).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Whether nothing more from that address is verified in this second.
    pub(super) fn is_lost(&self, address: Option<IpAddr>, now: Moment) -> bool {
        self.counter(address).is_some_and(|counter| failures(counter.load(Ordering::Relaxed), now) >= FAILURES)
    }

    /// Counts a signature that was made up. Of two at the same instant one may be lost.
    pub(super) fn wear(&self, address: Option<IpAddr>, now: Moment) {
        if let Some(counter) = self.counter(address) {
            let failures = (failures(counter.load(Ordering::Relaxed), now) + 1).min(COUNT);
            counter.store(second(now) | failures, Ordering::Relaxed);
        }
    }

    fn counter(&self, address: Option<IpAddr>) -> Option<&AtomicU64> {
        // Whoever has one IPv6 address has all that begin with the same 64 bits.
        let from = match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(address)) => u64::from(address.to_bits()),
            Some(IpAddr::V6(address)) => (address.to_bits() >> 64) as u64,
            None => 0,
        };
        self.counters.get(self.hash.hash_one(from) as usize % COUNTERS)
    }
}

fn failures(counted: u64, now: Moment) -> u64 {
    if counted & !COUNT == second(now) { counted & COUNT } else { 0 }
}

fn second(now: Moment) -> u64 {
    (now.as_micros() / 1_000_000) << 16
}
