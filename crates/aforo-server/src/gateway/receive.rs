//! Between hyper and the service: each request gets its normal form, its peer and its exchange.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::EXPECT;
use http::{Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::exchange::{Exchange, OutboundBody};
use super::incoming::IncomingBody;
use super::leftovers::Leftovers;
use super::peer::Peer;
use super::pulse::Pulse;
use super::request::normalize;

/// Serves the requests of one connection.
pub(super) struct Receive<S> {
    service: RefCell<S>,
    pulse: Arc<Pulse>,
    peer: Peer,
    silence: Duration,
    leftovers: Leftovers,
}

pin_project! {
    /// The answer to one request.
    pub(super) struct Receiving<S>
    where
        S: Service<Request<IncomingBody>>,
    {
        exchange: Option<Exchange>,
        #[pin]
        stage: Stage<S, S::Future>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<S, F> {
        Refused { response: Option<Response<Bytes>> },
        Waiting { service: S, request: Option<Request<IncomingBody>> },
        Called { #[pin] future: F },
    }
}

impl<S> Receive<S> {
    pub(super) fn new(service: S, pulse: Arc<Pulse>, peer: Peer, silence: Duration, leftovers: Leftovers) -> Self {
        Self { service: RefCell::new(service), pulse, peer, silence, leftovers }
    }

    /// Calls the service here and now if it is ready, as it nearly always is: a request that waits is moved more often.
    fn enter<B>(&self, request: Request<IncomingBody>) -> Stage<S, S::Future>
    where
        S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible> + Clone,
    {
        let mut service = self.service.borrow_mut();
        match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => Stage::Called { future: service.call(request) },
            // Each request that waits needs a service of its own to wait for.
            Poll::Pending => Stage::Waiting { service: service.clone(), request: Some(request) },
        }
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Receive<S>
where
    S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible> + Clone,
    B: Body<Data = Bytes>,
{
    type Response = Response<OutboundBody<B>>;
    type Error = Infallible;
    type Future = Receiving<S>;

    fn call(&self, request: Request<Incoming>) -> Receiving<S> {
        let exchange = Some(Exchange::begin(&self.pulse, request.version()));
        let awaited = !request.body().is_end_stream() && request.headers().contains_key(EXPECT);
        let mut request = request.map(|body| IncomingBody::new(body, self.silence, awaited, &self.leftovers));
        let stage = match normalize(&mut request) {
            Ok(()) => {
                request.extensions_mut().insert(self.peer.clone());
                self.enter(request)
            }
            Err(problem) => Stage::Refused { response: Some(problem.respond()) },
        };
        Receiving { exchange, stage }
    }
}

impl<S, B> Future for Receiving<S>
where
    S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes>,
{
    type Output = Result<Response<OutboundBody<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.stage.as_mut().project() {
                StageProjection::Waiting { service, request } => {
                    let Ok(()) = ready!(service.poll_ready(cx));
                    // A future that is polled after its end may wait for ever: there is nothing left to answer.
                    let Some(request) = request.take() else { return Poll::Pending };
                    let future = service.call(request);
                    this.stage.set(Stage::Called { future });
                }
                StageProjection::Called { future } => {
                    let Ok(response) = ready!(future.poll(cx));
                    let Some(exchange) = this.exchange.take() else { return Poll::Pending };
                    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                        exchange.become_tunnel();
                    }
                    return Poll::Ready(Ok(response.map(|body| exchange.carry(body))));
                }
                StageProjection::Refused { response } => {
                    let (Some(response), Some(exchange)) = (response.take(), this.exchange.take()) else {
                        return Poll::Pending;
                    };
                    return Poll::Ready(Ok(response.map(|bytes| exchange.carry_own(bytes))));
                }
            }
        }
    }
}
