//! Where state lives.

use core::fmt;
use core::future::Future;

use crate::{Decision, Hits, Op};

/// A keeper of counters.
///
/// Five promises: all hits or none; one round trip; the store owns the clock; a denial writes nothing (unless a hit
/// counts denials); an absent key is fresh. Data cross this seam, not closures, so that a network can lie between.
pub trait Store: Send + Sync + 'static {
    /// The answer that is on its way. A store in memory answers with [`core::future::Ready`].
    ///
    /// It may be moved after it was polled, so that a caller can look whether the answer is there already before it
    /// makes room to wait for it.
    type Deciding: Future<Output = Result<Decision, StoreError>> + Unpin + Send + 'static;

    /// Puts every question at one moment, and carries out `op` for all of them or for none.
    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding;

    /// Whether it has an answer to everything, as a store in memory has. Who asks such a store need not remember what
    /// was asked, to put it to another.
    #[inline]
    fn always_answers(&self) -> bool {
        false
    }
}

/// Why a store did not answer. It says nothing about the quota: never show it as a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreError {
    kind: StoreErrorKind,
}

/// The kinds of trouble that a store can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// It did not answer in time.
    Timeout,
    /// It cannot be reached.
    Connection,
    /// It refused what it was asked to run.
    Script,
    /// Anything else.
    Other,
}

impl StoreError {
    /// Trouble of a kind.
    pub const fn new(kind: StoreErrorKind) -> StoreError {
        StoreError { kind }
    }

    /// The kind of trouble.
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Timeout => "the store did not answer in time",
            StoreErrorKind::Connection => "the store cannot be reached",
            StoreErrorKind::Script => "the store refused the script",
            StoreErrorKind::Other => "the store failed",
        })
    }
}

impl core::error::Error for StoreError {}
