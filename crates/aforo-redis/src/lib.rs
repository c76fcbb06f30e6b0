//! The aforo store for many processes: counters in Redis, or in what speaks its language.
#![deny(missing_docs)]

mod address;
mod call;
mod endpoint;
mod health;
mod servers;
mod settings;
mod trouble;

pub use address::{Address, InvalidAddress};
pub use health::{Errors, Health, ServerHealth, State};
pub use settings::{InvalidPrefix, Settings};
