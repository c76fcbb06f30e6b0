//! The aforo store for many processes: counters in Redis, or in what speaks its language.
#![deny(missing_docs)]

mod address;
mod call;
mod counters;
mod denials;
pub mod doctor;
mod endpoint;
mod health;
mod naming;
mod question;
mod script;
mod servers;
mod settings;
mod split;
mod store;
mod trouble;

pub use address::{Address, InvalidAddress};
pub use health::{Errors, Health, ServerHealth, State};
pub use settings::{InvalidPrefix, Settings};
pub use store::{Deciding, RedisStore};
