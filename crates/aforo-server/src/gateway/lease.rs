//! A connection to an upstream in use.

use std::rc::Rc;
use std::sync::Arc;

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
}

/// A connection in use. Dropped before it is given back, it is closed.
pub(super) struct Lease {
    connection: Connection,
    pool: Rc<Pool>,
    /// The upstream's place in the pool.
    site: usize,
    /// Whether the connection has served a request before.
    rested: bool,
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

// === impl Lease ===

impl Lease {
    pub(super) fn new(connection: Connection, pool: &Rc<Pool>, site: usize, rested: bool) -> Self {
        Self { connection, pool: Rc::clone(pool), site, rested }
    }

    /// Sends a request, and returns a future of the head of its response. The request is on its way when this returns: so
    /// the future does not carry it, and stays small.
    pub(super) fn send(
        mut self,
        mut request: Request<UpstreamBody>,
    ) -> impl Future<Output = Result<Sent, Failure>> + use<> {
        let Connection { sender, pulse } = &mut self.connection;
        // A server that closes a connection which rested for long may cross our request on its way. Only then is it worth
        // keeping a copy.
        let copy = (self.rested && pulse.is_cold() && is_repeatable(&request)).then(|| Box::new(repeat(&request)));
        pulse.begin();
        request.body_mut().send_over(pulse);
        let sending = sender.try_send_request(request);
        async move {
            match sending.await {
                Ok(response) => Ok(Sent::Answered((response, self))),
                Err(error) => self.explain(error, copy),
            }
        }
    }

    /// What an error means for the request.
    fn explain(
        &self,
        mut error: TrySendError<Request<UpstreamBody>>,
        copy: Option<Box<Request<UpstreamBody>>>,
    ) -> Result<Sent, Failure> {
        let untaken = error.take_message().map(Box::new).or(copy);
        match (untaken, self.connection.pulse.fault()) {
            (Some(request), Fault::None) if self.rested => Ok(Sent::Returned(request)),
            (_, Fault::UpstreamSilent) => Err(Failure::Silent),
            (_, Fault::ClientSilent) => Err(Failure::ClientSilent),
            (_, Fault::ClientBroken) => Err(Failure::ClientBroken),
            (_, Fault::None) => Err(Failure::Broken(error.into_error())),
        }
    }

    /// The response has ended: the connection may serve the next request, if it is able to.
    pub(super) fn give_back(self) {
        if self.connection.sender.is_ready() {
            self.pool.rest(self.site, self.connection);
        }
    }

    /// The upstream at the other end.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        self.pool.upstream(self.site)
    }

    /// Whether the upstream was silent for too long.
    pub(super) fn is_silent(&self) -> bool {
        self.connection.pulse.fault() == Fault::UpstreamSilent
    }
}

/// Whether a request may reach the upstream twice without harm.
fn is_repeatable(request: &Request<UpstreamBody>) -> bool {
    request.body().is_empty() && request.method().is_idempotent()
}

fn repeat(request: &Request<UpstreamBody>) -> Request<UpstreamBody> {
    let mut copy = Request::new(UpstreamBody::Empty);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    copy
}
