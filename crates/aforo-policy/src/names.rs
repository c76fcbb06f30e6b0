//! Names that people write, and the ones that they meant.

/// The known name that is most like `name`, if one is like it at all.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let name = plain(name);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| {
            let length = candidate.len().max(name.len());
            *distance <= (length / 3).max(1) && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether a text is a token of HTTP: a method or a header's name (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    let mark = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || mark(byte))
}

/// Whether a text is letters, digits and underscores, and does not begin with a digit.
pub(crate) fn is_identifier(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(letter) && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["quota", "burst", "when_missing"];
        assert_eq!(nearest("qouta", known), Some("quota"));
        assert_eq!(nearest("whenMissing", known), Some("when_missing"));
        assert_eq!(nearest("when-missing", known), Some("when_missing"));
        assert_eq!(nearest("elephant", known), None);
        assert_eq!(nearest("b", ["a"]), None, "nothing of it is alike");
    }
}
