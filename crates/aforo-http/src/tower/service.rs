//! A service behind the limiter.

use std::task::{Context, Poll};

use aforo_core::Store;
use aforo_policy::Limiter;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::future::{Asked, ResponseFuture};
use super::layer::{AddressFrom, Observe};
use crate::body::MaybeRefused;
use crate::{Descriptor, charged};

/// A service whose requests meet the limiter first.
pub struct RateLimit<Inner, S, O = ()> {
    inner: Inner,
    limiter: Limiter<S>,
    address: AddressFrom,
    observer: O,
}

/// A clone shares the limiter, so the store need not be one that can be cloned.
impl<Inner: Clone, S, O: Clone> Clone for RateLimit<Inner, S, O> {
    fn clone(&self) -> RateLimit<Inner, S, O> {
        RateLimit::new(self.inner.clone(), self.limiter.clone(), self.address, self.observer.clone())
    }
}

impl<Inner: std::fmt::Debug, S, O> std::fmt::Debug for RateLimit<Inner, S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RateLimit").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<Inner, S, O> RateLimit<Inner, S, O> {
    pub(super) fn new(inner: Inner, limiter: Limiter<S>, address: AddressFrom, observer: O) -> RateLimit<Inner, S, O> {
        RateLimit { inner, limiter, address, observer }
    }

    /// The service behind.
    pub fn get_ref(&self) -> &Inner {
        &self.inner
    }

    /// The service behind, to be changed.
    pub fn get_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }

    /// The service behind, without the limiter.
    pub fn into_inner(self) -> Inner {
        self.inner
    }
}

impl<Inner, S, O, Sent, Received> Service<Request<Sent>> for RateLimit<Inner, S, O>
where
    Inner: Service<Request<Sent>, Response = Response<Received>> + Clone,
    Received: Body<Data = Bytes>,
    S: Store,
    O: Observe,
{
    type Response = Response<MaybeRefused<Received>>;
    type Error = Inner::Error;
    type Future = ResponseFuture<Inner, S, O, Sent>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Inner::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Sent>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        if charged::already(&head.extensions, &self.limiter) {
            // A layer further out has asked the same limiter.
            return ResponseFuture::passing(self.inner.call(Request::from_parts(head, body)));
        }
        let policy = self.limiter.policy();
        let descriptor = Descriptor::new(&head, (self.address)(&head.extensions), &policy);
        let mut asking = self.limiter.take_under(policy, &descriptor);
        charged::mark(&mut head.extensions, &self.limiter);
        let request = Request::from_parts(head, body);
        // A store in memory has answered already: then the service that was ready is called here and now.
        match asking.at_once() {
            Some(answer) => {
                self.observer.answered(&answer);
                ResponseFuture::answered(answer, request, &mut self.inner)
            }
            None => {
                // The clone has not been asked whether it is ready; the one that has goes with the request.
                let next = self.inner.clone();
                let ready = std::mem::replace(&mut self.inner, next);
                ResponseFuture::asking(Asked { asking, request, ready, observer: self.observer.clone() })
            }
        }
    }
}
