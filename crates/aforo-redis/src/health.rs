//! Health: how the servers are, for whoever asks.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aforo_core::StoreErrorKind;

/// How the servers are, at the moment it was asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// How they are together: as the worst of them is.
    pub state: State,
    /// Each of them. In a cluster those that own keys; until they are known there are none.
    pub servers: Vec<ServerHealth>,
    /// The calls that have failed since the start.
    pub errors: Errors,
}

/// How one server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerHealth {
    /// Its host and port; under Sentinel the name of the service.
    pub server: String,
    /// How it is.
    pub state: State,
    /// The calls that it has not answered yet.
    pub unanswered: usize,
}

/// Whether there are answers to be had.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum State {
    /// It answers.
    Answering,
    /// It is being connected to. Questions wait for that, within their time.
    Connecting,
    /// It does not answer: the breaker is open. Questions fail at once, and one probe at a time looks for its return.
    Down {
        /// Since when.
        since: Instant,
        /// The last trouble, in words without secrets.
        trouble: String,
    },
}

/// How many calls have failed, by the kind of their trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Errors {
    /// No answer in time.
    pub timeout: u64,
    /// Not reached, or lost.
    pub connection: u64,
    /// The script was refused, or failed.
    pub script: u64,
    /// Anything else.
    pub other: u64,
}

// === impl State ===

impl State {
    /// Whether there are answers to be had.
    pub fn is_answering(&self) -> bool {
        matches!(self, State::Answering)
    }

    /// The worse of two.
    pub(crate) fn worse(self, other: State) -> State {
        match (&self, &other) {
            (State::Down { .. }, _) | (_, State::Answering) => self,
            (State::Connecting, State::Connecting) => self,
            _ => other,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Answering => f.write_str("answering"),
            State::Connecting => f.write_str("connecting"),
            State::Down { since, trouble } => {
                write!(f, "down for {} s ({trouble})", since.elapsed().as_secs())
            }
        }
    }
}

// === counting ===

/// Counts the calls that failed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    timeout: AtomicU64,
    connection: AtomicU64,
    script: AtomicU64,
    other: AtomicU64,
}

impl Tally {
    pub(crate) fn add(&self, kind: StoreErrorKind) {
        let count = match kind {
            StoreErrorKind::Timeout => &self.timeout,
            StoreErrorKind::Connection => &self.connection,
            StoreErrorKind::Script => &self.script,
            _ => &self.other,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn errors(&self) -> Errors {
        Errors {
            timeout: self.timeout.load(Ordering::Relaxed),
            connection: self.connection.load(Ordering::Relaxed),
            script: self.script.load(Ordering::Relaxed),
            other: self.other.load(Ordering::Relaxed),
        }
    }
}
