//! The upstreams of one worker, and the connections to them that rest between two requests.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::clock::StampCell;
use super::failure::Failure;
use super::hush::Hush;
use super::lease::{Answer, Connection, Lease, Sent};
use super::settings::Upstream;
use super::sweep::Roster;
use super::upstream::{self, UpstreamBody};

/// Resting connections to one upstream. More than that would outlive the burst that opened them for nothing.
const RESTING: usize = 256;
/// How long an upstream that refused a connection is asked last.
const AVOIDED: Duration = Duration::from_secs(1);

/// All upstreams of one worker.
pub(super) struct Pool {
    sites: Vec<Site>,
    turn: Cell<usize>,
    roster: Rc<Roster>,
    hush: Hush,
}

struct Site {
    upstream: Upstream,
    /// The one used last is used next: the others can grow old and be closed.
    // In boxes that live as long as the connections do.
    #[expect(clippy::vec_box)]
    resting: RefCell<Vec<Box<Connection>>>,
    refused: StampCell,
}

// === impl Pool ===

impl Pool {
    pub(super) fn new(upstreams: Vec<Upstream>, roster: Rc<Roster>) -> Rc<Self> {
        let sites = upstreams
            .into_iter()
            .map(|upstream| Site { upstream, resting: RefCell::default(), refused: StampCell::unset() })
            .collect();
        let hush = Hush::new(Arc::clone(roster.clock()));
        Rc::new(Self { sites, turn: Cell::new(0), roster, hush })
    }

    pub(super) fn roster(&self) -> &Rc<Roster> {
        &self.roster
    }

    /// What goes wrong with upstreams is told through this.
    pub(super) fn hush(&self) -> &Hush {
        &self.hush
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
                    Sent::Returned(back) => request = *back,
                }
            }
            match self.connect(site).await {
                Ok(lease) => match lease.send(request).await? {
                    Sent::Answered(answer) => return Ok(answer),
                    Sent::Returned(back) => request = *back,
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
                return Some(Lease::new(connection, self));
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
        Ok(Lease::new(Box::new(Connection { sender, pulse, site: number, is_used: false }), self))
    }

    /// Keeps a connection for the next request.
    pub(super) fn rest(&self, connection: Box<Connection>) {
        let Some(site) = self.sites.get(connection.site) else { return };
        let mut resting = site.resting.borrow_mut();
        if resting.len() < RESTING {
            connection.pulse.rest();
            resting.push(connection);
        }
    }

    pub(super) fn upstream(&self, site: usize) -> Option<&Upstream> {
        self.sites.get(site).map(|site| &site.upstream)
    }
}
