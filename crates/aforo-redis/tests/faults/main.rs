//! What clients see of a server that is slow, gone or another one now: what they are answered, how long they wait, and
//! whether what was admitted is what the server has counted.
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod clients;
mod cluster;
mod frozen;
mod gone;
mod network;
mod refusing;
mod replicas;
