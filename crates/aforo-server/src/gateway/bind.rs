//! The listening socket, bound before anything is served.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use tokio_rustls::TlsAcceptor;

use super::peer::Scheme;
use super::settings::Settings;
use super::tls::{self, TlsError};

/// Connections that the kernel keeps for us until they are accepted.
const BACKLOG: i32 = 4096;

/// A gateway that holds its port, and serves nobody yet.
#[derive(Debug)]
pub struct Listening {
    pub(super) settings: Settings,
    pub(super) socket: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) tls: Option<Tls>,
}

/// An acceptor; its type has no `Debug`.
#[derive(Clone)]
pub(super) struct Tls(pub(super) TlsAcceptor);

/// Why a gateway cannot listen.
#[derive(Debug)]
pub enum BindError {
    /// The address cannot be listened on.
    Address {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The certificate cannot be used.
    Tls(TlsError),
}

/// Takes the port and reads the certificate. Nothing is accepted until [`Listening::serve`].
///
/// # Errors
///
/// When the address is taken, not ours or not allowed, or when a TLS file cannot be used.
pub fn bind(settings: &Settings) -> Result<Listening, BindError> {
    let tls = settings.tls.as_ref().map(|files| tls::acceptor(files).map(Tls)).transpose().map_err(BindError::Tls)?;
    let address = settings.listen;
    let (socket, address) = listen(address).map_err(|source| BindError::Address { address, source })?;
    Ok(Listening { settings: settings.clone(), socket, address, tls })
}

fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restart need not wait for old connections; a port that somebody listens on is an error all the same.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    // What is accepted inherits this: it finds out peers that vanished, which a silent tunnel would not notice.
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(60)))?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let socket = TcpListener::from(socket);
    let address = socket.local_addr()?;
    Ok((socket, address))
}

impl Listening {
    /// The address that is listened on, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How clients reach it.
    pub fn scheme(&self) -> Scheme {
        if self.tls.is_some() { Scheme::Https } else { Scheme::Http }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(error) => error.fmt(f),
            Self::Address { address, source } => {
                write!(f, "cannot listen on {address}: ")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => {
                        f.write_str("the port is taken, stop the program that holds it or choose another by `gateway.listen` or --listen")
                    }
                    io::ErrorKind::PermissionDenied => {
                        f.write_str("not permitted, ports below 1024 need a privilege, choose a higher one")
                    }
                    io::ErrorKind::AddrNotAvailable => {
                        f.write_str("this machine does not have that address, choose one of its own or 0.0.0.0")
                    }
                    _ => source.fmt(f),
                }
            }
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Tls(error) => Some(error),
            Self::Address { source, .. } => Some(source),
        }
    }
}
