//! Whose address a request has.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod golden;
mod honest_proxies;
mod spellings;
mod steps;

use aforo_http::client::{Trace, trace, walk};
use aforo_policy::{ClientHeader, Clients};

/// Clients behind these networks, in blank-separated CIDR.
fn clients(header: ClientHeader, trusted: &str) -> Clients {
    let trusted = trusted.split_whitespace().map(|network| network.parse().unwrap()).collect();
    let mut clients = Clients::default();
    (clients.header, clients.trusted) = (header, trusted);
    clients
}

/// The walk through these lines, found to be the same with its steps shown and without.
fn walked(peer: &str, lines: &[&[u8]], clients: &Clients) -> Trace {
    let peer = peer.parse().ok();
    let lines = || lines.iter().copied();
    let trace = trace(peer, lines(), clients);
    assert_eq!(walk(peer, lines(), clients), trace.walk);
    trace
}
