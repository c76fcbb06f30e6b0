//! The service at the end of the line: a request goes to an upstream, and its response comes back.

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use tower_service::Service;

use super::headers::{forward_request, strip, upgrade_of};
use super::hush::Hush;
use super::incoming::IncomingBody;
use super::peer::Peer;
use super::pool::{Answer, Failure, Lease, Pool, Sent};
use super::problem::Problem;
use super::settings::Upstream;
use super::sweep::Roster;
use super::tunnel;
use super::upstream::UpstreamBody;

/// Forwards requests to the upstreams. Clones share the worker's connections.
#[derive(Clone)]
pub struct Forward {
    pool: Rc<Pool>,
    hush: Rc<Hush>,
}

/// The body of a forwarded response. It returns the upstream connection when it has ended.
pub struct ForwardBody(Content);

enum Content {
    Upstream { incoming: Incoming, lease: Option<Lease>, hush: Rc<Hush> },
    Own(Option<Bytes>),
}

// === impl Forward ===

impl Forward {
    pub(super) fn new(upstreams: Vec<Upstream>, roster: &Rc<Roster>) -> Self {
        let hush = Rc::new(Hush::new(roster.clock().clone()));
        Self { pool: Pool::new(upstreams, Rc::clone(roster)), hush }
    }

    /// The response, or a problem in its place.
    fn answer(&self, answer: Result<Answer, Failure>, client: Option<OnUpgrade>) -> Response<ForwardBody> {
        match answer.and_then(|answer| self.respond(answer, client)) {
            Ok(response) => response,
            Err(failure) => {
                self.log(&failure);
                problem(&failure).respond().map(|bytes| ForwardBody(Content::Own(Some(bytes))))
            }
        }
    }

    fn respond(
        &self,
        (mut response, lease): Answer,
        client: Option<OnUpgrade>,
    ) -> Result<Response<ForwardBody>, Failure> {
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let client = client.ok_or(Failure::Invalid("it changed the protocol without being asked"))?;
            return self.switch(response, client, &lease);
        }
        let length = response.body().size_hint().exact();
        prepare_response(response.headers_mut(), length)?;
        // The version belongs to the connection: hyper speaks to the client as the client does.
        *response.version_mut() = Version::HTTP_11;
        Ok(response.map(|incoming| ForwardBody::new(incoming, lease, &self.hush)))
    }

    /// Answers `101` and joins both connections once they have left HTTP.
    fn switch(
        &self,
        mut response: Response<Incoming>,
        client: OnUpgrade,
        lease: &Lease,
    ) -> Result<Response<ForwardBody>, Failure> {
        let protocol = upgrade_of(response.headers()).ok_or(Failure::Invalid("it does not say to which protocol"))?;
        lease.become_tunnel();
        let upstream = hyper::upgrade::on(&mut response);
        tokio::task::spawn_local(tunnel::join(client, upstream, self.pool.roster().presence()));
        strip(response.headers_mut());
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(UPGRADE, protocol);
        Ok(response.map(|_| ForwardBody(Content::Own(None))))
    }

    fn log(&self, failure: &Failure) {
        let (reason, error): (_, Option<&dyn std::error::Error>) = match failure {
            Failure::Unreachable(error) => ("no upstream can be reached", Some(error)),
            Failure::ConnectTimeout => ("no upstream accepted a connection in time", None),
            Failure::Silent => ("the upstream was silent for too long", None),
            Failure::Broken(error) => ("the upstream broke off", Some(error)),
            Failure::Invalid(reason) => (*reason, None),
            // The client's own doing, and no news for an operator.
            Failure::ClientSilent | Failure::ClientBroken => return,
        };
        self.hush.say(|held| {
            tracing::warn!(target: "aforo::gateway", error, held, "no response from the upstream: {reason}");
        });
    }
}

impl Service<Request<IncomingBody>> for Forward {
    type Response = Response<ForwardBody>;
    type Error = Infallible;
    // Boxed because hyper's own future for a response has no name. It is the one allocation that we add to a request.
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<IncomingBody>) -> Self::Future {
        let forward = self.clone();
        let (request, client) = prepare(request, &self.pool);
        let site = self.pool.turn();
        let Some(lease) = self.pool.rested(site) else {
            return Box::pin(async move {
                let answer = Rc::clone(&forward.pool).send(request, site).await;
                Ok(forward.answer(answer, client))
            });
        };
        let sending = lease.send(request);
        Box::pin(async move {
            let answer = match sending.await {
                Ok(Sent::Answered(answer)) => Ok(answer),
                // Rare, so it has a box of its own and makes this one no larger.
                Ok(Sent::Returned(request)) => Box::pin(Rc::clone(&forward.pool).send(request, site)).await,
                Err(failure) => Err(failure),
            };
            Ok(forward.answer(answer, client))
        })
    }
}

