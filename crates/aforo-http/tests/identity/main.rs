//! Who a request is from: what verifies, what does not, and what a policy may not say.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod algorithms;
mod api_keys;
mod attacks;
mod claims;
mod clients;
mod headers;
mod key_sets;
mod mistakes;
mod order;
mod patience;
mod remembering;
mod stand;
