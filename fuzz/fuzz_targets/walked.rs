//! What must hold of every walk from the peer to the client.

use aforo_http::client::{Source, trace, walk};
use aforo_policy::{ClientHeader, Clients};

/// Walks through a header of any bytes, one line of it a line of the text; `added` is what honest proxies write when
/// 203.0.113.7 asks them.
pub fn hold(header: ClientHeader, text: &[u8], added: &[u8]) {
    let mut clients = Clients::default();
    let trusted = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network"));
    (clients.header, clients.trusted) = (header, trusted.into_iter().collect());
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let from = |peer: &str, lines: &[&[u8]]| walk(peer.parse().ok(), lines.iter().copied(), &clients);

    let found = from("10.0.0.1", &lines);
    assert!(found.address.is_some() && found.trusted_peer);
    let traced = trace("10.0.0.1".parse().ok(), lines.iter().copied(), &clients);
    assert_eq!(traced.walk, found);
    assert!(traced.steps.len() <= 66, "the peer, at most 64 elements, and why no more are read");

    // Proxies add to the last line, or write a line of their own.
    let (last, before) = lines.split_last().expect("one line at least");
    let joined = [last, b", ".as_slice(), added].concat();
    for honest in [[before, &[&joined]].concat(), [&lines, &[added][..]].concat()] {
        let found = from("10.0.0.1", &honest);
        assert_eq!((found.address, found.from), ("203.0.113.7".parse().ok(), Source::Header));
    }

    let stranger = from("198.51.100.1", &lines);
    assert_eq!((stranger.address, stranger.from), ("198.51.100.1".parse().ok(), Source::Peer));
}
