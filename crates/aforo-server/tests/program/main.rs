//! The program as people run it: its commands, its listeners, its signals.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod admin;
mod articles;
mod browser;
mod check;
mod crowd;
mod demo;
mod doctor;
mod explain;
mod identity;
mod proxies;
mod redis;
mod reload;
mod serve;
mod stand;
