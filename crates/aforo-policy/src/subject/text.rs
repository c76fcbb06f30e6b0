//! The text of a subject, written piece by piece without allocating.

use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv6Addr};

use aforo_core::Key;

use crate::digest::{Digest, LENGTH, hex};
use crate::{Clients, Scope};

/// The most bytes of a subject.
const ROOM: usize = Key::CAPACITY;

/// The decimal digits of each octet, followed by dots, and how many digits there are.
const OCTETS: [([u8; 3], usize); 256] = {
    let mut table = [([b'.'; 3], 0); 256];
    let mut octet = 0;
    while octet < table.len() {
        let [hundreds, tens, ones] =
            [b'0' + (octet / 100) as u8, b'0' + (octet / 10 % 10) as u8, b'0' + (octet % 10) as u8];
        table[octet] = match octet {
            0..10 => ([ones, b'.', b'.'], 1),
            10..100 => ([tens, ones, b'.'], 2),
            _ => ([hundreds, tens, ones], 3),
        };
        octet += 1;
    }
    table
};

/// A subject that is being written.
pub(super) struct Text {
    bytes: [u8; ROOM],
    length: usize,
    room: usize,
    digest: Option<Digest>,
}

impl Text {
    /// An empty one, with as much room as a scope leaves it in a key.
    #[inline]
    pub(super) fn beside(scope: &Scope) -> Text {
        let room = ROOM.saturating_sub(scope.as_bytes().len());
        Text { bytes: [0; ROOM], length: 0, room, digest: None }
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        match self.bytes.get_mut(self.length..end) {
            Some(free) if end <= self.room => {
                free.copy_from_slice(bytes);
                self.length = end;
            }
            _ => self.spill(bytes),
        }
    }

    /// From the first byte that does not fit, everything goes into a digest.
    #[cold]
    fn spill(&mut self, bytes: &[u8]) {
        let written = self.bytes.get(..self.length).unwrap_or(&[]);
        let digest = self.digest.get_or_insert_with(|| {
            let mut digest = Digest::new();
            digest.update(written);
            digest
        });
        digest.update(bytes);
        self.room = 0;
    }

    /// The digest of a value, if there is one.
    pub(super) fn push_digest(&mut self, kind: &[u8], digest: Option<Digest>) -> bool {
        let Some(digest) = digest else { return false };
        self.push(kind);
        self.push(&digest.finish());
        true
    }

    /// A value that may be read, if there is one.
    #[inline]
    pub(super) fn push_value(&mut self, kind: &[u8], value: Option<&str>) -> bool {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return false };
        self.push(kind);
        self.push_escaped(value.as_bytes());
        true
    }

    #[inline]
    pub(super) fn push_client(&mut self, address: Option<IpAddr>, clients: &Clients) -> bool {
        let Some(address) = address else { return false };
        self.push(b"ip:");
        self.push_address(address, clients);
        true
    }

    fn push_escaped(&mut self, bytes: &[u8]) {
        let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'%' | b',');
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(length);
            self.push(run);
            rest = match after.split_first() {
                Some((byte, after)) => {
                    let [high, low] = hex(*byte, b"0123456789ABCDEF");
                    self.push(&[b'%', high, low]);
                    after
                }
                None => after,
            };
        }
    }

    /// As much of an address as tells clients apart, with the number of bits where that is not all.
    #[inline]
    pub(super) fn push_address(&mut self, address: IpAddr, clients: &Clients) {
        let (network, bits) = clients.network(address);
        match network {
            IpAddr::V4(network) => {
                // Every request comes by here, so the digits are looked up, and pushed all at once.
                let mut text = [b'.'; 18];
                let mut length = 0;
                for octet in network.octets() {
                    let (digits, written) = OCTETS[usize::from(octet)];
                    if let Some(place) = text.get_mut(length..length + 3) {
                        place.copy_from_slice(&digits);
                    }
                    length += written + 1;
                }
                self.push(text.get(..length - 1).unwrap_or(&[]));
                self.push_bits(bits, 32);
            }
            IpAddr::V6(network) => {
                match bits {
                    0..=64 => self.push_half(network),
                    // What a push writes cannot fail.
                    _ => drop(write!(self, "{network}")),
                }
                self.push_bits(bits, 128);
            }
        }
    }

    #[inline]
    fn push_bits(&mut self, bits: u8, all: u8) {
        if bits < all {
            let digits = [b'0' + bits / 100, b'0' + bits / 10 % 10, b'0' + bits % 10];
            let leading = digits.iter().position(|digit| *digit != b'0').unwrap_or(2);
            self.push(b"/");
            self.push(digits.get(leading..).unwrap_or(&[]));
        }
    }

    /// A network of at most 64 bits. The others are zero, so the run of zeros that is written as `::` is always the one at
    /// the end (RFC 5952, section 4.2.3).
    fn push_half(&mut self, network: Ipv6Addr) {
        let [a, b, c, d, ..] = network.segments();
        let groups = [a, b, c, d];
        let written = groups.iter().rposition(|group| *group != 0).map_or(0, |last| last + 1);
        for (at, group) in groups.iter().take(written).enumerate() {
            if at > 0 {
                self.push(b":");
            }
            let [high, low] = group.to_be_bytes();
            let digits = [hex(high, b"0123456789abcdef"), hex(low, b"0123456789abcdef")];
            let digits = digits.as_flattened();
            let leading = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len() - 1);
            self.push(digits.get(leading..).unwrap_or(&[]));
        }
        self.push(b"::");
    }

    /// The key, or `None` if not even a digest fits, which the longest scope rules out.
    #[inline]
    pub(super) fn name(self, scope: &Scope) -> Option<Key> {
        match self.digest {
            None => Key::new(scope.as_bytes(), self.bytes.get(..self.length)?).ok(),
            Some(digest) => {
                let mut text = [b'#'; LENGTH + 1];
                text.get_mut(1..)?.copy_from_slice(&digest.finish());
                Key::new(scope.as_bytes(), &text).ok()
            }
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}
