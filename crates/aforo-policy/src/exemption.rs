//! Exemptions: requests that are under no rule, on purpose.

use crate::Template;

/// Paths that no rule meets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exemption {
    /// What it is called.
    pub name: String,
    /// The paths.
    pub path: Template,
}

impl Exemption {
    /// An exemption that is called by its path.
    pub fn new(path: Template) -> Exemption {
        Exemption { name: path.to_string(), path }
    }
}
