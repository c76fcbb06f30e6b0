//! The specification of counting, held against the engine.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod bounds;
mod changes;
mod clocks;
mod deciding;
mod faults;
mod histories;
mod oracle;
mod promises;
mod quotas;
mod refunds;
mod states;
mod tables;
