//! aforo's memory store beside others, in one process.
//!
//! Every limiter is asked for the fullest answer that it gives, about the same keys in the same order; every
//! measurement runs in a process of its own, so that none inherits another's heap, caches or threads.
#![deny(missing_docs)]

mod limiter;
mod limiters;
mod measure;
pub mod report;
mod workload;

pub use limiter::{Limiter, Measure, NAMES, Terms, of_limiter};
pub use measure::{AllocationFree, Instructions, Memory, Nanoseconds, on_processor};
pub use workload::{KEYS, Workload};
