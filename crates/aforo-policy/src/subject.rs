//! Subjects: the partition values' part of a key.
//!
//! A subject is text that a person can read: `ip:203.0.113.7`, or `host:api.example,header:abc`. No two different
//! lists of values give the same text: each value is named by its kind, and within a value the comma, the percent sign
//! and what cannot be printed are escaped. A subject too long for the key becomes `#` and a digest of that text.

use std::net::{IpAddr, Ipv6Addr};

use aforo_core::Key;

use crate::digest::{Digest, LENGTH, hex};
use crate::{Describe, Fact, Partition, Route, Scope, UNMATCHED, WhenMissing};

/// Bytes that every subject may have, however long its rule's scope is.
const ROOM: usize = Key::CAPACITY;

/// What became of a partition's values.
pub(crate) enum Subject {
    /// They name this counter.
    Counter(Key),
    /// One is missing, and the rule does without the request.
    Skipped,
    /// The one at this place is missing, and the rule does not let that pass.
    Missing(u8),
}

/// The counter of a request under a rule.
#[inline]
pub(crate) fn subject(
    scope: &Scope,
    partition: &Partition,
    when_missing: WhenMissing,
    route: Option<&Route>,
    request: &impl Describe,
) -> Subject {
    let mut text = Text::new(ROOM.saturating_sub(scope.as_bytes().len()));
    for (at, fact) in (0_u8..).zip(partition.facts()) {
        if at > 0 {
            text.push(b",");
        }
        let present = match fact {
            Fact::Ip | Fact::Client => request.address().is_some_and(|address| {
                text.push(b"ip:");
                text.push_address(address);
                true
            }),
            Fact::Route => {
                text.push(b"route:");
                text.push_escaped(route.map_or(UNMATCHED, Route::name).as_bytes());
                true
            }
            Fact::Path => {
                text.push(b"path:");
                text.push_escaped(request.path().as_bytes());
                true
            }
            Fact::Host => request.host().filter(|host| !host.is_empty()).is_some_and(|host| {
                text.push(b"host:");
                text.push_escaped(host.as_bytes());
                true
            }),
            Fact::Header(name) => push_header(&mut text, request.header(name)),
            Fact::Everyone => {
                text.push(b"everyone");
                true
            }
        };
        if present {
            continue;
        }
        match (when_missing, request.address()) {
            (WhenMissing::Skip, _) => return Subject::Skipped,
            (WhenMissing::Ip, Some(address)) => {
                text.push(b"none:");
                text.push_address(address);
            }
            // Nothing can stand in for an address.
            (WhenMissing::Ip, None) | (WhenMissing::Deny, _) => return Subject::Missing(at),
        }
    }
    text.name(scope).map_or(Subject::Skipped, Subject::Counter)
}

/// Lines of one header are one value, as if they had been joined (RFC 9110, section 5.3). One that is empty is missing:
/// else all who send nothing would share a counter.
fn push_header<'a>(text: &mut Text, lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut present = false;
    for line in lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        text.push(if present { b"%2C " } else { b"header:" });
        text.push_escaped(line);
        present = true;
    }
    present
}

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
struct Text {
    bytes: [u8; ROOM],
    length: usize,
    room: usize,
    digest: Option<Digest>,
}

impl Text {
    #[inline]
    fn new(room: usize) -> Text {
        Text { bytes: [0; ROOM], length: 0, room: room.min(ROOM), digest: None }
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
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

    /// IPv4 in full; IPv6 cut to 64 bits, for a household or a server has all the rest.
    #[inline]
    fn push_address(&mut self, address: IpAddr) {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                // Every request comes by here, so the digits are looked up, and pushed all at once.
                let mut text = [b'.'; 18];
                let mut length = 0;
                for octet in address.octets() {
                    let (digits, written) = OCTETS[usize::from(octet)];
                    if let Some(place) = text.get_mut(length..length + 3) {
                        place.copy_from_slice(&digits);
                    }
                    length += written + 1;
                }
                self.push(text.get(..length - 1).unwrap_or(&[]));
            }
            IpAddr::V6(address) => self.push_network(address),
        }
    }

    /// The last 64 bits are zero, so the run of zeros that is written as `::` is always the one at the end
    /// (RFC 5952, section 4.2.3).
    fn push_network(&mut self, address: Ipv6Addr) {
        let [a, b, c, d, ..] = address.segments();
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
        self.push(b"::/64");
    }

    /// The key, or `None` if not even a digest fits, which the longest scope rules out.
    #[inline]
    fn name(self, scope: &Scope) -> Option<Key> {
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

#[cfg(test)]
mod tests;
