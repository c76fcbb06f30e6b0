//! Scopes: the rule's part of a key.

use std::fmt;

use crate::digest::Digest;

/// The most bytes of a scope. It leaves a key room for a digest of the longest subject, and for an address.
const CAPACITY: usize = 28;
/// Digits of the digest that ends a shortened scope.
const DIGITS: usize = 12;

/// The part of a key that names the rule.
///
/// It is the rule's name, and where the rule counts apart on a route also that route's, so it stays the same when a
/// policy is loaded again and the counters go on. A long one ends in a digest of the whole; a policy in which two
/// rules have the same scope is refused.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(String);

impl Scope {
    pub(crate) fn of(text: String) -> Scope {
        if text.len() <= CAPACITY {
            return Scope(text);
        }
        let mut digest = Digest::new();
        digest.update(text.as_bytes());
        let digest = digest.finish();
        let digits = digest.iter().take(DIGITS).map(|digit| char::from(*digit));
        let mut kept = CAPACITY - DIGITS - 1;
        while !text.is_char_boundary(kept) {
            kept -= 1;
        }
        Scope(text.chars().take(text[..kept].chars().count()).chain(['~']).chain(digits).collect())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that a key begins with.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.0)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_scope_is_its_text_and_a_long_one_ends_in_a_digest() {
        assert_eq!(Scope::of("medium".into()).as_str(), "medium");
        let long = Scope::of("medium@POST /a/very/long/path/of/a/route".into());
        assert_eq!(long.as_bytes().len(), CAPACITY);
        assert!(long.as_str().starts_with("medium@POST /a/~"), "{long}");
        assert_ne!(long, Scope::of("medium@POST /a/very/long/path/of/a/routf".into()));
    }

    #[test]
    fn a_scope_is_never_cut_within_a_character() {
        let scope = Scope::of("é".repeat(40));
        assert!(scope.as_bytes().len() <= CAPACITY && scope.as_str().starts_with("ééééééé~"), "{scope}");
    }
}
