//! Why a proof can be given by nobody.

use std::fmt;

/// What is wrong with a proof, and what would be right. It shows nothing secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProof {
    proof: usize,
    flaw: Flaw,
}

/// The same, before it is known which proof it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    message: String,
    help: String,
}

impl InvalidProof {
    /// The proof's place among the proofs, from 0.
    pub fn proof(&self) -> usize {
        self.proof
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.flaw.message
    }

    /// What would be right.
    pub fn help(&self) -> &str {
        &self.flaw.help
    }
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
        InvalidProof { proof, flaw: self }
    }
}

impl fmt::Display for InvalidProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "proof {}: {}: {}", self.proof + 1, self.flaw.message, self.flaw.help)
    }
}

impl std::error::Error for InvalidProof {}
