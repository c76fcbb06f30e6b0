//! Allocations a request: a program of its own, since counting slows the allocator down.

use std::alloc::System;

use aforo_bench::{AllocationFree, of_limiter};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let allocations = || ALLOCATOR.stats().allocations + ALLOCATOR.stats().reallocations;
    match of_limiter(&name, &AllocationFree { allocations: &allocations }) {
        Some(allocations) => println!("{allocations}"),
        None => eprintln!("usage: allocations LIMITER"),
    }
}
