//! The header by which a proxy says whose connection it passes on: the PROXY protocol of HAProxy, versions 1 and 2.
//!
//! No byte of what follows it is taken: that belongs to TLS, or to HTTP. The file stands alone, so that it is fuzzed
//! alone.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use proxy_protocol_rs::{InvalidReason, ParseError, V2_SIGNATURE, parse};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// What version 1 begins with.
const TEXT: &[u8] = b"PROXY ";
/// The shortest header is `PROXY UNKNOWN` with the end of its line; one of version 2 has a byte more.
const SHORTEST: usize = 15;
/// The longest line of version 1, with its end.
const LONGEST_TEXT: usize = 107;
/// What a header of version 2 has before the part whose length it says.
const FIXED: usize = 16;
/// The most that a header of version 2 may have beside that: as nginx, and many times what proxies send.
const LONGEST_REST: usize = 4096;

/// What the first bytes of a connection are, as a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// The next so many bytes are part of it, whatever they are.
    Wants(usize),
    /// It ends with the end of the line, at most so many bytes further on.
    WantsLine(usize),
    /// It is whole. The address of the client, unless the proxy speaks for itself or does not know it: then that of the
    /// connection stands.
    Whole(Option<SocketAddr>),
}

/// Why a connection has no header.
#[derive(Debug)]
pub(super) enum NoHeader {
    /// It begins with something else.
    Missing,
    /// It is longer than any is.
    TooLong,
    /// It begins as one, and is none.
    Malformed(ParseError),
    /// The connection ended before it did; without a byte, if so it says.
    Ended {
        /// Whether not a byte came. Balancers connect like that to see whether somebody listens.
        empty: bool,
    },
    /// The connection broke.
    Broken(io::Error),
}

/// Looks at the first bytes of a connection. They are nothing but the header: never more than an earlier look wanted.
///
/// # Errors
///
/// As soon as they cannot become a header.
pub(super) fn look(bytes: &[u8]) -> Result<Begun, NoHeader> {
    let begins_with = |beginning: &[u8]| bytes.iter().zip(beginning).all(|(is, ought)| is == ought);
    let is_text = begins_with(TEXT);
    if !is_text && !begins_with(V2_SIGNATURE) {
        return Err(NoHeader::Missing);
    }
    let missing_of = |whole: usize| whole.checked_sub(bytes.len()).filter(|missing| *missing > 0);
    if let Some(missing) = missing_of(SHORTEST) {
        return Ok(Begun::Wants(missing));
    }
    if is_text {
        if bytes.contains(&b'\n') {
            return read_whole(bytes);
        }
        return missing_of(LONGEST_TEXT).map(Begun::WantsLine).ok_or(NoHeader::TooLong);
    }
    let Some(&[.., high, low]) = bytes.first_chunk::<FIXED>() else { return Ok(Begun::Wants(FIXED - bytes.len())) };
    let rest = usize::from(u16::from_be_bytes([high, low]));
    if rest > LONGEST_REST {
        return Err(NoHeader::TooLong);
    }
    missing_of(FIXED + rest).map_or_else(|| read_whole(bytes), |missing| Ok(Begun::Wants(missing)))
}

fn read_whole(bytes: &[u8]) -> Result<Begun, NoHeader> {
    match parse(bytes) {
        Ok((header, length)) if length == bytes.len() => Ok(Begun::Whole(header.source_inet())),
        // Of an unspecified family, which a receiver may accept and then has no address of.
        Err(ParseError::Invalid(InvalidReason::UnspecWithProxy)) => Ok(Begun::Whole(None)),
        Err(error) => Err(NoHeader::Malformed(error)),
        // The line ended early.
        Ok(_) => Err(NoHeader::Malformed(ParseError::Incomplete)),
    }
}

/// Takes the header off a connection, and tells the client's address.
pub(super) async fn take(stream: &mut TcpStream) -> Result<Option<SocketAddr>, NoHeader> {
    let mut bytes = Vec::with_capacity(LONGEST_TEXT);
    loop {
        let wanted = match look(&bytes)? {
            Begun::Whole(source) => return Ok(source),
            Begun::Wants(count) => count,
            Begun::WantsLine(most) => within_line(stream, most).await.map_err(NoHeader::Broken)?,
        };
        let limit = u64::try_from(wanted).unwrap_or(u64::MAX);
        let read = (&mut *stream).take(limit).read_buf(&mut bytes).await.map_err(NoHeader::Broken)?;
        if read == 0 {
            return Err(NoHeader::Ended { empty: bytes.is_empty() });
        }
    }
}

