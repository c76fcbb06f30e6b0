//! Rate limiting for APIs.
//!
//! A [`Policy`] says which [`Rule`]s meet a request; a store counts; a [`Limiter`] is both, and answers. With the feature
//! `tower`, [`RateLimitLayer`] puts it before any service.
//!
//! ```
//! use aforo::{Limiter, MemoryStore, Policy, Quota, Rule};
//!
//! let rules = [
//!     Rule::new("short", Quota::per_second(5))?,
//!     Rule::new("medium", Quota::per_minute(300).sliding_window())?,
//!     Rule::new("long", Quota::per_hour(5000))?,
//! ];
//! let limiter = Limiter::new(Policy::new(rules)?, MemoryStore::new());
//! # let _ = limiter;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate re-exports what programs need; the parts have pages of their own: [`aforo_core`] counts,
//! [`aforo_policy`] reads policies and names counters, `aforo_memory` keeps them, `aforo_http` speaks HTTP.
#![deny(missing_docs)]

#[cfg(feature = "redis")]
mod counters;

#[doc(no_inline)]
pub use aforo_core::{
    Algorithm, Anchor, Clock, Cost, Decision, Hit, Hits, InvalidQuota, Key, ManualClock, Mode, Moment, Op, Origin,
    Quota, Retry, Store, StoreError, StoreErrorKind, Verdict,
};
#[cfg(feature = "http")]
#[doc(no_inline)]
pub use aforo_http::{Descriptor, Dialect, Peer, fields, identity, path, refuse};
#[cfg(feature = "tower")]
#[doc(no_inline)]
pub use aforo_http::{Observe, RateLimit, RateLimitLayer};
#[cfg(feature = "memory")]
#[doc(no_inline)]
pub use aforo_memory::{MemoryStore, SystemClock};
#[doc(no_inline)]
pub use aforo_policy::{
    Allowance, Alone, Answer, Denied, Describe, Exemption, Fact, File, Headers, InvalidStore, Legacy, LegacyReset,
    Limiter, Match, Mistakes, Partition, Parts, Percent, Permit, Policy, Process, Route, Rule, Standard, StoreSettings,
    Template, WhenDown, WhenMissing,
};
#[cfg(feature = "redis")]
#[doc(no_inline)]
pub use aforo_redis::{self as redis, RedisStore};
#[cfg(feature = "redis")]
pub use counters::{Counters, Deciding, StandIn, redis_settings};
