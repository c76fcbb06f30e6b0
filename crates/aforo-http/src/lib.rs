//! aforo for HTTP.
//!
//! A request is *described* ([`Descriptor`]): its method, the normal form of its path ([`path`]), its host, the
//! client's address ([`client`]) and its headers. The limiter of [`aforo_policy`] decides. The decision is *rendered*:
//! as fields of the response ([`fields`]) and, if it is a refusal, as the response itself ([`refuse`]).
//! [`RateLimitLayer`] does all three before any Tower service.
//!
//! Notable by its absence: a store, a server, a runtime.
#![deny(missing_docs)]

mod answer;
mod body;
mod charged;
pub mod client;
mod cors;
mod descriptor;
pub mod fields;
pub mod identity;
pub mod path;
mod refusal;
mod seconds;
mod template;
mod tower;
mod words;

pub(crate) use answer::{Outcome, finish};
pub use body::MaybeRefused;
pub use descriptor::{Descriptor, Peer};
pub use refusal::{Dialect, refuse};
pub use tower::{Observe, RateLimit, RateLimitLayer, ResponseFuture};
