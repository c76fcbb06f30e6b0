//! The gateway before real sockets: what arrives at the upstream, what comes back, and when.

mod bodies;
mod drain;
mod fields;
mod framing;
mod http2;
mod reuse;
mod strangers;
mod support;
mod timeouts;
mod tls;
mod tunnels;
mod upstreams;
