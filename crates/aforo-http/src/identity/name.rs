//! What a user or a plan may be called.

use super::invalid::Flaw;

/// The most bytes of a name.
pub(super) const LONGEST: usize = 256;

/// Why a text is nobody's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoName {
    Blank,
    TooLong,
    /// It could break out of a line of a log.
    Control,
}

/// The text itself, if someone may be called so.
pub(super) fn name(text: &str) -> Result<&str, NoName> {
    if text.trim().is_empty() {
        Err(NoName::Blank)
    } else if text.len() > LONGEST {
        Err(NoName::TooLong)
    } else if text.chars().any(char::is_control) {
        Err(NoName::Control)
    } else {
        Ok(text)
    }
}

impl NoName {
    /// What is wrong with the name of `whom` in a policy.
    pub(super) fn flaw(self, whom: &str) -> Flaw {
        match self {
            NoName::Blank => Flaw::new(format!("the name of the {whom} is empty"), "name it, or leave the key out"),
            NoName::TooLong => Flaw::new(
                format!("the name of the {whom} is too long"),
                format!("use {LONGEST} bytes at most, for it stands in keys"),
            ),
            NoName::Control => Flaw::new(
                format!("the name of the {whom} holds a control character"),
                "use characters that can be seen",
            ),
        }
    }
}
