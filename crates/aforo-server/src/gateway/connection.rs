//! One connection from a client, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tower_service::Service;

use super::alarm::{Call, Listener};
use super::bind::Tls;
use super::hush::Hush;
use super::incoming::IncomingBody;
use super::leftovers::Leftovers;
use super::peer::{Peer, Scheme};
use super::proxy_header::{self, NoHeader};
use super::receive::Receive;
use super::sweep::Roster;
use super::wire::{Stream, Wire};

/// The most that is kept of a request's header, and of what is on its way in each direction.
const BUFFER: usize = 64 * 1024;
/// As `BUFFER`, for the sum of an HTTP/2 header's names and values.
const HEADER_LIST: u32 = 64 * 1024;
/// Requests at a time on one HTTP/2 connection.
const STREAMS: u32 = 256;

/// Makes HTTP of new connections.
pub(super) struct Greeter {
    http: auto::Builder<Local>,
    proxy_protocol: bool,
    tls: Option<Tls>,
    roster: Rc<Roster>,
    hush: Hush,
}

/// Runs the streams of HTTP/2 on this worker's thread.
#[derive(Clone, Copy)]
struct Local;

impl<F> Executor<F> for Local
where
    F: Future<Output = ()> + 'static,
{
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

impl Greeter {
    pub(super) fn new(proxy_protocol: bool, tls: Option<Tls>, roster: Rc<Roster>) -> Self {
        let mut http = auto::Builder::new(Local);
        // The sweep watches over the header; hyper's own timer would be one a request.
        http.http1().max_buf_size(BUFFER).header_read_timeout(None);
        http.http2()
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_LIST)
            // For each stream: a client that opens many and reads none fills this often.
            .max_send_buf_size(BUFFER);
        let hush = Hush::new(Arc::clone(roster.clock()));
        Self { http, proxy_protocol, tls, roster, hush }
    }

    /// Serves one connection until it ends.
    pub(super) async fn greet<S, B>(self: Rc<Self>, mut stream: TcpStream, address: SocketAddr, service: S)
    where
        S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: Body<Data = Bytes> + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let _presence = self.roster.presence();
        // Without it small responses wait for the client's acknowledgement. A failure means that the client is gone,
        // which the first read will find.
        let _ = stream.set_nodelay(true);
        let Some(address) = self.name(&mut stream, address).await else { return };
        let Some((stream, scheme)) = self.secure(stream).await else { return };
        let pulse = self.roster.enter_client();
        let leftovers = Leftovers::default();
        let silence = self.roster.timeouts().body;
        let receive = Receive::new(service, pulse.clone(), Peer::new(address, scheme), silence, leftovers.clone());
        let wire = TokioIo::new(Wire::new(stream, pulse.clone()));
        let mut connection = pin!(self.http.serve_connection_with_upgrades(wire, receive));
        let mut listener = Listener::new();
        let mut draining = false;
        let ended = std::future::poll_fn(|cx| {
            let call = listener.listen(pulse.alarm(), cx);
            match call {
                Call::Close => return Poll::Ready(Ok(())),
                Call::Drain if !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                _ => {}
            }
            let polled = connection.as_mut().poll(cx);
            leftovers.drain(cx);
            match polled {
                // The wire has told the client by now, if it could be told.
                Poll::Pending if call == Call::Late => Poll::Ready(Ok(())),
                polled => polled,
            }
        })
        .await;
        if let Err(error) = ended {
            tracing::debug!(target: "aforo::gateway", peer = %address, error, "a client's connection broke");
        }
    }

    /// The client's address: what the proxy before us says, if there is one, else that of the connection.
    async fn name(&self, stream: &mut TcpStream, address: SocketAddr) -> Option<SocketAddr> {
        if !self.proxy_protocol {
            return Some(address);
        }
        let error = match tokio::time::timeout(self.roster.timeouts().header, proxy_header::take(stream)).await {
            Ok(Ok(source)) => return Some(source.unwrap_or(address)),
            Ok(Err(NoHeader::Ended { empty: true })) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its header of the PROXY protocol took too long".to_owned(),
        };
        self.hush.say(|held| {
            tracing::warn!(
                target: "aforo::gateway", peer = %address, held,
                "a connection is closed: {error}; with `gateway.proxy_protocol`, all must come from proxies that send one"
            );
        });
        None
    }

    /// Shakes hands if there is a certificate. A client that fails to is not worth more than a line.
    async fn secure(&self, stream: TcpStream) -> Option<(Stream, Scheme)> {
        let Some(Tls(acceptor)) = &self.tls else { return Some((Stream::Plain(stream), Scheme::Http)) };
        let handshake = tokio::time::timeout(self.roster.timeouts().header, acceptor.accept(stream));
        match handshake.await {
            Ok(Ok(stream)) => Some((Stream::Tls(Box::new(stream)), Scheme::Https)),
            Ok(Err(error)) => {
                tracing::debug!(target: "aforo::gateway", %error, "a client failed the TLS handshake");
                None
            }
            Err(_) => {
                tracing::debug!(target: "aforo::gateway", "a client did not finish the TLS handshake");
                None
            }
        }
    }
}
