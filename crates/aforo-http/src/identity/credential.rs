//! What a header holds up as proof.

use aforo_policy::OnlyLine;

/// The value of the header, without the blanks around it.
pub(super) fn shown<'r>(line: &OnlyLine<'r>, header: &str) -> Option<&'r [u8]> {
    line(header).map(<[u8]>::trim_ascii).filter(|value| !value.is_empty())
}

/// The one token of `Authorization: Bearer` (RFC 6750 section 2.1).
pub(super) fn bearer<'r>(line: &OnlyLine<'r>) -> Option<&'r [u8]> {
    let (scheme, token) = shown(line, "authorization")?.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii_start())
}
