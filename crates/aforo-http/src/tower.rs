//! The Tower layer: the same limiter before any service.
//!
//! State lives in the limiter's store, which every clone shares: a service that is cloned for each connection still
//! has one quota. Nothing is decided in `poll_ready`, which has not seen the request yet.

mod future;
mod layer;
mod service;

pub use future::ResponseFuture;
pub use layer::{Observe, RateLimitLayer};
pub use service::RateLimit;
