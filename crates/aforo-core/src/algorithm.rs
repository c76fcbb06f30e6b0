//! The four algorithms, each a pure step from state to state.
//!
//! All of them count in integers below 2^53, which a double holds exactly, so that a store that computes in doubles
//! reaches the same numbers.

pub mod fixed_window;
pub mod sliding_log;
pub mod sliding_window;
pub mod token_bucket;
