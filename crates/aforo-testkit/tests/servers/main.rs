//! The servers and the proxy that tests rely on do what they are relied on for.
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod cluster;
mod proxy;
mod redis_server;
mod sentinels;
