//! The normal form of a path: what routes are matched against, whatever the path was dressed up as.
//!
//! Servers and frameworks differ in what they make of `//`, `/./`, `%61`, `%2F`, `;v=1` and a slash at the end. A
//! limit that reads the path one way before a server that reads it another can be walked around, so every spelling
//! that some server takes for a path is brought to one form here. What is forwarded is what arrived.

use std::borrow::Cow;

/// The forms of a request's path that a server behind may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths<'p> {
    /// The normal form.
    pub normal: Cow<'p, str>,
    /// The normal form for a server that does not take an encoded slash for a slash, if there was one.
    pub encoded_slash_kept: Option<String>,
}

/// The forms of a path that starts with a slash and has no query.
///
/// ```
/// # use aforo_http::path::normal_forms;
/// for spelling in ["/api/login", "//api/./login/", "/%61pi/x/%2e%2e/login", "/api;v=1/login;x", "/api%2Flogin"] {
///     assert_eq!(normal_forms(spelling).normal, "/api/login");
/// }
/// ```
pub fn normal_forms(path: &str) -> Paths<'_> {
    if is_normal(path) {
        return Paths { normal: Cow::Borrowed(path), encoded_slash_kept: None };
    }
    let normal = resolve(path, Slash::Decoded);
    let kept = has_encoded_slash(path).then(|| resolve(path, Slash::Kept)).filter(|kept| *kept != normal);
    Paths { normal: Cow::Owned(normal), encoded_slash_kept: kept }
}

/// What `%2F` and `%5C` are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Decoded,
    Kept,
}

/// Whether a path is in its normal form at a glance: the case of nearly every request.
fn is_normal(path: &str) -> bool {
    let bytes = path.as_bytes();
    let mut previous = 0;
    for &byte in bytes {
        match byte {
            b'%' | b';' | b'\\' | 0x80.. | 0..=0x20 | 0x7F => return false,
            b'/' | b'.' if previous == b'/' => return false,
            _ => previous = byte,
        }
    }
    bytes.first() == Some(&b'/') && (bytes.len() == 1 || previous != b'/')
}

fn has_encoded_slash(path: &str) -> bool {
    path.as_bytes().windows(3).any(|three| matches!(decode(three), Some(b'/' | b'\\')))
}

/// Decodes once, drops parameters, and resolves dot segments and empty ones.
fn resolve(path: &str, slash: Slash) -> String {
    let decoded = decode_once(path, slash);
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split(['/', '\\']) {
        match segment.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    let mut normal = String::with_capacity(decoded.len());
    for segment in &segments {
        normal.push('/');
        normal.push_str(segment);
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

/// Decodes every escape that stands for a character of a name; what would change the structure of the path if it
/// were decoded, or is no text, stays escaped, in upper case.
fn decode_once(path: &str, slash: Slash) -> String {
    let bytes = path.as_bytes();
    let mut raw = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match bytes.get(at..at + 3).and_then(decode) {
            Some(meant) if stays_escaped(meant, slash) => {
                escape(meant, &mut raw);
                at += 3;
            }
            Some(meant) => {
                raw.push(meant);
                at += 3;
            }
            None => {
                raw.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(raw).unwrap_or_else(|invalid| escape_invalid(invalid.as_bytes()))
}

fn stays_escaped(byte: u8, slash: Slash) -> bool {
    match byte {
        b'%' | b';' | b'?' | b'#' | 0..=0x1F | 0x7F => true,
        b'/' | b'\\' => slash == Slash::Kept,
        _ => false,
    }
}

/// The byte that `%XX` stands for.
fn decode(three: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = three else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn escape(byte: u8, into: &mut Vec<u8>) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or(b'0', |&digit| digit as u8);
    into.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
}

/// Text with every byte that is no UTF-8 escaped.
fn escape_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let mut escaped = Vec::with_capacity(3);
            escape(*byte, &mut escaped);
            text.extend(escaped.into_iter().map(char::from));
        }
    }
    text
}

#[cfg(test)]
mod tests;
