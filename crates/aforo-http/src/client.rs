//! Whose address is it? From the peer to the client, as far as the proxies in between are believed.
//!
//! Anyone can write a header, so what it says counts only as far as trusted proxies wrote it. Each proxy adds on the right
//! the address that it was asked from. So the list is read from the right: the peer vouches for the last element, and an
//! element that is a trusted proxy too vouches for the one before it. The first that is not trusted is the client, and
//! what stands to the left of it is its own invention.
//!
//! ```
//! use aforo_http::client::walk;
//! use aforo_policy::Clients;
//!
//! let mut clients = Clients::default();
//! clients.trusted = ["10.0.0.0/8".parse()?].into_iter().collect();
//! let line: &[u8] = b"192.0.2.1, 203.0.113.7, 10.0.0.5";
//! let found = walk("10.0.0.1".parse().ok(), [line], &clients);
//! assert_eq!(found.address, "203.0.113.7".parse().ok());
//! # Ok::<(), ipnet::AddrParseError>(())
//! ```
//!
//! Whatever cannot be read ends the walk on the safe side: at an address that a trusted proxy vouches for, never at one
//! that a client may have written.

mod address;
mod forwarded;
mod list;
mod trace;
mod walk;

pub use trace::{Finding, Step, Trace, trace};
pub use walk::{Source, Walk, walk};

/// What one element of a header tells.
enum Told {
    /// Nothing: it is empty, and passed over.
    Nothing,
    /// An address.
    Address(std::net::IpAddr),
    /// Something for which the walk ends.
    Other(Finding),
}
