//! The upstreams of one worker, and the connections to them that rest between two requests.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::clock::StampCell;
use super::settings::Upstream;
use super::sweep::Roster;
use super::upstream::{self, Fault, UpstreamBody, UpstreamPulse};

/// Resting connections to one upstream. More than that would outlive the burst that opened them for nothing.
const RESTING: usize = 256;
/// How long an upstream that refused a connection is asked last.
const AVOIDED: Duration = Duration::from_secs(1);

/// All upstreams of one worker.
pub(super) struct Pool {
    sites: Vec<Site>,
    turn: Cell<usize>,
    roster: Rc<Roster>,
}

struct Site {
    upstream: Upstream,
    /// The one used last is used next: the others can grow old and be closed.
    resting: RefCell<Vec<Connection>>,
    refused: StampCell,
}

struct Connection {
    sender: SendRequest<UpstreamBody>,
    pulse: Arc<UpstreamPulse>,
}

/// A connection in use. Dropped before it is given back, it is closed.
pub(super) struct Lease {
    connection: Connection,
    pool: Rc<Pool>,
    site: usize,
    rested: bool,
}

/// A response that has begun, and the connection that the rest of it comes over.
pub(super) type Answer = (Response<Incoming>, Lease);

/// What became of a request that was sent.
pub(super) enum Sent {
    /// The response has begun.
    Answered(Answer),
    /// The upstream did not take it, or it may be sent again: here it is.
    Returned(Request<UpstreamBody>),
}

/// Why there is no response from an upstream.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no connection to any.
    Unreachable(io::Error),
    /// The upstream did not accept a connection in time.
    ConnectTimeout,
    /// It was silent for too long.
    Silent,
    /// It broke off, or what it said is not HTTP.
    Broken(hyper::Error),
    /// What it said cannot be passed on safely.
    Invalid(&'static str),
    /// The client stopped sending its request.
    ClientSilent,
    /// The client's request broke off or made no sense.
    ClientBroken,
}

// === impl Pool ===

impl Pool {
    pub(super) fn new(upstreams: Vec<Upstream>, roster: Rc<Roster>) -> Rc<Self> {
        let sites = upstreams
            .into_iter()
            .map(|upstream| Site { upstream, resting: RefCell::default(), refused: StampCell::unset() })
            .collect();
        Rc::new(Self { sites, turn: Cell::new(0), roster })
    }

    pub(super) fn roster(&self) -> &Rc<Roster> {
        &self.roster
    }

    /// What to call the upstream when the client did not name a host.
    pub(super) fn host(&self) -> HeaderValue {
        self.sites.first().map_or(HeaderValue::from_static(""), |site| site.upstream.authority().clone())
    }

    /// The upstream whose turn it is.
    pub(super) fn turn(&self) -> usize {
        let turn = self.turn.get();
        self.turn.set(if turn + 1 < self.sites.len() { turn + 1 } else { 0 });
        turn
    }

    /// All upstreams, from `first` on; those that refused a moment ago come last.
    fn in_turn(&self, first: usize) -> Vec<usize> {
        let mut turn: Vec<usize> = (first..self.sites.len()).chain(0..first).collect();
        turn.sort_by_key(|site| self.is_avoided(*site));
        turn
    }

    /// Sends a request to the first upstream that takes it, beginning with `first`: over connections that rest, as long
    /// as there are any, and then over a new one.
    pub(super) async fn send(
        self: Rc<Self>,
        mut request: Request<UpstreamBody>,
        first: usize,
    ) -> Result<Answer, Failure> {
        let mut failure = Failure::Unreachable(io::ErrorKind::NotFound.into());
        for site in self.in_turn(first) {
            while let Some(lease) = self.rested(site) {
                match lease.send(request).await? {
                    Sent::Answered(answer) => return Ok(answer),
                    Sent::Returned(back) => request = back,
                }
            }
            match self.connect(site).await {
                Ok(lease) => match lease.send(request).await? {
                    Sent::Answered(answer) => return Ok(answer),
                    Sent::Returned(back) => request = back,
                },
                Err(refused) => failure = refused,
            }
        }
        Err(failure)
    }

    fn is_avoided(&self, site: usize) -> bool {
        let refused = self.sites.get(site).and_then(|site| site.refused.get());
        refused.is_some_and(|at| !at.is_past(AVOIDED, self.roster.clock().now()))
    }

    /// A connection that rests, if there is one that still lives.
    pub(super) fn rested(self: &Rc<Self>, site: usize) -> Option<Lease> {
        let mut resting = self.sites.get(site)?.resting.borrow_mut();
        while let Some(connection) = resting.pop() {
            if connection.sender.is_ready() {
                return Some(Lease { connection, pool: Rc::clone(self), site, rested: true });
            }
        }
        None
    }

    /// A new connection.
    async fn connect(self: &Rc<Self>, number: usize) -> Result<Lease, Failure> {
        let site = self.sites.get(number).ok_or_else(|| Failure::Unreachable(io::ErrorKind::NotFound.into()))?;
        let address = (site.upstream.host(), site.upstream.port());
        let stream = match timeout(self.roster.timeouts().connect, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => stream,
            failed => {
                site.refused.set(self.roster.clock().now());
                tracing::debug!(target: "aforo::gateway", upstream = %site.upstream, "no connection");
                return Err(match failed {
                    Ok(Err(error)) => Failure::Unreachable(error),
                    _ => Failure::ConnectTimeout,
                });
            }
        };
        site.refused.clear();
        // A connection that is broken already is found out by the request.
        let _ = stream.set_nodelay(true);
        let pulse = self.roster.enter_upstream();
        let sender = upstream::open(stream, &pulse).await.map_err(Failure::Broken)?;
        Ok(Lease { connection: Connection { sender, pulse }, pool: Rc::clone(self), site: number, rested: false })
    }
}

// === impl Lease ===

impl Lease {
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
        let untaken = error.take_message().or(copy.map(|copy| *copy));
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
        let Self { connection, pool, site, .. } = self;
        if let Some(site) = pool.sites.get(site)
            && connection.sender.is_ready()
        {
            let mut resting = site.resting.borrow_mut();
            if resting.len() < RESTING {
                connection.pulse.rest();
                resting.push(connection);
            }
        }
    }

    /// The connection leaves HTTP.
    pub(super) fn become_tunnel(&self) {
        self.connection.pulse.become_tunnel();
    }

    /// The upstream at the other end.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        self.pool.sites.get(self.site).map(|site| &site.upstream)
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
