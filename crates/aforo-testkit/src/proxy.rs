//! A bad network between a client and a server.

mod connection;
mod door;
mod flow;
mod frames;
mod link;
mod random;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::SockRef;

use self::connection::Connection;
use self::door::Door;
use self::flow::Flow;
use self::link::Link;
pub use self::link::{Fault, Traffic};
use self::random::Random;
use crate::servers::free_port;

/// How long a server on the loopback may take to accept.
const PATIENCE: Duration = Duration::from_secs(1);

/// A TCP proxy before a server on the loopback, whose faults a test switches while connections are open.
///
/// At first it passes everything on. Requests are what clients send, replies what the server sends; a packet is what
/// comes at once. Dropping the proxy ends its connections and its threads.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    door: Mutex<Door>,
    inside: Arc<Inside>,
}

/// Both directions, and the connections through them.
#[derive(Debug)]
struct Inside {
    server: SocketAddr,
    seed: u64,
    requests: Arc<Link>,
    replies: Arc<Link>,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    made: u64,
    /// Those with a thread that may still run; such a thread holds the connection.
    open: Vec<(Weak<Connection>, [JoinHandle<()>; 2])>,
}

impl Proxy {
    /// A proxy before the server at that port.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn before(server: u16) -> Proxy {
        Proxy::seeded(server, 0)
    }

    /// A proxy whose packets are late in another order: which ones are depends on the seed, the number of the
    /// connection and the number of the packet, and on nothing else.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn seeded(server: u16, seed: u64) -> Proxy {
        let inside = Arc::new(Inside {
            server: (Ipv4Addr::LOCALHOST, server).into(),
            seed,
            requests: Arc::default(),
            replies: Arc::default(),
            connections: Mutex::default(),
        });
        let (port, door) = std::iter::repeat_with(free_port)
            .take(5)
            .find_map(|port| Some((port, Door::open(port, &inside).ok()?)))
            .expect("a port that was free a moment ago still is");
        Proxy { port, door: Mutex::new(door), inside }
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where clients connect, as a URL without a password.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// What happens to requests from now on.
    pub fn requests(&self, fault: Fault) {
        self.inside.requests.set(fault);
    }

    /// What happens to replies from now on.
    pub fn replies(&self, fault: Fault) {
        self.inside.replies.set(fault);
    }

    /// No more faults: everything is passed on, and connections are accepted. A connection that has lost something
    /// stays as it is.
    ///
    /// # Panics
    ///
    /// If another program has taken the port while the proxy refused.
    pub fn pass(&self) {
        self.requests(Fault::Pass);
        self.replies(Fault::Pass);
        let mut door = lock(&self.door);
        if !door.is_open() {
            // The old one first: both have the same port.
            *door = Door::Closed;
            *door = Door::open(self.port, &self.inside).expect("the port is still ours");
        }
    }

    /// New connections are refused; open ones stay.
    pub fn refuse(&self) {
        *lock(&self.door) = Door::Closed;
    }

    /// New connections are neither accepted nor refused: the client waits. Open ones stay.
    ///
    /// # Panics
    ///
    /// If another program has taken the port while the proxy refused.
    pub fn ignore(&self) {
        let mut door = lock(&self.door);
        *door = Door::Closed;
        *door = Door::ignoring(self.port).expect("the port is still ours");
    }

    /// Whatever is sent vanishes, and new connections are neither accepted nor refused.
    ///
    /// # Panics
    ///
    /// As [`ignore`](Proxy::ignore).
    pub fn black_hole(&self) {
        self.requests(Fault::Lose);
        self.replies(Fault::Lose);
        self.ignore();
    }

    /// Resets every open connection, on both sides. Afterwards none of them is left.
    pub fn reset(&self) {
        self.inside.reset();
    }

    /// How many connections were passed on to the server so far.
    pub fn connections(&self) -> u64 {
        lock(&self.inside.connections).made
    }

    /// How many connections are open now.
    pub fn open(&self) -> usize {
        lock(&self.inside.connections).open.iter().filter(|(connection, _)| connection.strong_count() > 0).count()
    }

    /// The requests that came so far, whatever became of them.
    pub fn requested(&self) -> Traffic {
        self.inside.requests.traffic()
    }

    /// The replies that came so far, whatever became of them.
    pub fn replied(&self) -> Traffic {
        self.inside.replies.traffic()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.refuse();
        self.reset();
    }
}

impl Inside {
    /// Takes over a connection of a client.
    fn accept(&self, client: TcpStream) {
        let Ok(server) = TcpStream::connect_timeout(&self.server, PATIENCE) else {
            // It is too late to refuse.
            let _ = SockRef::from(&client).set_linger(Some(Duration::ZERO));
            return;
        };
        let Ok(connection) = Connection::between(client, server).map(Arc::new) else { return };
        let mut connections = lock(&self.connections);
        connections.made += 1;
        let random = Random::new(self.seed, connections.made);
        let [requests, replies] = Flow::both(&connection, &self.requests, &self.replies, random);
        let flows = [requests, replies].map(|flow| std::thread::spawn(|| flow.run()));
        connections.open.retain(|(connection, _)| connection.strong_count() > 0);
        connections.open.push((Arc::downgrade(&connection), flows));
    }

    fn reset(&self) {
        let open = std::mem::take(&mut lock(&self.connections).open);
        for connection in open.iter().filter_map(|(connection, _)| connection.upgrade()) {
            connection.cut();
        }
        for flow in open.into_iter().flat_map(|(_, flows)| flows) {
            let _ = flow.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
