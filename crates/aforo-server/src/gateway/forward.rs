//! The service at the end of the line: a request goes to an upstream, and its response comes back.

mod body;

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use tower_service::Service;

use super::failure::Failure;
use super::headers::{Hops, forward_request, upgrade_of};
use super::incoming::IncomingBody;
use super::lease::{Answer, Sending, Sent};
use super::peer::Peer;
use super::pool::Pool;
use super::settings::Upstream;
use super::sweep::Roster;
use super::tunnel;
use super::upstream::UpstreamBody;

pub use self::body::ForwardBody;

/// Forwards requests to the upstreams. Clones share the worker's connections.
#[derive(Clone)]
pub struct Forward {
    pool: Rc<Pool>,
}

/// A request on its way to an upstream, until its response begins.
pub struct Forwarding {
    forward: Forward,
    stage: Stage,
    /// Where to begin if it has to be sent again.
    site: usize,
    /// The client's connection, if it may leave HTTP.
    client: Option<OnUpgrade>,
}

enum Stage {
    /// Over a connection that rested, which is the rule. A future with a name is moved less often than one without.
    Sending(Sending),
    /// From upstream to upstream.
    Seeking(Pin<Box<dyn Future<Output = Result<Answer, Failure>>>>),
}

// === impl Forward ===

impl Forward {
    pub(super) fn new(upstreams: Vec<Upstream>, roster: &Rc<Roster>) -> Self {
        Self { pool: Pool::new(upstreams, Rc::clone(roster)) }
    }

    /// Sends a request to the first upstream that takes it.
    fn seek(&self, request: Request<UpstreamBody>, first: usize) -> Stage {
        Stage::Seeking(Box::pin(Rc::clone(&self.pool).send(request, first)))
    }

    /// The response, or a problem in its place.
    fn answer(&self, answer: Result<Answer, Failure>, client: Option<OnUpgrade>) -> Response<ForwardBody> {
        match answer.and_then(|answer| self.respond(answer, client)) {
            Ok(response) => response,
            Err(failure) => {
                self.log(&failure);
                failure.problem().respond().map(ForwardBody::own)
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
            return self.switch(response, client);
        }
        let length = response.body().size_hint().exact();
        prepare_response(response.headers_mut(), length)?;
        // The version belongs to the connection: hyper speaks to the client as the client does.
        *response.version_mut() = Version::HTTP_11;
        Ok(response.map(|incoming| ForwardBody::new(incoming, lease)))
    }

    /// Answers `101` and joins both connections once they have left HTTP.
    fn switch(&self, mut response: Response<Incoming>, client: OnUpgrade) -> Result<Response<ForwardBody>, Failure> {
        let protocol = upgrade_of(response.headers()).ok_or(Failure::Invalid("it does not say to which protocol"))?;
        let upstream = hyper::upgrade::on(&mut response);
        tokio::task::spawn_local(tunnel::join(client, upstream, self.pool.roster().presence()));
        Hops::of(response.headers()).strip(response.headers_mut());
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(UPGRADE, protocol);
        Ok(response.map(|_| ForwardBody::empty()))
    }

    fn log(&self, failure: &Failure) {
        let Some((reason, error)) = failure.reason() else { return };
        self.pool.hush().say(|held| {
            tracing::warn!(target: "aforo::gateway", error, held, "no response from the upstream: {reason}");
        });
    }
}

impl Service<Request<IncomingBody>> for Forward {
    type Response = Response<ForwardBody>;
    type Error = Infallible;
    type Future = Forwarding;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<IncomingBody>) -> Forwarding {
        let (request, client) = prepare(request, &self.pool);
        let site = self.pool.turn();
        let stage = match self.pool.rested(site) {
            Some(lease) => Stage::Sending(lease.send(request)),
            None => self.seek(request, site),
        };
        Forwarding { forward: self.clone(), stage, site, client }
    }
}

// === impl Forwarding ===

impl Future for Forwarding {
    type Output = Result<Response<ForwardBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Stage::Sending(sending) = &mut this.stage {
            match ready!(Pin::new(sending).poll(cx)) {
                Ok(Sent::Returned(request)) => this.stage = this.forward.seek(*request, this.site),
                Ok(Sent::Answered(answer)) => {
                    return Poll::Ready(Ok(this.forward.answer(Ok(answer), this.client.take())));
                }
                Err(failure) => return Poll::Ready(Ok(this.forward.answer(Err(failure), None))),
            }
        }
        match &mut this.stage {
            Stage::Seeking(seeking) => {
                let answer = ready!(seeking.as_mut().poll(cx));
                Poll::Ready(Ok(this.forward.answer(answer, this.client.take())))
            }
            Stage::Sending(_) => Poll::Pending,
        }
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
    let hops = Hops::of(headers);
    if hops.has(&TRANSFER_ENCODING) {
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
    let is_list = lengths.next().is_some_and(|first| !first.as_bytes().iter().all(u8::is_ascii_digit));
    if is_list || lengths.next().is_some() {
        // hyper has seen that they agree. One of them is enough, and two are too many for the next reader.
        match length {
            Some(length) => headers.insert(CONTENT_LENGTH, HeaderValue::from(length)),
            None => headers.remove(CONTENT_LENGTH),
        };
    }
    hops.strip(headers);
    Ok(())
}
