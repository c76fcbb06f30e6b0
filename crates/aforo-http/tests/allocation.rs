//! Finding the client behind proxies allocates nothing.
//!
//! One test alone in its program: the allocator counts for all threads.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::alloc::System;
use std::hint::black_box;

use aforo_http::Descriptor;
use aforo_policy::{ClientHeader, Clients, Describe, Parts, Policy};
use http::Request;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn policy(header: ClientHeader) -> Policy {
    let mut clients = Clients::default();
    let trusted = ["10.0.0.0/8", "192.168.0.0/16"].map(|network| network.parse().unwrap());
    (clients.header, clients.trusted) = (header, trusted.into_iter().collect());
    Policy::of(Parts { clients, ..Parts::default() }).unwrap()
}

#[test]
fn the_walk_to_a_client_allocates_nothing() {
    let named = "x-the-address-of-the-client-as-this-company-has-always-called-it-and-will";
    let asked = [
        (ClientHeader::XForwardedFor, "x-forwarded-for", "203.0.113.7, 192.168.0.1, 10.0.0.5"),
        (ClientHeader::XForwardedFor, "x-forwarded-for", "[2001:db8::1%eth0]:443, garbage, 10.0.0.5"),
        (ClientHeader::Forwarded, "forwarded", r#"for=unknown, by=_x;for="\10.0.0.6:_y", For="[::ffff:10.0.0.5]""#),
        (ClientHeader::Forwarded, "forwarded", r#"for=", for=10.0.0.5"#),
        (ClientHeader::Named(named.into()), named, "203.0.113.7"),
    ]
    .map(|(header, name, line)| {
        let (head, ()) = Request::get("/orders/7").header(name, line).body(()).unwrap().into_parts();
        (policy(header), head)
    });
    let peer = "10.0.0.1".parse().ok();
    let describe = || {
        for (policy, head) in &asked {
            black_box(Descriptor::new(head, peer, policy).address());
        }
    };
    // The thread that runs the tests may allocate beside this one, now and then; what allocates here does so each time.
    let allocations = (0..5).map(|_| {
        let region = Region::new(ALLOCATOR);
        (0..200).for_each(|_| describe());
        region.change().allocations + region.change().reallocations
    });
    assert_eq!(allocations.min(), Some(0));
}
