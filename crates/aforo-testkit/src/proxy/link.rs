//! One direction of a proxy: what happens to what is sent, and how much that was.

use std::sync::Mutex;
use std::time::Duration;

use super::lock;

/// What happens to what is sent in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// It is passed on at once.
    #[default]
    Pass,
    /// Some packets arrive late, and what is behind them waits for them, as TCP has it.
    Late {
        /// How many of a hundred packets.
        percent: u8,
        /// How late.
        by: Duration,
    },
    /// It vanishes. A stream with a hole carries nothing any more: a connection that has lost something stays silent
    /// in that direction, whatever comes after.
    Lose,
}

/// What was sent in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u64,
    /// Whole requests, or whole replies. Inside TLS they cannot be told apart.
    pub messages: u64,
}

/// One direction of all connections of a proxy.
#[derive(Debug, Default)]
pub(super) struct Link(Mutex<(Fault, Traffic)>);

impl Link {
    pub(super) fn set(&self, fault: Fault) {
        lock(&self.0).0 = fault;
    }

    pub(super) fn traffic(&self) -> Traffic {
        lock(&self.0).1
    }

    /// Counts a packet and says what happens to it.
    pub(super) fn packet(&self, bytes: usize, messages: u64) -> Fault {
        let (fault, traffic) = &mut *lock(&self.0);
        traffic.bytes += bytes as u64;
        traffic.messages += messages;
        *fault
    }
}
