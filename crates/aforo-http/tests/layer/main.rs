//! The Tower layer before a service, on a manual clock: what clients see, and what the service sees.

mod fields;
mod refusals;
mod service;
mod stand;
