//! A worker: one thread with its own event loop, connections and upstream pool.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, LocalRuntime};
use tokio::sync::watch;
use tower_service::Service;

use super::bind::Tls;
use super::connection::Greeter;
use super::forward::Forward;
use super::hush::Hush;
use super::incoming::IncomingBody;
use super::settings::Settings;
use super::sweep::Roster;

/// How long accepting rests when the system has run out of something, most likely of file descriptors.
const REST: Duration = Duration::from_millis(50);

/// What a worker takes along to its thread.
pub(super) struct Worker {
    pub(super) settings: Settings,
    pub(super) socket: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) stopped: watch::Receiver<bool>,
}

impl Worker {
    /// Serves until it is stopped and everything is drained or cut. Reports once whether it could begin.
    pub(super) fn run<L, S, B>(self, layers: L, report: &SyncSender<io::Result<()>>)
    where
        L: Fn(Forward) -> S,
        S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: Body<Data = Bytes> + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (runtime, socket) = match begin(self.socket) {
            Ok(begun) => begun,
            Err(error) => {
                let _ = report.send(Err(error));
                return;
            }
        };
        let _ = report.send(Ok(()));
        let Settings { upstreams, proxy_protocol, timeouts, drain, .. } = self.settings;
        let mut stopped = self.stopped;
        runtime.block_on(async move {
            let roster = Roster::new(timeouts);
            tokio::task::spawn_local(Rc::clone(&roster).sweep());
            let service = layers(Forward::new(upstreams, &roster));
            let greeter = Rc::new(Greeter::new(proxy_protocol, self.tls, Rc::clone(&roster)));
            let hush = Hush::new(roster.clock().clone());
            tokio::select! {
                () = accept(&socket, &hush, |stream, address| {
                    tokio::task::spawn_local(Rc::clone(&greeter).greet(stream, address, service.clone()));
                }) => {}
                // A sender that is gone stops us just the same.
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
            drop(socket);
            if tokio::time::timeout(drain, roster.drain()).await.is_err() {
                tracing::warn!(target: "aforo::gateway", "connections are cut that did not end within the drain time");
            }
        });
    }
}

fn begin(socket: TcpListener) -> io::Result<(LocalRuntime, tokio::net::TcpListener)> {
    let runtime = Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let _context = runtime.enter();
    let socket = tokio::net::TcpListener::from_std(socket)?;
    drop(_context);
    Ok((runtime, socket))
}

/// Accepts for ever. No error ends it: what went wrong with one connection is not the fault of the next.
async fn accept(socket: &tokio::net::TcpListener, hush: &Hush, greet: impl Fn(TcpStream, SocketAddr)) {
    loop {
        match socket.accept().await {
            Ok((stream, address)) => {
                greet(stream, address);
                // One at a time, so that a burst of connections spreads over the workers.
                tokio::task::yield_now().await;
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                hush.say(|held| {
                    tracing::error!(target: "aforo::gateway", %error, held, "cannot accept connections");
                });
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// The client was gone before it was accepted.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
