//! As much of DER (ITU-T X.690) as a public key is written in.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const SEQUENCE: u8 = 0x30;

/// The contents of the element of that kind at the front, and what follows it. Lengths are of two bytes at most: no key is
/// longer.
pub(super) fn element(kind: u8, input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *input {
        [first, ..] if first != kind => return None,
        [_, length @ 0..=0x7f, ref rest @ ..] => (usize::from(length), rest),
        [_, 0x81, length @ 0x80..=0xff, ref rest @ ..] => (usize::from(length), rest),
        [_, 0x82, high @ 1..=0xff, low, ref rest @ ..] => (usize::from(high) << 8 | usize::from(low), rest),
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// The contents, if nothing follows.
pub(super) fn only(kind: u8, input: &[u8]) -> Option<&[u8]> {
    element(kind, input).filter(|(_, rest)| rest.is_empty()).map(|(contents, _)| contents)
}
