//! What a gateway is told before it starts: plain data.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderValue, Uri};

/// Where to listen, whom to forward to, and how long to wait.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address to listen on. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The servers behind the gateway, used in turn.
    pub upstreams: Vec<Upstream>,
    /// Threads that serve requests.
    pub workers: NonZeroUsize,
    /// The certificate, if clients speak TLS.
    pub tls: Option<TlsFiles>,
    /// Whether every connection begins with a header of the PROXY protocol, which says whose it is. Whoever can connect
    /// can then claim any address, so only proxies should be able to.
    pub proxy_protocol: bool,
    /// How long each side may be silent.
    pub timeouts: Timeouts,
    /// How long requests in flight may take to end after [`Running::stop`](super::Running::stop).
    pub drain: Duration,
}

/// Files in PEM format.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate of this server first, then those that lead to a known authority.
    pub cert: PathBuf,
    /// The private key of the first certificate: PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
}

/// The longest that the gateway waits, for each thing that it waits for.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the first byte of a request to the end of its header; on a new connection, from its start. As long again for
    /// the header of the PROXY protocol, and for the handshake of TLS.
    pub header: Duration,
    /// Silence of the client while its request body is awaited, or while it does not read the response.
    pub body: Duration,
    /// Until an upstream accepts a connection.
    pub connect: Duration,
    /// Silence of the upstream: until the response begins, and between its parts.
    pub upstream: Duration,
    /// How long a connection without a request is kept open, towards clients and towards upstreams.
    pub idle: Duration,
}

/// One server behind the gateway: `http://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    host: Box<str>,
    port: u16,
    authority: HeaderValue,
}

/// A text that does not name an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidUpstream {
    text: Box<str>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NotAnAddress,
    NoScheme,
    Https,
    OtherScheme,
    UserInfo,
    Path,
}

// === impl Settings ===

impl Settings {
    /// Settings with the usual timeouts, a worker a core, no TLS, and no PROXY protocol.
    pub fn new(listen: SocketAddr, upstreams: Vec<Upstream>) -> Self {
        Self {
            listen,
            upstreams,
            workers: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            tls: None,
            proxy_protocol: false,
            timeouts: Timeouts::default(),
            drain: Duration::from_secs(30),
        }
    }
}

impl Timeouts {
    /// At most a year each, so that a point in time plus a timeout is always a point in time.
    pub(super) fn bounded(self) -> Self {
        const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
        let Self { header, body, connect, upstream, idle } = self;
        Self {
            header: header.min(YEAR),
            body: body.min(YEAR),
            connect: connect.min(YEAR),
            upstream: upstream.min(YEAR),
            idle: idle.min(YEAR),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(10),
            body: Duration::from_secs(60),
            connect: Duration::from_secs(2),
            upstream: Duration::from_secs(60),
            idle: Duration::from_secs(75),
        }
    }
}

// === impl Upstream ===

impl Upstream {
    /// The name or address to connect to, without the brackets of IPv6.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What `Host` says when the client did not name one.
    pub(super) fn authority(&self) -> &HeaderValue {
        &self.authority
    }
}

impl FromStr for Upstream {
    type Err = InvalidUpstream;

    fn from_str(text: &str) -> Result<Self, InvalidUpstream> {
        let invalid = |fault| InvalidUpstream { text: text.into(), fault };
        let uri: Uri = text.parse().map_err(|_| invalid(Fault::NotAnAddress))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(invalid(Fault::Https)),
            Some(_) => return Err(invalid(Fault::OtherScheme)),
            None => return Err(invalid(Fault::NoScheme)),
        }
        let authority = uri.authority().ok_or(invalid(Fault::NotAnAddress))?;
        if authority.as_str().contains('@') {
            return Err(invalid(Fault::UserInfo));
        }
        if !matches!(uri.path_and_query().map(|path| path.as_str()), None | Some("/")) {
            return Err(invalid(Fault::Path));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        // A port that is no number leaves `port()` empty although the text has one.
        let port = match (authority.port_u16(), authority.as_str().len() == authority.host().len()) {
            (Some(port), _) if port != 0 => port,
            (None, true) => 80,
            _ => return Err(invalid(Fault::NotAnAddress)),
        };
        if host.is_empty() {
            return Err(invalid(Fault::NotAnAddress));
        }
        let field = HeaderValue::from_str(authority.as_str()).map_err(|_| invalid(Fault::NotAnAddress))?;
        Ok(Self { host: host.into(), port, authority: field })
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "http://[{}]:{}", self.host, self.port),
            false => write!(f, "http://{}:{}", self.host, self.port),
        }
    }
}

// === impl InvalidUpstream ===

impl fmt::Display for InvalidUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream {:?}: ", self.text)?;
        f.write_str(match self.fault {
            Fault::NotAnAddress => "not an address, expected http://HOST:PORT",
            Fault::NoScheme => "the scheme is missing, expected http://HOST:PORT",
            Fault::Https => "https to an upstream is not supported yet, expected http://HOST:PORT",
            Fault::OtherScheme => "only http is known, expected http://HOST:PORT",
            Fault::UserInfo => "a user name has no place here, expected http://HOST:PORT",
            Fault::Path => "paths are forwarded as they arrive, so none belongs here, expected http://HOST:PORT",
        })
    }
}

impl std::error::Error for InvalidUpstream {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_host_and_a_port() {
        for (text, host, port, shown) in [
            ("http://127.0.0.1:3000", "127.0.0.1", 3000, "http://127.0.0.1:3000"),
            ("http://api.internal", "api.internal", 80, "http://api.internal:80"),
            ("http://[::1]:8080/", "::1", 8080, "http://[::1]:8080"),
        ] {
            let upstream: Upstream = text.parse().unwrap();
            assert_eq!((upstream.host(), upstream.port()), (host, port), "{text}");
            assert_eq!(upstream.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_upstream_is_told_why() {
        for (text, why) in [
            ("", "not an address"),
            ("http://", "not an address"),
            ("http://:80", "not an address"),
            ("http://a:99999", "not an address"),
            ("http://a:0", "not an address"),
            ("localhost:3000", "scheme"),
            ("/path", "scheme is missing"),
            ("https://a", "not supported yet"),
            ("ftp://a", "only http"),
            ("http://user@a", "user name"),
            ("http://a/base", "paths are forwarded"),
        ] {
            let error = text.parse::<Upstream>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
