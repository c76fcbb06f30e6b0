//! The normal form of a path: what routes are matched against, whatever the path was dressed up as.
//!
//! Servers and frameworks differ in what they make of `//`, `/./`, `%61`, `%2F`, `;v=1` and a slash at the end. A
//! limit that reads the path one way before a server that reads it another can be walked around, so every spelling
//! that some server takes for a path is brought to one form here. Where another server would take it for another path,
//! that is told too, and the request meets what both meet. What is forwarded is what arrived.

use std::borrow::Cow;
use std::fmt::Write;

use aforo_policy::stands_for_itself;

/// The forms of a request's path that servers may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths<'p> {
    /// The normal form.
    pub normal: Cow<'p, str>,
    /// The form for a server that resolves no dot segments, strips no parameters and takes no encoded slash for a
    /// slash, if that is another.
    pub unresolved: Option<String>,
    /// Of a path that begins with two slashes, the form for a server that takes what follows them for a host, as the URL
    /// standard does of a reference, if that is another.
    pub behind_host: Option<String>,
}

/// The forms of a path that starts with a slash and has no query.
///
/// ```
/// # use aforo_http::path::normal_forms;
/// for spelling in ["/api/login", "//api/./login/", "/%61pi/x/%2e%2e/login", "/api;v=1/login;x", "/api%2Flogin"] {
///     assert_eq!(normal_forms(spelling).normal, "/api/login");
/// }
/// assert_eq!(normal_forms("/api/x/../login").unresolved.as_deref(), Some("/api/x/../login"));
/// assert_eq!(normal_forms("//x/api/login").behind_host.as_deref(), Some("/api/login"));
/// ```
pub fn normal_forms(path: &str) -> Paths<'_> {
    if is_normal(path) {
        return Paths { normal: Cow::Borrowed(path), unresolved: None, behind_host: None };
    }
    let normal = resolve(&decode_once(path, Slash::Decoded));
    let unresolved = Some(collapse(&decode_once(path, Slash::Kept))).filter(|other| *other != normal);
    let behind_host = behind_host(path).map(|rest| resolve(&decode_once(rest, Slash::Decoded)));
    Paths { unresolved, behind_host: behind_host.filter(|other| *other != normal), normal: Cow::Owned(normal) }
}

/// What is left of a path that begins with two slashes, of either kind, if the next segment is a host.
fn behind_host(path: &str) -> Option<&str> {
    let host = path.strip_prefix(['/', '\\'])?.strip_prefix(['/', '\\'])?;
    let host = host.trim_start_matches(['/', '\\']);
    Some(host.find(['/', '\\']).and_then(|end| host.get(end..)).unwrap_or("/"))
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
            b'/' | b'.' if previous == b'/' => return false,
            b'/' => {}
            _ if !stands_for_itself(byte) => return false,
            _ => {}
        }
        previous = byte;
    }
    bytes.first() == Some(&b'/') && (bytes.len() == 1 || previous != b'/')
}

/// Drops parameters, and resolves dot segments and empty ones.
fn resolve(decoded: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    join(segments, decoded.len())
}

/// Drops empty segments.
fn collapse(decoded: &str) -> String {
    join(decoded.split('/').filter(|segment| !segment.is_empty()), decoded.len())
}

fn join<'s>(segments: impl IntoIterator<Item = &'s str>, length: usize) -> String {
    let mut path = String::with_capacity(length);
    for segment in segments {
        path.push('/');
        path.push_str(segment);
    }
    if path.is_empty() {
        path.push('/');
    }
    path
}

/// Decodes every escape of a byte that stands for itself and escapes every byte that does not, so that it is one
/// spelling whether it came escaped or not. A semicolon that came as it is begins parameters and stays.
fn decode_once(path: &str, slash: Slash) -> String {
    let bytes = path.as_bytes();
    let mut decoded = String::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = bytes.get(at..at + 3).and_then(decode);
        match escaped {
            Some(b'/' | b'\\') if slash == Slash::Decoded => decoded.push('/'),
            Some(meant) => push(meant, &mut decoded),
            None if matches!(byte, b'/' | b'\\') => decoded.push('/'),
            None if byte == b';' => decoded.push(';'),
            None => push(byte, &mut decoded),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

/// The byte that `%XX` stands for.
fn decode(three: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = three else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn push(byte: u8, into: &mut String) {
    if stands_for_itself(byte) {
        into.push(char::from(byte));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(into, "%{byte:02X}");
    }
}

#[cfg(test)]
mod tests;