/// Makes of a client's request one for the upstream. The second value is there if both sides may leave HTTP.
fn prepare(request: Request<IncomingBody>, pool: &Pool) -> (Request<UpstreamBody>, Option<OnUpgrade>) {
    let (mut parts, body) = request.into_parts();
    let body = UpstreamBody::new(body);
    if !body.is_empty() {
        // To change the protocol after a body is allowed and nobody does it; not to listen is allowed as well.
        parts.headers.remove(UPGRADE);
    }
    let leaves_http = forward_request(&mut parts.headers, parts.extensions.get::<Peer>(), || pool.host());
    if !body.is_empty() && !parts.headers.contains_key(CONTENT_LENGTH) {
        // hyper would take a GET without a length for one without a body.
        parts.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    parts.version = Version::HTTP_11;
    let client = leaves_http.then(|| parts.extensions.remove::<OnUpgrade>()).flatten();
    (Request::from_parts(parts, body), client)
}

/// Checks that a response ends where everybody thinks it does, and prepares its fields for the client.
fn prepare_response(headers: &mut HeaderMap, length: Option<u64>) -> Result<(), Failure> {
    if headers.contains_key(TRANSFER_ENCODING) {
        let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
        let is_chunked = codings.next().is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
        if !is_chunked || codings.next().is_some() {
            return Err(Failure::Invalid("its transfer coding is not a single `chunked`"));
        }
        if headers.contains_key(CONTENT_LENGTH) {
            return Err(Failure::Invalid("it has a length and a transfer coding"));
        }
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    if lengths.next().is_some_and(|first| !first.as_bytes().iter().all(u8::is_ascii_digit)) || lengths.next().is_some()
    {
        // hyper has seen that they agree. One of them is enough, and two are too many for the next reader.
        match length {
            Some(length) => headers.insert(CONTENT_LENGTH, HeaderValue::from(length)),
            None => headers.remove(CONTENT_LENGTH),
        };
    }
    strip(headers);
    Ok(())
}

/// What the client hears: what failed, and nothing of what is behind the gateway.
fn problem(failure: &Failure) -> Problem {
    match failure {
        Failure::Unreachable(_) => Problem::new(StatusCode::BAD_GATEWAY, "The upstream server cannot be reached."),
        Failure::ConnectTimeout => {
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "The upstream server did not accept a connection in time.")
        }
        Failure::Silent => Problem::new(StatusCode::GATEWAY_TIMEOUT, "The upstream server did not answer in time."),
        Failure::Broken(_) => {
            Problem::new(StatusCode::BAD_GATEWAY, "The upstream server broke off before it had answered.")
        }
        Failure::Invalid(_) => {
            Problem::new(StatusCode::BAD_GATEWAY, "The response of the upstream server cannot be passed on.")
        }
        Failure::ClientSilent => {
            Problem::last(StatusCode::REQUEST_TIMEOUT, "The body of the request took too long to arrive.")
        }
        Failure::ClientBroken => Problem::last(StatusCode::BAD_REQUEST, "The body of the request is malformed."),
    }
}

// === impl ForwardBody ===

impl ForwardBody {
    fn new(incoming: Incoming, lease: Lease, hush: &Rc<Hush>) -> Self {
        if incoming.is_end_stream() {
            lease.give_back();
            return Self(Content::Own(None));
        }
        Self(Content::Upstream { incoming, lease: Some(lease), hush: Rc::clone(hush) })
    }
}

impl Body for ForwardBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (incoming, lease, hush) = match &mut self.0 {
            Content::Own(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Upstream { incoming, lease, hush } => (incoming, lease, hush),
        };
        let polled = Pin::new(&mut *incoming).poll_frame(cx);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Some(Err(error))) => {
                if let Some(lease) = lease.take() {
                    log_cut(hush, &lease, error);
                }
            }
            // hyper does not ask again after trailers, nor when the length is reached.
            Poll::Ready(Some(Ok(frame))) if !frame.is_trailers() && !incoming.is_end_stream() => {}
            Poll::Ready(_) => {
                if let Some(lease) = lease.take() {
                    lease.give_back();
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Upstream { incoming, .. } => incoming.is_end_stream(),
            Content::Own(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Upstream { incoming, .. } => incoming.size_hint(),
            Content::Own(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}

/// The client sees a response that is cut off, so an operator should see why.
fn log_cut(hush: &Hush, lease: &Lease, error: &hyper::Error) {
    let upstream = lease.upstream().map(tracing::field::display);
    let silent = lease.is_silent();
    hush.say(|held| {
        tracing::warn!(target: "aforo::gateway", upstream, silent, %error, held, "a response was cut off");
    });
}
