//! `Forwarded` (RFC 7239), of which only `for` is read.
//!
//! It is taken apart from the right, for its left end is whatever a client sent: an open quote there must not swallow what
//! honest proxies have added. Read backwards, an element that is well formed is always found whole.

use super::address::{self, is_port};
use super::list::{split_at, trim};
use super::{Finding, Told};

/// The longest node that is looked at once its escapes are gone: an IPv6 address with zone and port is half as long.
const LONGEST: usize = 128;

/// What stands before the last comma outside quotes, if there is one, and after it.
pub(super) fn split_last(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let mut quoted = false;
    let comma = line.iter().enumerate().rposition(|(at, byte)| match byte {
        b'"' => {
            // Read backwards, the first quote is always a closing one.
            quoted = !quoted || is_escaped(line, at);
            false
        }
        b',' => !quoted,
        _ => false,
    });
    split_at(line, comma)
}

/// Whether an odd number of backslashes stands before.
fn is_escaped(line: &[u8], at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

pub(super) fn read(element: &[u8]) -> Told {
    let element = trim(element);
    if element.is_empty() {
        return Told::Nothing;
    }
    value_of(element).map_or_else(Told::Other, read_value)
}

/// A value as it was written.
#[derive(Clone, Copy)]
enum Value<'h> {
    Token(&'h [u8]),
    /// What is between the quotes, with its escapes.
    Quoted(&'h [u8]),
}

/// The value of `for`, or why there is none. Blanks around a semicolon are no part of the grammar, but are found in the
/// wild.
fn value_of(element: &[u8]) -> Result<Value<'_>, Finding> {
    let mut found = None;
    let mut rest = Rest(element);
    loop {
        rest.skip_blanks();
        if let Some(name) = rest.token() {
            let value = rest.value().ok_or(Finding::Malformed)?;
            if name.eq_ignore_ascii_case(b"for") && found.replace(value).is_some() {
                return Err(Finding::Malformed);
            }
            rest.skip_blanks();
        }
        if rest.0.is_empty() {
            return found.ok_or(Finding::Silent);
        }
        if !rest.take(b';') {
            return Err(Finding::Malformed);
        }
    }
}

fn read_value(value: Value<'_>) -> Told {
    match value {
        Value::Quoted(raw) if raw.contains(&b'\\') => {
            unescape(raw, &mut [0; LONGEST]).map_or(Told::Other(Finding::NoAddress), read_node)
        }
        Value::Token(raw) | Value::Quoted(raw) => read_node(raw),
    }
}

fn read_node(text: &[u8]) -> Told {
    let name = text.split(|byte| *byte == b':').next().unwrap_or(text);
    // Only in brackets does an IPv6 address end before its port.
    let bare = !text.starts_with(b"[") && text.iter().filter(|byte| **byte == b':').count() > 1;
    match address::read(text, is_port_or_hidden) {
        Some(address) if !bare => Told::Address(address),
        _ if name.eq_ignore_ascii_case(b"unknown") => Told::Other(Finding::Unknown),
        _ if name.starts_with(b"_") => Told::Other(Finding::Hidden),
        _ => Told::Other(Finding::NoAddress),
    }
}

fn is_port_or_hidden(text: &str) -> bool {
    let is_hidden =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    is_port(text) || text.strip_prefix('_').is_some_and(is_hidden)
}

/// A quoted string without its escapes, if there is room for it.
fn unescape<'r>(raw: &[u8], room: &'r mut [u8; LONGEST]) -> Option<&'r [u8]> {
    let mut length = 0;
    let mut bytes = raw.iter();
    while let Some(byte) = bytes.next() {
        *room.get_mut(length)? = if *byte == b'\\' { *bytes.next()? } else { *byte };
        length += 1;
    }
    room.get(..length)
}

/// What of an element is still to be read.
struct Rest<'h>(&'h [u8]);

impl<'h> Rest<'h> {
    fn skip_blanks(&mut self) {
        while self.take(b' ') || self.take(b'\t') {}
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// A token (RFC 9110, section 5.6.2).
    fn token(&mut self) -> Option<&'h [u8]> {
        let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        let length = self.0.iter().position(|byte| !is_token(byte)).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        (!token.is_empty()).then_some(token)
    }

    /// What follows the name of a parameter.
    fn value(&mut self) -> Option<Value<'h>> {
        if !self.take(b'=') {
            None
        } else if self.take(b'"') {
            self.quoted().map(Value::Quoted)
        } else {
            self.token().map(Value::Token)
        }
    }

    /// The rest of a quoted string, up to the quote that closes it.
    fn quoted(&mut self) -> Option<&'h [u8]> {
        let mut escaped = false;
        let end = self.0.iter().position(|byte| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })?;
        let (inside, from_quote) = self.0.split_at_checked(end)?;
        self.0 = from_quote.split_first()?.1;
        Some(inside)
    }
}
