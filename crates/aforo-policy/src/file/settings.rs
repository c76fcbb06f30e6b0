//! What a file says to a server: where it listens, and where counters are kept.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU8;
use std::path::PathBuf;
use std::time::Duration;

use super::store_url::StoreUrl;
use crate::Invalid;

/// The proxy in front of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gateway {
    /// The address that clients connect to.
    pub listen: SocketAddr,
    /// The origins behind it, as URLs, used in turn. There is at least one.
    pub upstream: Vec<String>,
    /// Threads that serve clients; one a core if `None`.
    pub workers: Option<usize>,
    /// The certificate that clients are shown.
    pub tls: Option<Tls>,
    /// How long the gateway waits.
    pub timeouts: Timeouts,
    /// Whether every connection begins with a header of the PROXY protocol, which says whose it is.
    pub proxy_protocol: bool,
    /// How long requests in flight may take to end when the gateway stops.
    pub drain: Duration,
}

/// A certificate, in files as they are named in the policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain, in PEM.
    pub cert: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// How long the gateway waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a request's head to its end; on a new connection, from its start.
    pub header: Duration,
    /// The longest silence within a body.
    pub body: Duration,
    /// Until the upstream accepts a connection.
    pub connect: Duration,
    /// The longest silence of the upstream.
    pub upstream: Duration,
    /// A connection without a request.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            header: Duration::from_secs(10),
            body: Duration::from_secs(60),
            connect: Duration::from_secs(2),
            upstream: Duration::from_secs(60),
            idle: Duration::from_secs(75),
        }
    }
}

impl Gateway {
    /// A gateway to these origins, all else as the defaults are.
    pub fn to(upstream: impl IntoIterator<Item = String>) -> Gateway {
        Gateway {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            upstream: upstream.into_iter().collect(),
            workers: None,
            tls: None,
            timeouts: Timeouts::default(),
            proxy_protocol: false,
            drain: Duration::from_secs(30),
        }
    }
}

/// The listener for people and monitoring.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admin {
    /// Its address.
    pub listen: SocketAddr,
    /// Whether the file says the address. If not, and the port is taken, a free one will do.
    pub listen_is_given: bool,
    /// What callers must show.
    pub token: Option<Token>,
}

impl Default for Admin {
    fn default() -> Admin {
        Admin { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9090)), listen_is_given: false, token: None }
    }
}

/// A secret that callers show. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub(super) String);

impl Token {
    /// The secret, to compare with.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where counters are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreSettings {
    /// In this process.
    Memory {
        /// The most counters that are kept.
        max_keys: usize,
    },
    /// In Redis, or in what speaks its language, for many processes.
    Redis {
        /// Where it is.
        url: StoreUrl,
        /// How long a request may wait for it.
        timeout: Duration,
        /// What every key begins with.
        prefix: String,
        /// Connections to each server.
        connections: NonZeroU8,
        /// The most counters that are kept in this process while the store does not answer.
        max_keys: usize,
    },
}

/// Why no counters can be kept as a file says. Nothing secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidStore {
    /// The key of `store` that is at fault.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for InvalidStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl std::error::Error for InvalidStore {}

/// How many counters are kept in memory unless the file says otherwise.
const MAX_KEYS: usize = 1_000_000;
/// How many connections there are to each server unless the file says otherwise: so that one can break.
const CONNECTIONS: NonZeroU8 = NonZeroU8::MIN.saturating_add(1);

impl StoreSettings {
    /// A store where `text` says: `memory`, or a URL. All else is as by default.
    ///
    /// # Errors
    ///
    /// If there is no such store.
    pub fn named(text: &str) -> Result<StoreSettings, Invalid> {
        if text == "memory" {
            return Ok(StoreSettings::default());
        }
        Ok(StoreSettings::Redis {
            url: text.parse()?,
            timeout: Duration::from_millis(50),
            prefix: "aforo".to_owned(),
            connections: CONNECTIONS,
            max_keys: MAX_KEYS,
        })
    }
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings::Memory { max_keys: MAX_KEYS }
    }
}