/// How many bytes are there, up to the end of the line; at least one, so that the end of the connection is found.
async fn within_line(stream: &TcpStream, most: usize) -> io::Result<usize> {
    let mut ahead = [0; LONGEST_TEXT];
    let count = stream.peek(&mut ahead).await?.min(most);
    let line = ahead.iter().take(count).position(|byte| *byte == b'\n').map(|end| end + 1);
    Ok(line.unwrap_or(count).max(1))
}

impl fmt::Display for NoHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not begin with a header of the PROXY protocol"),
            Self::TooLong => f.write_str("its header of the PROXY protocol is too long"),
            // It quotes what the client sent.
            Self::Malformed(error) => write!(f, "{}", error.to_string().escape_debug()),
            Self::Ended { .. } => f.write_str("it ended within its header of the PROXY protocol"),
            Self::Broken(error) => write!(f, "it broke within its header of the PROXY protocol: {error}"),
        }
    }
}

impl std::error::Error for NoHeader {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of version 2: command, family and protocol, and what follows the fixed part.
    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [&V2_SIGNATURE[..], &[0x20 | command, family], &length[..], rest].concat()
    }

    const TCP4: &[u8] = &[203, 0, 113, 7, 192, 0, 2, 1, 0xC3, 0x50, 0, 80];

    fn tcp6() -> Vec<u8> {
        let address = |last| [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
        [&address(7)[..], &address(1), &[0xC3, 0x50, 0, 80]].concat()
    }

    /// Looks as a connection does whose bytes come one at a time.
    fn look_slowly(all: &[u8]) -> Result<(Option<SocketAddr>, usize), NoHeader> {
        let mut taken = 0;
        loop {
            match look(&all[..taken])? {
                Begun::Whole(source) => return Ok((source, taken)),
                Begun::Wants(1..) | Begun::WantsLine(1..) => taken += 1,
                begun => panic!("{begun:?} after {taken} bytes"),
            }
            if taken > all.len() {
                return Err(NoHeader::Ended { empty: false });
            }
        }
    }

    #[test]
    fn a_header_says_who_the_client_is() {
        let unix = [[0; 216].as_slice(), b"\x04\0\0"].concat();
        let padded = [TCP4, &[4, 0x0F, 0xF1], &[0; 0x0FF1]].concat();
        assert_eq!(padded.len(), LONGEST_REST);
        for (header, source) in [
            (b"PROXY TCP4 203.0.113.7 192.0.2.1 50000 80\r\n".to_vec(), Some("203.0.113.7:50000")),
            (b"PROXY TCP6 2001:db8::7 2001:db8::1 50000 80\r\n".to_vec(), Some("[2001:db8::7]:50000")),
            (b"PROXY TCP6 :: :: 0 0\r\n".to_vec(), Some("[::]:0")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n".to_vec(), None),
            (format!("PROXY UNKNOWN {}\r\n", "x".repeat(91)).into_bytes(), None),
            (binary(1, 0x11, TCP4), Some("203.0.113.7:50000")),
            (binary(1, 0x21, &tcp6()), Some("[2001:db8::7]:50000")),
            // What a proxy of datagrams passes on over TCP comes from its client all the same.
            (binary(1, 0x12, TCP4), Some("203.0.113.7:50000")),
            (binary(1, 0x31, &unix), None),
            (binary(1, 0, b""), None),
            (binary(0, 0, b""), None),
            // A proxy that speaks for itself: what it says beside that is skipped.
            (binary(0, 0x11, TCP4), None),
            (binary(0, 0xFF, b"anything"), None),
            // An authority and padding up to the bound.
            (binary(1, 0x11, &[TCP4, b"\x02\0\x03api"].concat()), Some("203.0.113.7:50000")),
            (binary(1, 0x11, &padded), Some("203.0.113.7:50000")),
        ] {
            let expected = source.map(|source| source.parse().unwrap());
            let followed = [&header[..], b"GET / HTTP/1.1\r\n"].concat();
            let (found, taken) = look_slowly(&followed).unwrap_or_else(|error| panic!("{header:?}: {error}"));
            assert_eq!((found, taken), (expected, header.len()), "{}", header.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_header_is_told_apart_at_the_first_byte_that_is_wrong() {
        for (bytes, known_after) in [
            (&b"GET / HTTP/1.1\r\n"[..], 1),
            (b"\x16\x03\x01\x02\x00\x01", 1),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 3),
            (b"POST / HTTP/1.1\r\n", 2),
            (b"PROXY_TCP4 ", 6),
            (b"\r\n\r\n\0\r\nQUIZ", 11),
            (b"\r\n\r\nGET", 5),
        ] {
            assert!(look(&bytes[..known_after - 1]).is_ok(), "{}", bytes.escape_ascii());
            assert!(matches!(look(&bytes[..known_after]), Err(NoHeader::Missing)), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_malformed_header_is_refused() {
        for (bytes, why) in [
            (b"PROXY \r\nGET / HTTP/1.1\r\n".to_vec(), "6 space-separated fields"),
            (b"PROXY TCP4 1.2.3.4\r\n".to_vec(), "6 space-separated fields"),
            (b"PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n".to_vec(), "6 space-separated fields"),
            (b"PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n".to_vec(), "6 space-separated fields"),
            (b"PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n".to_vec(), "invalid port"),
            (b"PROXY TCP4 1.2.3.256 1.2.3.4 1 1\r\n".to_vec(), "invalid IP address"),
            (b"PROXY TCP4 2001:db8::1 2001:db8::2 1 1\r\n".to_vec(), "invalid IP address"),
            (b"PROXY TCP4 localhost 1.2.3.4 1 1\r\n".to_vec(), "invalid IP address"),
            (b"PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n".to_vec(), "unknown transport"),
            (b"PROXY tcp4 1.2.3.4 1.2.3.4 1 1\r\n".to_vec(), "unknown transport"),
            (b"PROXY UNKNOWN\n 1.2.3.4\r\n".to_vec(), "incomplete"),
            (b"PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n".to_vec(), "incomplete"),
            (b"PROXY TCP4 \xFF.2.3.4 1.2.3.4 1 1\r\n".to_vec(), "UTF-8"),
            ([V2_SIGNATURE.as_slice(), &[0x11, 0x11, 0, 0]].concat(), "unsupported protocol version"),
            (binary(2, 0x11, TCP4), "unknown command"),
            (binary(1, 0x41, TCP4), "unknown address family"),
            (binary(1, 0x13, TCP4), "unknown transport protocol"),
            (binary(1, 0x11, &TCP4[..11]), "exceeds"),
            (binary(1, 0x21, &tcp6()[..35]), "exceeds"),
            (binary(1, 0x31, &[0; 215]), "exceeds"),
            (binary(1, 0x11, &[TCP4, b"\x02\0\x09api"].concat()), "malformed TLV"),
            // A checksum that does not hold.
            (binary(1, 0x11, &[TCP4, b"\x03\0\x04\0\0\0\0"].concat()), "CRC32c"),
        ] {
            let error = look_slowly(&bytes).expect_err(&bytes.escape_ascii().to_string());
            assert!(matches!(error, NoHeader::Malformed(_)), "{}: {error:?}", bytes.escape_ascii());
            assert!(error.to_string().contains(why), "{}: {error}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_header_that_is_too_long_is_refused_before_it_has_come() {
        let line = [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; 200]].concat();
        assert!(matches!(look(&line[..106]), Ok(Begun::WantsLine(1))));
        assert!(matches!(look(&line[..107]), Err(NoHeader::TooLong)));
        let fixed = binary(1, 0x11, &vec![0; LONGEST_REST + 1]);
        assert!(matches!(look(&fixed[..FIXED]), Err(NoHeader::TooLong)));
        let fits = binary(0, 0, &vec![0; LONGEST_REST]);
        assert!(matches!(look(&fits), Ok(Begun::Whole(None))));
    }

    #[test]
    fn a_header_that_is_quoted_is_escaped() {
        let error = look(b"PROXY TCP4 \x1B[31m 1.2.3.4 1 1\r\n").expect_err("an escape sequence is no address");
        assert!(error.to_string().contains(r"\u{1b}[31m"), "{error}");
    }
}
