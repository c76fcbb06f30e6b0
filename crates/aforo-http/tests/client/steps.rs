//! What a walk tells of itself, and where it stops.

use aforo_http::client::{Finding, Source, trace};
use aforo_policy::ClientHeader;

use crate::{clients, walked};

#[test]
fn every_step_is_told_from_the_peer_on() {
    let rule = clients(ClientHeader::XForwardedFor, "127.0.0.1/32 10.0.0.0/8");
    let trace = walked("127.0.0.1", &[b"spoofed", b"203.0.113.7,, 10.0.0.2:80"], &rule);
    let steps: Vec<String> = trace.steps.iter().map(ToString::to_string).collect();
    assert_eq!(steps, ["peer 127.0.0.1 is trusted", "10.0.0.2:80 is trusted", "203.0.113.7 is not trusted"]);
    assert_eq!(trace.walk.from, Source::Header);
    assert!(trace.walk.trusted_peer);
}

#[test]
fn a_step_is_printable_and_short() {
    let rule = clients(ClientHeader::XForwardedFor, "10.0.0.0/8");
    let trace = walked("10.0.0.1", &[b"\x1b[2J\xff\"x", b",10.0.0.2"], &rule);
    assert_eq!(trace.steps.last().unwrap().to_string(), r#"\x1b[2J\xff"x is no address"#);
    let trace = walked("10.0.0.1", &["x".repeat(1000).as_bytes()], &rule);
    assert_eq!(trace.steps.last().unwrap().at, "x".repeat(80) + "…");
}

#[test]
fn a_header_that_says_nothing_leaves_the_peer() {
    let rule = clients(ClientHeader::Forwarded, "10.0.0.0/8");
    for (line, finding) in [
        ("", Finding::Trusted),
        (" , ,", Finding::Trusted),
        ("proto=https", Finding::Silent),
        ("for=unknown", Finding::Unknown),
        ("for=\"UNKNOWN:80\"", Finding::Unknown),
        ("for=_x", Finding::Hidden),
        ("for=x", Finding::NoAddress),
        ("for", Finding::Malformed),
    ] {
        let trace = walked("10.0.0.1", &[line.as_bytes()], &rule);
        assert_eq!((trace.walk.from, trace.steps.last().unwrap().finding), (Source::Peer, finding), "{line}");
    }
}

#[test]
fn without_a_peer_nobody_is_believed() {
    let rule = clients(ClientHeader::XForwardedFor, "0.0.0.0/0 ::/0");
    let trace = trace(None, [b"203.0.113.7".as_slice()], &rule);
    assert_eq!((trace.walk.address, trace.walk.trusted_peer, trace.steps.len()), (None, false, 0));
}

#[test]
fn a_list_of_a_hundred_kilobytes_ends_after_64_elements() {
    let rule = clients(ClientHeader::XForwardedFor, "10.0.0.0/8");
    let hops = |count: usize| format!("203.0.113.7{}", ", 10.0.0.2".repeat(count));
    let found = |line: &str| {
        let trace = walked("10.0.0.1", &[line.as_bytes()], &rule);
        (trace.walk.address.unwrap().to_string(), trace.steps.last().unwrap().finding)
    };
    assert_eq!(found(&hops(63)), ("203.0.113.7".to_owned(), Finding::Untrusted));
    assert_eq!(found(&hops(64)), ("10.0.0.2".to_owned(), Finding::TooMany));
    assert_eq!(found(&hops(10_000)), ("10.0.0.2".to_owned(), Finding::TooMany));
    assert_eq!(found(&("203.0.113.7".to_owned() + &",".repeat(100 << 10))), ("10.0.0.1".to_owned(), Finding::TooMany));
    assert_eq!(found(&"1".repeat(100 << 10)), ("10.0.0.1".to_owned(), Finding::NoAddress));
}

#[test]
fn forwarded_of_a_hundred_kilobytes_ends_after_64_elements() {
    let rule = clients(ClientHeader::Forwarded, "10.0.0.0/8");
    let found = |line: &str| {
        let trace = walked("10.0.0.1", &[line.as_bytes()], &rule);
        (trace.walk.address.unwrap().to_string(), trace.steps.last().unwrap().finding)
    };
    let hops = |count: usize| format!("for=203.0.113.7{}", ", for=10.0.0.2".repeat(count));
    assert_eq!(found(&hops(63)), ("203.0.113.7".to_owned(), Finding::Untrusted));
    assert_eq!(found(&hops(10_000)), ("10.0.0.2".to_owned(), Finding::TooMany));
    assert_eq!(found(&format!("for=\"{}\"", "\\1".repeat(50 << 10))), ("10.0.0.1".to_owned(), Finding::NoAddress));
    assert_eq!(found(&"\\\"".repeat(50 << 10)), ("10.0.0.1".to_owned(), Finding::Malformed));
    assert_eq!(found(&";".repeat(100 << 10)), ("10.0.0.1".to_owned(), Finding::Silent));
}
