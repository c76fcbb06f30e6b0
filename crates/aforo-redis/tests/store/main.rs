//! What the store shows on real servers, which each test starts for itself.
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod asking;
mod calls;
mod changes;
mod clocks;
mod comparison;
mod denials;
mod exactness;
mod fleet;
mod keys;
mod rubbish;
