//! However its bytes come, a header of the PROXY protocol is taken whole, with nothing of what follows it, or refused.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use proxy_header::{Begun, look};

// Of the program, which would take minutes to build.
#[allow(dead_code, reason = "nothing is read from sockets")]
#[path = "../../crates/aforo-server/src/gateway/proxy_header.rs"]
mod proxy_header;

#[derive(Debug, PartialEq)]
enum Outcome {
    Taken { source: Option<SocketAddr>, length: usize },
    Refused,
    Unfinished,
}

/// Reads as a connection does of which so many bytes come at a time.
fn read(bytes: &[u8], at_a_time: usize) -> Outcome {
    let mut taken = 0;
    loop {
        let rest = &bytes[taken..];
        let wanted = match look(&bytes[..taken]) {
            Err(_) => return Outcome::Refused,
            Ok(Begun::Whole(source)) => return Outcome::Taken { source, length: taken },
            Ok(Begun::Wants(count)) => count,
            Ok(Begun::WantsLine(most)) => {
                rest.iter().take(most).position(|byte| *byte == b'\n').map_or(most, |end| end + 1)
            }
        };
        assert!(wanted > 0);
        if rest.is_empty() {
            return Outcome::Unfinished;
        }
        taken += wanted.min(at_a_time).min(rest.len());
    }
}

fuzz_target!(|bytes: &[u8]| {
    let outcome = read(bytes, usize::MAX);
    assert_eq!(outcome, read(bytes, 1));
    assert_eq!(outcome, read(bytes, 7));
    let Outcome::Taken { source, length } = outcome else { return };
    let header = &bytes[..length];
    let Some(line) = header.strip_prefix(b"PROXY ") else {
        let rest = usize::from(u16::from_be_bytes([header[14], header[15]]));
        assert_eq!(length, 16 + rest);
        return;
    };
    let line = std::str::from_utf8(line).unwrap().strip_suffix("\r\n").unwrap();
    assert!(length <= 107 && !line.contains('\n'));
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["UNKNOWN", ..] => assert_eq!(source, None),
        ["TCP4" | "TCP6", from, _, port, _] => {
            let named = SocketAddr::new(from.parse().unwrap(), port.parse().unwrap());
            assert_eq!(source, Some(named));
        }
        _ => panic!("this is no header: {line:?}"),
    }
});
