//! Digests that stand for texts too long for a key.
//!
//! Clients choose what is digested, and two values with one digest would share a counter. So the hash is one for
//! which nobody can find such a pair: SHA-256, of which 128 bits are kept. It has no seed, because every process that
//! shares a store must name a counter alike.

use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a whole digest.
pub(crate) const LENGTH: usize = 32;

/// A text that is being digested.
#[derive(Clone)]
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(Sha256::new())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The first 128 bits, in hexadecimal.
    pub(crate) fn finish(self) -> [u8; LENGTH] {
        let hash = self.0.finalize();
        let mut text = [0; LENGTH];
        for (pair, byte) in text.chunks_exact_mut(2).zip(hash) {
            pair.copy_from_slice(&hex(byte, b"0123456789abcdef"));
        }
        text
    }
}

/// A byte as two digits.
pub(crate) fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

/// The SHA-256 of a text.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
