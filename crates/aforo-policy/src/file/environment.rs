//! `${NAME}` and `${NAME:-default}`: values that come from the environment.
//!
//! What comes from there is text within one scalar. It is never read as YAML, so it cannot change a file's structure.

use crate::Invalid;
use crate::names::is_identifier;

/// A scalar's text with its values filled in; `None` if it names none.
pub(super) fn fill(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, Invalid> {
    if !text.contains("${") {
        return Ok(None);
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, named)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((named, after)) = named.split_once('}') else {
            return Err(Invalid::new("`${` is not closed", "write ${NAME}, or ${NAME:-default}"));
        };
        let (name, default) = named.split_once(":-").map_or((named, None), |(name, default)| (name, Some(default)));
        if !is_identifier(name) {
            // It may be a part of a secret.
            return Err(Invalid::new(
                "what stands between `${` and `}` is no name",
                "write ${NAME}, or ${NAME:-default}, with letters, digits and underscores",
            ));
        }
        // As a shell has it, an empty value counts as none where there is a default.
        match (value(name), default) {
            (Some(value), Some(default)) if value.is_empty() => filled.push_str(default),
            (Some(value), _) => filled.push_str(&value),
            (None, Some(default)) => filled.push_str(default),
            (None, None) => {
                return Err(Invalid::new(
                    format!("the environment has no `{name}`"),
                    format!("set {name}, or give a default: ${{{name}:-…}}"),
                ));
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

/// The values that a scalar names, without their defaults.
pub(super) fn named(text: &str) -> String {
    let names = text.split("${").skip(1).filter_map(|named| named.split_once('}')?.0.split(":-").next());
    names.map(|name| format!("${{{name}}}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<Option<String>, Invalid> {
        let environment = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        };
        fill(text, &environment)
    }

    #[test]
    fn values_and_defaults_are_filled_in() {
        for (text, expected) in [
            ("${A}", "one"),
            ("x${A}y${A}", "xoneyone"),
            ("${B:-two}", "two"),
            ("${A:-two}", "one"),
            ("${EMPTY}", ""),
            ("${EMPTY:-two}", "two"),
            ("${B:-}", ""),
            ("${NESTED}", "${A}"),
            ("$A ${A}", "$A one"),
        ] {
            assert_eq!(filled(text), Ok(Some(expected.to_owned())), "{text}");
        }
        assert_eq!(filled("$A {A}"), Ok(None));
    }

    #[test]
    fn names_are_told_without_defaults() {
        assert_eq!(named("a${A}b${B:-two}c"), "${A}${B}");
        assert_eq!(named("a"), "");
    }

    #[test]
    fn a_value_that_cannot_be_filled_in_is_named() {
        for (text, message) in [
            ("${B}", "the environment has no `B`"),
            ("${A", "`${` is not closed"),
            ("${}", "what stands between `${` and `}` is no name"),
            ("${A-B}", "what stands between `${` and `}` is no name"),
        ] {
            assert_eq!(filled(text).unwrap_err().message(), message);
        }
    }
}
