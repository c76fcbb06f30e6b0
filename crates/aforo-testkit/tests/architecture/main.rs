//! The rules of the workspace, held by a machine: which crate imports which, which folder names what, how long a file
//! may be. A rule that nobody can break unnoticed need not be remembered.
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod crates;
mod folders;
mod house;
mod tree;
