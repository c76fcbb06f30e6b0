//! A list of addresses: `X-Forwarded-For` and its like, of which `X-Real-IP` is one with a single element.

use super::address::{self, is_port};
use super::{Finding, Told};

/// What stands before the last comma, if there is one, and after it.
#[inline]
pub(super) fn split_last(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let comma = line.iter().rposition(|byte| *byte == b',');
    split_at(line, comma)
}

#[inline]
pub(super) fn split_at(line: &[u8], comma: Option<usize>) -> (Option<&[u8]>, &[u8]) {
    let parts = comma.and_then(|comma| line.split_at_checked(comma));
    match parts.and_then(|(before, from_comma)| Some((before, from_comma.split_first()?.1))) {
        Some((before, after)) => (Some(before), after),
        None => (None, line),
    }
}

#[inline]
pub(super) fn read(element: &[u8]) -> Told {
    let element = trim(element);
    if element.is_empty() {
        return Told::Nothing;
    }
    let text = element.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(element);
    match address::read(text, is_port) {
        Some(address) => Told::Address(address),
        None if text.eq_ignore_ascii_case(b"unknown") => Told::Other(Finding::Unknown),
        None if text.starts_with(b"_") => Told::Other(Finding::Hidden),
        None => Told::Other(Finding::NoAddress),
    }
}

/// Without the blanks that may stand around an element (RFC 9110, section 5.6.3).
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}
