//! How a proxy meets new connections.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::JoinHandle;

use socket2::{Domain, Socket, Type};

use super::{Inside, PATIENCE};

/// The port of a proxy.
#[derive(Debug)]
pub(super) enum Door {
    Open(#[expect(dead_code, reason = "dropping it closes the door")] Acceptor),
    /// The kernel refuses.
    Closed,
    /// Its queue is full, so that the kernel leaves further connections without an answer.
    Ignoring {
        _listener: Socket,
        _queued: TcpStream,
    },
}

/// A thread that accepts connections until it is dropped.
#[derive(Debug)]
pub(super) struct Acceptor {
    address: SocketAddr,
    /// The port of the connection that is the last to be accepted; 0 as long as none is.
    last: Arc<AtomicU16>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    pub(super) fn open(port: u16, inside: &Arc<Inside>) -> io::Result<Door> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let last = Arc::new(AtomicU16::new(0));
        let (inside, ending) = (inside.clone(), last.clone());
        let thread = std::thread::spawn(move || {
            while let Ok((client, from)) = listener.accept() {
                if from.port() == ending.load(Ordering::SeqCst) {
                    return;
                }
                inside.accept(client);
            }
        });
        Ok(Door::Open(Acceptor { address, last, thread: Some(thread) }))
    }

    pub(super) fn ignoring(port: u16) -> io::Result<Door> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.set_reuse_address(true)?;
        listener.bind(&address.into())?;
        // Linux queues one more than this.
        listener.listen(0)?;
        let queued = TcpStream::connect(address)?;
        Ok(Door::Ignoring { _listener: listener, _queued: queued })
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Door::Open(_))
    }
}

impl Acceptor {
    /// Sends the thread a connection of our own. What clients have connected before it is accepted before it.
    fn end(&self) -> io::Result<()> {
        let own = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        own.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        let port = own.local_addr()?.as_socket().map_or(0, |address| address.port());
        self.last.store(port, Ordering::SeqCst);
        own.connect_timeout(&self.address.into(), PATIENCE)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        let ended = self.end();
        if let (Ok(()), Some(thread)) = (ended, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
