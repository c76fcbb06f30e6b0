//! Finding the client behind proxies allocates nothing, nor does knowing again who it is.
//!
//! One test alone in its program: the allocator counts for all threads.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::alloc::System;
use std::hint::black_box;
use std::io;
use std::path::Path;

use aforo_http::Descriptor;
use aforo_http::identity::Verifying;
use aforo_policy::{ClientHeader, Clients, Describe, File, Parts, Policy, Surroundings};
use http::{Request, request};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn policy(header: ClientHeader) -> Policy {
    let mut clients = Clients::default();
    let trusted = ["10.0.0.0/8", "192.168.0.0/16"].map(|network| network.parse().unwrap());
    (clients.header, clients.trusted) = (header, trusted.into_iter().collect());
    Policy::of(Parts { clients, ..Parts::default() }).unwrap()
}

/// Requests of users, and policies that verify who they are.
fn known() -> Vec<(Policy, request::Parts)> {
    let proved = [
        ("header: { name: x-user-id }", "x-user-id", "ana"),
        ("api_key: { keys_file: keys.yaml }", "x-api-key", "ana's key"),
        #[cfg(feature = "jwt")]
        (
            "jwt: { secret: \"a secret of the tests of the program, and of nothing else\", plan: plan }",
            "authorization",
            "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEiLCJwbGFuIjoicHJvIiwiZXhwIjo5OTk5OTk5OTk5fQ.\
             0bLUEqmJNMOrlfNjFCl9SBMWyI005d0cE_vk28AKnvQ",
        ),
    ];
    proved
        .into_iter()
        .map(|(proof, name, value)| {
            let text = format!(
                "client: {{ trusted_proxies: [10.0.0.1] }}\nidentity: [ {{ {proof} }} ]\nrules: {{ each: {{ quota: 5/s }} }}"
            );
            let file = File::read("policy.yaml", &text, &Verifying(Keys)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
            let (head, ()) = Request::get("/orders/7").header(name, value).body(()).unwrap().into_parts();
            (file.policy, head)
        })
        .collect()
}

/// One file of API keys, and nothing else.
struct Keys;

impl Surroundings for Keys {
    fn value(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(b"- { sha256: 90ee7500155c2952ee04fa59ab79f7ff2ed3ef9130aa111028e293a880ec57cf, user: ana }".to_vec())
    }
}

#[test]
fn the_walk_to_a_client_and_knowing_again_who_it_is_allocate_nothing() {
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
    let known = known();
    for (policy, head) in &known {
        assert!(Descriptor::new(head, peer, policy).identity().is_some());
    }
    let describe = || {
        for (policy, head) in asked.iter().chain(&known) {
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
