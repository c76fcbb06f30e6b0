//! Fingerprints: what the store remembers of a key's name.
//!
//! A fingerprint is 128 bits: two hashes of the key under seeds of their own. The key's bytes are not kept. Two of a
//! million keys share one with a probability of about 10^-27, so that no counter is ever shared by accident.
//!
//! Nor on purpose. foldhash is no cryptographic hash: who knows the seeds can find colliding keys. But the seeds come
//! from the operating system when the store is made, and no fingerprint, no order of keys and no place in a table
//! leaves the process. What could be seen is time: a crowded place takes nanoseconds longer. To learn seeds from that
//! across a network, and then to choose names (addresses, verified users) that collide in both hashes, is far harder
//! than the flood that a collision would spare.

use std::hash::{BuildHasher, Hasher, RandomState};

use aforo_core::Key;
use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;

/// Counters that the keys of one rule share when the store is full.
const OVERFLOW_COUNTERS: u8 = 16;
/// More than the length of any key, in whose place it stands.
const OVERFLOW: u8 = 128;

/// Who a counter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    high: u64,
    low: u64,
}

impl Fingerprint {
    /// The fingerprint of nobody. It sorts behind all others.
    pub(crate) const NOBODY: Fingerprint = Fingerprint { high: u64::MAX, low: u64::MAX };

    #[inline(always)]
    const fn new(high: u64, low: u64) -> Fingerprint {
        // One bit less, so that none is NOBODY.
        Fingerprint { high, low: low & !1 }
    }

    /// The number by which counters are sorted.
    #[inline(always)]
    pub(crate) const fn order(&self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// Maps it to `0..homes`, keeping the order.
    #[inline(always)]
    pub(crate) const fn home(&self, homes: usize) -> usize {
        ((self.high as u128 * homes as u128) >> 64) as usize
    }

    /// Maps it to `0..2^bits`; independent of its home. `bits` is from 1 to 63.
    #[inline(always)]
    pub(crate) const fn shard(&self, bits: u32) -> usize {
        (self.low >> (64 - bits)) as usize
    }
}

/// The seeds of one store.
#[derive(Debug)]
pub(crate) struct Seeds {
    high: Seed,
    low: Seed,
}

#[derive(Debug)]
struct Seed {
    own: u64,
    shared: SharedSeed,
}

impl Seed {
    #[inline(always)]
    fn hash(&self, blocks: &[[u8; 16]]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.own, &self.shared);
        let mut write = |block: &[u8; 16]| hasher.write_u128(u128::from_le_bytes(*block));
        match blocks {
            // Most keys: without a loop, whose counting is as much work as the hashing.
            [first, second] => {
                write(first);
                write(second);
            }
            blocks => blocks.iter().for_each(write),
        }
        hasher.finish()
    }
}

impl Seeds {
    /// Seeds that the operating system has drawn.
    pub(crate) fn random() -> Seeds {
        // The standard library's hash is keyed by 128 random bits, and its outputs do not betray them.
        let state = RandomState::new();
        let draw = |number: u64| state.hash_one(number);
        let seed = |number| Seed { own: draw(number), shared: SharedSeed::from_u64(draw(number + 1)) };
        Seeds { high: seed(0), low: seed(2) }
    }

    /// The fingerprint of a key.
    #[inline(always)]
    pub(crate) fn key(&self, key: &Key) -> Fingerprint {
        Fingerprint::new(self.high.hash(key.blocks()), self.low.hash(key.blocks()))
    }

    /// The fingerprint of the overflow counter that `key`, whose own is `of`, is counted by.
    pub(crate) fn overflow(&self, key: &Key, of: Fingerprint) -> Fingerprint {
        let mut bytes = [0; 64];
        bytes[0] = key.rule().len() as u8;
        bytes[1] = OVERFLOW + (of.low >> 1) as u8 % OVERFLOW_COUNTERS;
        bytes[2..2 + key.rule().len()].copy_from_slice(key.rule());
        let (blocks, _) = bytes.as_chunks();
        Fingerprint::new(self.high.hash(blocks), self.low.hash(blocks))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_with_the_same_bytes_differ_by_where_the_rule_ends() {
        let seeds = Seeds::random();
        let prints: HashSet<u128> = [(&b"abc"[..], &b""[..]), (b"ab", b"c"), (b"a", b"bc"), (b"", b"abc")]
            .iter()
            .map(|(rule, subject)| seeds.key(&Key::new(rule, subject).unwrap()).order())
            .collect();
        assert_eq!(prints.len(), 4);
    }

    #[test]
    fn two_stores_hash_differently() {
        let key = Key::new(b"rule", b"subject").unwrap();
        assert_ne!(Seeds::random().key(&key), Seeds::random().key(&key));
    }

    #[test]
    fn a_rule_has_sixteen_overflow_counters() {
        let seeds = Seeds::random();
        let prints: HashSet<u128> = (0..10_000u32)
            .map(|n| Key::new(b"rule", &n.to_be_bytes()).unwrap())
            .map(|key| seeds.overflow(&key, seeds.key(&key)).order())
            .collect();
        assert_eq!(prints.len(), 16);
    }

    #[test]
    fn homes_and_shards_keep_their_bounds_and_homes_their_order() {
        let seeds = Seeds::random();
        let mut prints: Vec<_> = (0..1000u32).map(|n| seeds.key(&Key::new(b"r", &n.to_be_bytes()).unwrap())).collect();
        prints.sort_by_key(Fingerprint::order);
        assert!(prints.is_sorted_by_key(|print| print.home(77)));
        assert!(prints.iter().all(|print| print.home(77) < 77 && print.shard(6) < 64));
        assert!(prints.iter().all(|print| print.order() < Fingerprint::NOBODY.order()));
    }
}
