//! What the tests of aforo share. Not published.
//!
//! [`vectors`] reads the golden tables, which are the specification of counting; [`Oracle`] is a slow and exact model
//! of it; [`conformance`] is the suite that every store must pass, and [`PlainStore`] the plainest store that does.
//! [`Numbers`] are the chance in it all.
//! [`servers`] starts real Redis servers, and a [`proxy`] before them is a bad network.
#![deny(missing_docs)]
#![forbid(unsafe_code)]
// A panic is how a test fails.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod block_on;
pub mod conformance;
mod counter;
mod eventually;
mod numbers;
mod oracle;
mod plain_store;
pub mod proxy;
pub mod servers;
pub mod vectors;

pub use block_on::block_on;
pub use counter::Counter;
pub use eventually::eventually;
pub use numbers::Numbers;
pub use oracle::{Answer, Oracle};
pub use plain_store::PlainStore;
