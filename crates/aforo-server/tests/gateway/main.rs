//! The gateway before real sockets: what arrives at the upstream, what comes back, and when.
// A panic is how a test fails.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod bodies;
mod drain;
mod fields;
mod framing;
mod http2;
mod proxied;
mod reuse;
mod strangers;
mod support;
mod timeouts;
mod tls;
mod tunnels;
mod upstreams;
