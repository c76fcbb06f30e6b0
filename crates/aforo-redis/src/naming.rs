//! Names: what a counter is called in Redis.

use aforo_core::Key;
use crc::{CRC_16_XMODEM, Crc, Table};

/// The slots of Redis Cluster.
pub(crate) const SLOTS: u16 = 16_384;
const CHECKSUM: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_XMODEM);
const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// How counters are called.
///
/// A counter is `prefix:{subject}:rule`, the entries of a sliding log lie in `prefix:{subject}.log:rule`. The braces make
/// the subject what Redis Cluster chooses a slot by: one client's counters lie together, different clients' spread. The
/// subject is escaped, so that no two keys have one name.
#[derive(Clone, Debug)]
pub(crate) struct Naming {
    prefix: String,
}

impl Naming {
    pub(crate) fn new(prefix: impl Into<String>) -> Naming {
        Naming { prefix: prefix.into() }
    }

    /// The name of a counter.
    pub(crate) fn counter(&self, key: &Key) -> Vec<u8> {
        self.name(key, b"}:")
    }

    /// The name of a sliding log's entries.
    pub(crate) fn log(&self, key: &Key) -> Vec<u8> {
        self.name(key, b"}.log:")
    }

    fn name(&self, key: &Key, between: &[u8]) -> Vec<u8> {
        let mut name = Vec::with_capacity(self.prefix.len() + Key::CAPACITY + 16);
        name.extend_from_slice(self.prefix.as_bytes());
        name.extend_from_slice(b":{");
        push_subject(&mut name, key.subject());
        name.extend_from_slice(between);
        name.extend_from_slice(key.rule());
        name
    }
}

/// Escapes what would end the braces early, what cannot be read, and the escape itself. Empty braces would choose a slot
/// by the whole name, so no subject is written as an escape of nothing.
fn push_subject(name: &mut Vec<u8>, subject: &[u8]) {
    if subject.is_empty() {
        name.push(b'%');
    }
    for &byte in subject {
        match byte {
            b'{' | b'}' | b'%' | ..=b' ' | 0x7F.. => {
                let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
                name.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
            _ => name.push(byte),
        }
    }
}

/// The slot that Redis Cluster keeps a key's counters in.
pub(crate) fn slot(key: &Key) -> u16 {
    let mut tag = Vec::with_capacity(Key::CAPACITY);
    push_subject(&mut tag, key.subject());
    CHECKSUM.checksum(&tag) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn key(rule: &str, subject: &[u8]) -> Key {
        Key::new(rule.as_bytes(), subject).unwrap()
    }

    fn text(name: Vec<u8>) -> String {
        String::from_utf8(name).unwrap()
    }

    #[test]
    fn a_name_can_be_read() {
        let naming = Naming::new("aforo");
        let login = key("login", b"203.0.113.7");
        assert_eq!(text(naming.counter(&login)), "aforo:{203.0.113.7}:login");
        assert_eq!(text(naming.log(&login)), "aforo:{203.0.113.7}.log:login");
        assert_eq!(text(naming.counter(&key("all", b""))), "aforo:{%}:all");
        assert_eq!(text(naming.counter(&key("a", b"x}{%\0 \xFF"))), "aforo:{x%7D%7B%25%00%20%FF}:a");
    }

    #[test]
    fn no_two_keys_have_one_name() {
        let naming = Naming::new("aforo");
        let parts: [&[u8]; 9] = [b"", b"a", b"%", b"a:b", b"a}:b", b"a}.log:b", b"{a}", b"%61", b"a\0"];
        let mut names = HashSet::new();
        for rule in ["a", "b", "a:b", ".log:a", "}:a", "}.log:a"] {
            for subject in parts {
                assert!(names.insert(naming.counter(&key(rule, subject))), "{rule} {subject:?}");
                assert!(names.insert(naming.log(&key(rule, subject))), "{rule} {subject:?}");
            }
        }
    }

    #[test]
    fn the_slot_is_the_one_that_redis_computes() {
        // CLUSTER KEYSLOT of Redis 7.0.15.
        assert_eq!(slot(&key("x", b"123456789")), 12_739);
        assert_eq!(slot(&key("x", b"203.0.113.7")), slot(&key("y", b"203.0.113.7")));
    }

    #[test]
    fn clients_spread_over_the_slots() {
        // Ten thousand clients in sixteen parts of the slots: each part gets about 625, and none far from that.
        let mut parts = [0_u32; 16];
        for client in 0..10_000_u32 {
            let address = std::net::Ipv4Addr::from(0x0A00_0000 + client).to_string();
            parts[usize::from(slot(&key("login", address.as_bytes())) / 1_024)] += 1;
        }
        let spread: f64 = parts.iter().map(|&part| (f64::from(part) - 625.0).powi(2) / 625.0).sum();
        // Chi-squared with 15 degrees of freedom exceeds this in one case of a thousand.
        assert!(spread < 37.7, "{spread}: {parts:?}");
    }
}
