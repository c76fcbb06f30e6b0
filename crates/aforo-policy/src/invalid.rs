//! Why a text means nothing.

use std::fmt;

/// What is wrong with a text, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    message: String,
    help: String,
}

impl Invalid {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Invalid {
        Invalid { message: message.into(), help: help.into() }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would be right.
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl std::error::Error for Invalid {}
