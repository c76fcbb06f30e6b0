//! Ports that nobody uses.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

/// Below the ports that the kernel gives to outgoing connections, so that a server that was stopped finds its port
/// free when it starts again.
const FIRST: u16 = 12_000;
const COUNT: u16 = 10_000;

/// A node of a Cluster speaks with the others on its port and this many.
const BUS: u16 = 10_000;

/// A port of the loopback that is free now, as is the port of a Cluster's bus that belongs to it.
pub(crate) fn free_port() -> u16 {
    // Tests that run side by side begin at different places.
    let begin = (RandomState::new().hash_one(std::process::id()) % u64::from(COUNT)) as u16;
    let mut candidates = (0..COUNT).map(|step| FIRST + (begin + step) % COUNT);
    candidates.find(|&port| is_free(port) && is_free(port + BUS)).expect("one of ten thousand ports is free")
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
