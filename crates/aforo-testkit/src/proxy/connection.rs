//! A client and a server, and the way between them.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::lock;

/// How often a write that waits looks whether it still should.
const WRITE_TIMEOUT: Duration = Duration::from_millis(100);

/// Both ends of a connection through the proxy.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: TcpStream,
    pub(super) server: TcpStream,
    cut: Mutex<bool>,
    cutting: Condvar,
}

impl Connection {
    pub(super) fn between(client: TcpStream, server: TcpStream) -> io::Result<Connection> {
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_write_timeout(Some(WRITE_TIMEOUT))?;
        }
        Ok(Connection { client, server, cut: Mutex::new(false), cutting: Condvar::new() })
    }

    /// Resets both ends, as soon as both directions have let go of them.
    pub(super) fn cut(&self) {
        *lock(&self.cut) = true;
        self.cutting.notify_all();
        for end in [&self.client, &self.server] {
            let _ = SockRef::from(end).set_linger(Some(Duration::ZERO));
            // Wakes who reads, and tells the other side nothing.
            let _ = end.shutdown(Shutdown::Read);
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        *lock(&self.cut)
    }

    /// Waits until then, or until the connection is cut.
    pub(super) fn wait_until(&self, then: Instant) {
        let left = then.saturating_duration_since(Instant::now());
        let waited = self.cutting.wait_timeout_while(lock(&self.cut), left, |cut| !*cut);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Writes all of it to one of the ends, unless the connection is cut. An end that takes no more cuts it.
    pub(super) fn write(&self, mut to: &TcpStream, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_cut() {
            match to.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.cut(),
            }
        }
    }
}
