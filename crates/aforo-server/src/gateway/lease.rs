//! A connection to an upstream in use.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;

use super::failure::Failure;
use super::pool::Pool;
use super::settings::Upstream;
use super::upstream::{Fault, UpstreamBody, UpstreamPulse};

/// A connection, in use or at rest.
pub(super) struct Connection {
    pub(super) sender: SendRequest<UpstreamBody>,
    pub(super) pulse: Arc<UpstreamPulse>,
    /// The upstream's place in the pool.
    pub(super) site: usize,
    /// Whether it has served a request before.
    pub(super) is_used: bool,
}

/// A connection in use. Dropped before it is given back, it is closed.
pub(super) struct Lease {
    // Boxed for as long as it lives: the lease goes along with every response.
    connection: Box<Connection>,
    pool: Rc<Pool>,
}

/// A response that has begun, and the connection that the rest of it comes over.
pub(super) type Answer = (Response<Incoming>, Lease);

/// What became of a request that was sent.
pub(super) enum Sent {
    /// The response has begun.
    Answered(Answer),
    /// The upstream did not take it, or it may be sent again: here it is.
    /// Boxed, because what is rare should not make large what is not.
    Returned(Box<Request<UpstreamBody>>),
}

/// The head of a response that is awaited. The request is on its way, so it is not moved along with this.
pub(super) struct Sending {
    head: Head,
    lease: Option<Lease>,
    copy: Option<Box<Request<UpstreamBody>>>,
}

/// Boxed because hyper's own future for a response has no name. It costs one allocation a request.
type Head = Pin<Box<dyn Future<Output = Result<Response<Incoming>, TrySendError<Request<UpstreamBody>>>>>>;

// === impl Lease ===

impl Lease {
    pub(super) fn new(connection: Box<Connection>, pool: &Rc<Pool>) -> Self {
        Self { connection, pool: Rc::clone(pool) }
    }

    /// Sends a request.
    pub(super) fn send(mut self, mut request: Request<UpstreamBody>) -> Sending {
        let Connection { sender, pulse, is_used, .. } = &mut *self.connection;
        // A server that closes a connection which rested for long may cross our request on its way. Only then is it worth
        // keeping a copy.
        let copy = (*is_used && pulse.is_cold() && is_repeatable(&request)).then(|| Box::new(repeat(&request)));
        pulse.begin();
        request.body_mut().send_over(pulse);
        Sending { head: Box::pin(sender.try_send_request(request)), lease: Some(self), copy }
    }

    /// What an error means for the request.
    fn explain(
        &self,
        mut error: TrySendError<Request<UpstreamBody>>,
        copy: Option<Box<Request<UpstreamBody>>>,
    ) -> Result<Sent, Failure> {
        let untaken = error.take_message().map(Box::new).or(copy);
        match (untaken, self.connection.pulse.fault()) {
            (Some(request), Fault::None) if self.connection.is_used => Ok(Sent::Returned(request)),
            (_, Fault::UpstreamSilent) => Err(Failure::Silent),
            (_, Fault::ClientSilent) => Err(Failure::ClientSilent),
            (_, Fault::ClientBroken) => Err(Failure::ClientBroken),
            (_, Fault::None) => Err(Failure::Broken(error.into_error())),
        }
    }

    /// The response has ended: the connection may serve the next request, if it is able to.
    pub(super) fn give_back(mut self) {
        if self.connection.sender.is_ready() {
            self.connection.is_used = true;
            self.pool.rest(self.connection);
        }
    }

    /// The upstream at the other end.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        self.pool.upstream(self.connection.site)
    }

    /// The pool that it belongs to.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Whether the upstream was silent for too long.
    pub(super) fn is_silent(&self) -> bool {
        self.connection.pulse.fault() == Fault::UpstreamSilent
    }
}

// === impl Sending ===

impl Future for Sending {
    type Output = Result<Sent, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let head = ready!(self.head.as_mut().poll(cx));
        // A future that is polled after its end may wait for ever.
        let Some(lease) = self.lease.take() else { return Poll::Pending };
        Poll::Ready(match head {
            Ok(response) => Ok(Sent::Answered((response, lease))),
            Err(error) => lease.explain(error, self.copy.take()),
        })
    }
}

/// Whether a request may reach the upstream twice without harm.
fn is_repeatable(request: &Request<UpstreamBody>) -> bool {
    request.body().is_empty() && request.method().is_idempotent()
}

fn repeat(request: &Request<UpstreamBody>) -> Request<UpstreamBody> {
    let mut copy = Request::new(UpstreamBody::empty());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    copy
}
