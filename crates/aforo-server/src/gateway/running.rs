//! A gateway at work, from the first worker to the last.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tokio::sync::watch;
use tower_service::Service;

use super::bind::Listening;
use super::forward::Forward;
use super::incoming::IncomingBody;
use super::worker::Worker;

/// A gateway that serves. Dropping it is a [`stop`](Running::stop) that nobody waits for.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    workers: Vec<JoinHandle<()>>,
}

impl Listening {
    /// Starts the workers. Each calls `layers` once, on its own thread, to put what it likes around its [`Forward`].
    ///
    /// # Errors
    ///
    /// When the system has no thread, no event queue or no file descriptor for a worker.
    pub fn serve<L, S, B>(self, layers: L) -> io::Result<Running>
    where
        L: Fn(Forward) -> S + Clone + Send + 'static,
        S: Service<Request<IncomingBody>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: Body<Data = Bytes> + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (stop, stopped) = watch::channel(false);
        let mut running = Running { address: self.address, stop, workers: Vec::new() };
        for number in 0..self.settings.workers.get() {
            let worker = Worker {
                settings: self.settings.clone(),
                socket: self.socket.try_clone()?,
                tls: self.tls.clone(),
                stopped: stopped.clone(),
            };
            let layers = layers.clone();
            let (report, started) = mpsc::sync_channel(1);
            // If this returns early the sender is gone, and the workers that have started stop by themselves.
            let thread = Builder::new().name(format!("gateway-{number}")).spawn(move || worker.run(layers, &report))?;
            running.workers.push(thread);
            started.recv().map_err(|_| io::Error::other("a worker of the gateway ended before it began"))??;
        }
        Ok(running)
    }
}

impl Running {
    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins the end: nothing more is accepted, what is in flight may finish. Returns at once.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until every worker has ended. Call [`stop`](Self::stop) first, or have another thread do so.
    pub fn join(self) {
        for worker in self.workers {
            if worker.join().is_err() {
                tracing::error!(target: "aforo::gateway", "a worker of the gateway ended in a panic");
            }
        }
    }
}
