//! Cookies: the pairs of a `Cookie` field (RFC 6265, section 4.2.1).

/// The values of the cookie of that name in a line, in order.
///
/// A name is compared as it was sent, and quotes belong to the value: that is how RFC 6265 has it, and what some servers do
/// beyond it gives a client nothing but other names for its own counter.
pub(crate) fn values<'a>(line: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    line.split(|byte| *byte == b';').filter_map(move |pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (known, value) = pair.split_at(at);
        (known.trim_ascii() == name.as_bytes()).then(|| value.get(1..).unwrap_or_default().trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        for (line, found) in [
            ("session=abc", &["abc"][..]),
            ("a=1; session=abc; b=2", &["abc"]),
            ("a=1;session=abc;b=2", &["abc"]),
            ("session = abc ", &["abc"]),
            ("session=", &[""]),
            ("session=a=b", &["a=b"]),
            ("session=\"abc\"", &["\"abc\""]),
            ("session=abc; session=def", &["abc", "def"]),
            ("xsession=abc; sessions=abc; Session=abc", &[]),
            ("session", &[]),
            ("; ;=;", &[]),
            ("", &[]),
        ] {
            let values: Vec<_> =
                values(line.as_bytes(), "session").map(|value| str::from_utf8(value).unwrap()).collect();
            assert_eq!(values, found, "{line}");
        }
    }
}
