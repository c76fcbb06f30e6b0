//! Who is at the other end of a client's connection.

use std::net::SocketAddr;

use http::HeaderValue;

/// The peer of a connection. The gateway puts one into the extensions of each request.
#[derive(Clone, Debug)]
pub struct Peer {
    address: SocketAddr,
    scheme: Scheme,
    believed: bool,
    field: HeaderValue,
}

/// How the peer reached the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Through TLS.
    Https,
}

impl Peer {
    /// A peer that is not believed. An IPv4 address in the form of IPv6 is taken as IPv4.
    pub fn new(address: SocketAddr, scheme: Scheme) -> Self {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let field = HeaderValue::try_from(address.ip().to_string()).unwrap_or(HeaderValue::from_static("unknown"));
        Self { address, scheme, believed: false, field }
    }

    /// The address at the other end of the socket or, with the PROXY protocol, the one that the proxy there names.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How the peer reached the gateway.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Lets `X-Forwarded-Proto` and `X-Forwarded-Host` pass as the peer sent them. Only for a proxy that is trusted: an
    /// upstream takes them for the truth.
    pub fn believe(&mut self) {
        self.believed = true;
    }

    pub(super) fn is_believed(&self) -> bool {
        self.believed
    }

    /// The peer's address as `X-Forwarded-For` wants it.
    pub(super) fn field(&self) -> &HeaderValue {
        &self.field
    }
}

impl Scheme {
    /// `http` or `https`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}
