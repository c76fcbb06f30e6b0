//! The Tower layer before a service, on a manual clock: what clients see, and what the service sees.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod clients;
mod cors;
mod fields;
mod outages;
mod refusals;
mod service;
mod stand;
