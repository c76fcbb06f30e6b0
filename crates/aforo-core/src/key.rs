//! Keys: the names of counters.

use core::fmt;

/// Bytes that a key holds.
const CAPACITY: usize = 62;
/// Bytes before them: the length of the rule's part, and that of both parts.
const LENGTHS: usize = 2;
/// Bytes of a block.
const BLOCK: usize = 16;

/// The name of one counter: a rule, and the partition values that divide its quota (the *subject*).
///
/// It lies inline, so that asking a question allocates nothing. Two keys are equal only if both parts are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; LENGTHS + CAPACITY]);

impl Key {
    /// The most bytes that rule and subject may have together.
    pub const CAPACITY: usize = CAPACITY;

    /// The counter of `subject` under `rule`.
    ///
    /// # Errors
    ///
    /// If both together are longer than [`Key::CAPACITY`]: hash the longer part first.
    #[inline]
    pub fn new(rule: &[u8], subject: &[u8]) -> Result<Key, KeyTooLong> {
        let length = rule.len() + subject.len();
        if length > CAPACITY {
            return Err(KeyTooLong { length });
        }
        let mut bytes = [0; LENGTHS + CAPACITY];
        (bytes[0], bytes[1]) = (rule.len() as u8, length as u8);
        let (head, tail) = bytes[LENGTHS..].split_at_mut(rule.len());
        head.copy_from_slice(rule);
        tail[..subject.len()].copy_from_slice(subject);
        Ok(Key(bytes))
    }

    /// The rule's part.
    #[inline]
    pub fn rule(&self) -> &[u8] {
        self.as_bytes().split_at_checked(self.0[0].into()).map_or(&[], |parts| parts.0)
    }

    /// The partition values' part.
    #[inline]
    pub fn subject(&self) -> &[u8] {
        self.as_bytes().split_at_checked(self.0[0].into()).map_or(&[], |parts| parts.1)
    }

    /// Both parts in a row. With [`Key::rule`]'s length they tell any two keys apart.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.get(LENGTHS..self.end()).unwrap_or_default()
    }

    /// Both lengths, both parts, and zeros, in as many blocks as that takes: what a store hashes. Two keys are equal
    /// exactly if their blocks are.
    #[inline]
    pub fn blocks(&self) -> &[[u8; BLOCK]] {
        let (blocks, _) = self.0.as_chunks();
        blocks.get(..self.end().div_ceil(BLOCK)).unwrap_or(blocks)
    }

    #[inline]
    fn end(&self) -> usize {
        LENGTHS + usize::from(self.0[1])
    }
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
