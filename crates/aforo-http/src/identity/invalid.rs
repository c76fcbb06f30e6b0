//! Why a proof can be given by nobody.

use std::fmt;

use aforo_policy::InvalidProof;

/// What is wrong with a proof, and what would be right, before it is known which proof it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    message: String,
    help: String,
}

impl Flaw {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Flaw {
        Flaw { message: message.into(), help: help.into() }
    }

    /// The same about a part of the proof.
    pub(super) fn within(self, part: impl fmt::Display) -> Flaw {
        Flaw { message: format!("{part}: {}", self.message), help: self.help }
    }

    pub(super) fn of(self, proof: usize) -> InvalidProof {
        InvalidProof { proof, message: self.message, help: self.help }
    }
}
