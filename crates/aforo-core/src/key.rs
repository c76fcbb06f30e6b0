//! Keys: the names of counters.

use core::fmt;

/// Bytes that a key holds.
const CAPACITY: usize = 62;
/// Bytes before them: the length of the rule's part, and that of both parts.
const LENGTHS: usize = 2;
/// Bytes of a block.
const BLOCK: usize = 16;
/// Blocks of a key.
const BLOCKS: usize = (LENGTHS + CAPACITY) / BLOCK;
/// Bytes of the longest key that is put together in registers: one that takes two blocks.
const SHORT: usize = 2 * BLOCK - LENGTHS;

/// The name of one counter: a rule, and the partition values that divide its quota (the *subject*).
///
/// It lies inline, so that asking a question allocates nothing. Two keys are equal only if both parts are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(align(8))]
pub struct Key([[u8; BLOCK]; BLOCKS]);

impl Key {
    /// The most bytes that rule and subject may have together.
    pub const CAPACITY: usize = CAPACITY;

    /// The counter of `subject` under `rule`.
    ///
    /// # Errors
    ///
    /// If both together are longer than [`Key::CAPACITY`]: hash the longer part first.
    // Always: called, it would leave its answer in memory, to be copied from there.
    #[inline(always)]
    pub fn new(rule: &[u8], subject: &[u8]) -> Result<Key, KeyTooLong> {
        let length = rule.len() + subject.len();
        if length > CAPACITY {
            return Err(KeyTooLong { length });
        }
        if length <= SHORT && rule.len() <= BLOCK - LENGTHS {
            Ok(Key::short(rule, subject))
        } else {
            Ok(Key::long(rule, subject))
        }
    }

    /// Stored as whole words, a key can be loaded again at once. What was stored in other pieces than it is loaded in
    /// has to reach the cache first, which takes as long as all the rest of building it.
    #[inline(always)]
    fn short(rule: &[u8], subject: &[u8]) -> Key {
        let behind = 8 * (LENGTHS + rule.len()) as u32;
        let (front, back) = match subject.split_first_chunk() {
            Some((front, back)) => (u128::from_le_bytes(*front), block(back)),
            None => (block(subject), 0),
        };
        let first = block(rule) << (8 * LENGTHS) | lengths(rule, subject) | front.unbounded_shl(behind);
        let second = front.unbounded_shr(u128::BITS - behind) | back.unbounded_shl(behind);
        Key([first.to_le_bytes(), second.to_le_bytes(), [0; BLOCK], [0; BLOCK]])
    }

    #[inline(never)]
    fn long(rule: &[u8], subject: &[u8]) -> Key {
        let mut blocks = [[0; BLOCK]; BLOCKS];
        let bytes = blocks.as_flattened_mut();
        bytes[..BLOCK].copy_from_slice(&lengths(rule, subject).to_le_bytes());
        let (head, tail) = bytes[LENGTHS..].split_at_mut(rule.len());
        head.copy_from_slice(rule);
        tail[..subject.len()].copy_from_slice(subject);
        Key(blocks)
    }

    /// The rule's part.
    #[inline]
    pub fn rule(&self) -> &[u8] {
        self.as_bytes().split_at_checked(self.0[0][0].into()).map_or(&[], |parts| parts.0)
    }

    /// The partition values' part.
    #[inline]
    pub fn subject(&self) -> &[u8] {
        self.as_bytes().split_at_checked(self.0[0][0].into()).map_or(&[], |parts| parts.1)
    }

    /// Both parts in a row. With [`Key::rule`]'s length they tell any two keys apart.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_flattened().get(LENGTHS..self.end()).unwrap_or_default()
    }

    /// Both lengths, both parts, and zeros, in as many blocks as that takes: what a store hashes. Two keys are equal
    /// exactly if their blocks are.
    #[inline]
    pub fn blocks(&self) -> &[[u8; BLOCK]] {
        self.0.get(..self.end().div_ceil(BLOCK)).unwrap_or(&self.0)
    }

    #[inline]
    fn end(&self) -> usize {
        LENGTHS + usize::from(self.0[0][1])
    }
}

/// What a key begins with.
#[inline(always)]
fn lengths(rule: &[u8], subject: &[u8]) -> u128 {
    rule.len() as u128 | ((rule.len() + subject.len()) as u128) << 8
}

/// At most sixteen bytes and zeros behind them, read in one or two words that overlap.
#[inline(always)]
fn block(bytes: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u128::from(u64::from_le_bytes(*last)) << (8 * (bytes.len() - 8) % 128);
        return u128::from(u64::from_le_bytes(*first)) | last;
    }
    u128::from(word(bytes))
}

/// Fewer than eight bytes and zeros behind them.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4) % 64);
        return u64::from(u32::from_le_bytes(*first)) | last;
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}|{})", self.rule().escape_ascii(), self.subject().escape_ascii())
    }
}

/// A key with more bytes than fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTooLong {
    length: usize,
}

impl fmt::Display for KeyTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key of {} bytes: at most {CAPACITY} fit, hash the subject", self.length)
    }
}

impl core::error::Error for KeyTooLong {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_lengths_come_out_as_they_went_in_with_zeros_behind() {
        let bytes: [u8; CAPACITY] = core::array::from_fn(|at| at as u8 + 1);
        for end in 0..=CAPACITY {
            for middle in 0..=end {
                let (rule, subject) = bytes[..end].split_at(middle);
                let key = Key::new(rule, subject).unwrap();
                assert_eq!((key.rule(), key.subject(), key.as_bytes()), (rule, subject, &bytes[..end]));
                assert!(key.0.as_flattened()[LENGTHS + end..].iter().all(|&byte| byte == 0), "{middle} of {end}");
                assert_eq!(key, Key::long(rule, subject));
            }
        }
    }
}
