//! A proxy that the policy trusts may say how a request reached it, and not only from whom.

use std::task::{Context, Poll};

use aforo::Counters;
use aforo_policy::Limiter;
use http::{HeaderName, Request};
use tower_layer::Layer;
use tower_service::Service;

use crate::gateway::Peer;

const SAID: [HeaderName; 2] =
    [HeaderName::from_static("x-forwarded-proto"), HeaderName::from_static("x-forwarded-host")];

/// Believes the peers that the policy in force trusts.
#[derive(Clone)]
pub(crate) struct BelievingLayer(pub(crate) Limiter<Counters>);

/// A service whose requests were seen by [`BelievingLayer`].
#[derive(Clone)]
pub(crate) struct Believing<Inner> {
    inner: Inner,
    limiter: Limiter<Counters>,
}

impl<Inner> Layer<Inner> for BelievingLayer {
    type Service = Believing<Inner>;

    fn layer(&self, inner: Inner) -> Believing<Inner> {
        Believing { inner, limiter: self.0.clone() }
    }
}

impl<Inner, B> Service<Request<B>> for Believing<Inner>
where
    Inner: Service<Request<B>>,
{
    type Response = Inner::Response;
    type Error = Inner::Error;
    type Future = Inner::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Inner::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Inner::Future {
        // The policy is shared by all workers: it is not touched for requests that say nothing.
        if SAID.iter().any(|name| request.headers().contains_key(name))
            && let Some(peer) = request.extensions_mut().get_mut::<Peer>()
            && self.limiter.policy().clients().trusted.contains(peer.address().ip())
        {
            peer.believe();
        }
        self.inner.call(request)
    }
}
