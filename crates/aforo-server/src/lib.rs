//! The program `aforo`, as a library so that tests can call its parts.
//!
//! A command (`command/`) turns what was typed and a policy file into settings; the gateway (`gateway/`) serves
//! requests through the limiter's Tower layer; the admin listener (`admin/`) tells how it is going; `reload` swaps
//! the policy while counters go on.
#![deny(missing_docs)]

use std::process::ExitCode;

use clap::Parser;

pub mod admin;
mod believing;
pub mod command;
pub mod gateway;
pub mod log;
pub mod reload;
pub mod sample;
pub mod serving;
pub mod surroundings;
pub mod totals;

/// Runs the program with the arguments it was called with.
pub fn run() -> ExitCode {
    match command::Call::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                eprintln!("{message}");
            }
            failure.exit_code()
        }
    }
}
