//! Puts the limiter before a service.

use std::net::IpAddr;

use aforo_core::Store;
use aforo_policy::{Answer, Limiter};
use http::Extensions;
use tower_layer::Layer;

use super::RateLimit;
use crate::Peer;

/// Sees every answer, on the way of the request: it must neither wait nor fail.
pub trait Observe: Clone {
    /// A request has been answered.
    fn answered(&self, answer: &Answer);
}

/// Nobody looks.
impl Observe for () {
    fn answered(&self, _: &Answer) {}
}

/// A layer that refuses what the limiter refuses, and tells clients where they stand.
///
/// The address that a request came from is the [`Peer`] among its extensions: put it there where connections are accepted,
/// or say by [`RateLimitLayer::address_from`] where else it is. Behind proxies that the policy trusts, the
/// [client](crate::client) is found from there.
///
/// ```
/// use aforo_core::Quota;
/// use aforo_http::RateLimitLayer;
/// use aforo_memory::MemoryStore;
/// use aforo_policy::{Limiter, Policy, Rule};
///
/// let policy = Policy::new([Rule::new("each", Quota::per_second(5).burst(20))?])?;
/// let layer = RateLimitLayer::new(Limiter::new(policy, MemoryStore::new()));
/// # let _ = layer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RateLimitLayer<S, O = ()> {
    limiter: Limiter<S>,
    address: AddressFrom,
    observer: O,
}

/// Finds the address that a request came from among its extensions.
pub(super) type AddressFrom = fn(&Extensions) -> Option<IpAddr>;

/// A clone shares the limiter, so the store need not be one that can be cloned.
impl<S, O: Clone> Clone for RateLimitLayer<S, O> {
    fn clone(&self) -> RateLimitLayer<S, O> {
        RateLimitLayer { limiter: self.limiter.clone(), address: self.address, observer: self.observer.clone() }
    }
}

impl<S, O> std::fmt::Debug for RateLimitLayer<S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RateLimitLayer").finish_non_exhaustive()
    }
}

impl<S: Store> RateLimitLayer<S> {
    /// A layer that asks `limiter`.
    pub fn new(limiter: Limiter<S>) -> RateLimitLayer<S> {
        let address: AddressFrom = |extensions| extensions.get::<Peer>().map(|peer| peer.0.ip());
        RateLimitLayer { limiter, address, observer: () }
    }
}

impl<S, O> RateLimitLayer<S, O> {
    /// The same layer, each of whose answers `observer` sees.
    pub fn observed_by<P: Observe>(self, observer: P) -> RateLimitLayer<S, P> {
        RateLimitLayer { limiter: self.limiter, address: self.address, observer }
    }

    /// The same layer, which finds the address that a request came from by this function.
    pub fn address_from(self, address: fn(&Extensions) -> Option<IpAddr>) -> RateLimitLayer<S, O> {
        RateLimitLayer { address, ..self }
    }
}

impl<S: Store, O: Observe, Inner> Layer<Inner> for RateLimitLayer<S, O> {
    type Service = RateLimit<Inner, S, O>;

    fn layer(&self, inner: Inner) -> RateLimit<Inner, S, O> {
        RateLimit::new(inner, self.limiter.clone(), self.address, self.observer.clone())
    }
}
