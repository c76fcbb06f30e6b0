//! Whose address is it? What a policy says about proxies in front, and how much of an address is one client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Networks;

/// How a client's address is found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clients {
    /// The proxies that are believed. None unless the policy names them.
    pub trusted: Networks,
    /// The one header that they tell the client's address in.
    pub header: ClientHeader,
    /// The bits of an IPv4 address that tell clients apart.
    pub ipv4_prefix: u8,
    /// The bits of an IPv6 address that tell clients apart.
    pub ipv6_prefix: u8,
    /// Whether 64:ff9b::/96 is the IPv4 address inside (RFC 6052).
    pub nat64: bool,
}

/// The header that proxies tell a client's address in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientHeader {
    /// `X-Forwarded-For`: addresses, the nearest on the right.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
    /// Another one, by its name in lower case: one address, or a list as in `X-Forwarded-For`.
    Named(Box<str>),
}

impl Clients {
    /// What of an address tells clients apart, and how many bits that are: the network that it lies in.
    #[inline]
    pub(crate) fn network(&self, address: IpAddr) -> (IpAddr, u8) {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let bits = self.ipv4_prefix.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
                (Ipv4Addr::from_bits(address.to_bits() & mask).into(), bits)
            }
            IpAddr::V6(address) => {
                let bits = self.ipv6_prefix.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
                (Ipv6Addr::from_bits(address.to_bits() & mask).into(), bits)
            }
        }
    }
}

impl Default for Clients {
    /// Nobody is believed; IPv4 addresses in full, IPv6 by their first 64 bits.
    fn default() -> Clients {
        Clients {
            trusted: Networks::default(),
            header: ClientHeader::default(),
            ipv4_prefix: 32,
            ipv6_prefix: 64,
            nat64: false,
        }
    }
}

impl ClientHeader {
    /// The header's name, in lower case.
    pub fn name(&self) -> &str {
        match self {
            ClientHeader::XForwardedFor => "x-forwarded-for",
            ClientHeader::Forwarded => "forwarded",
            ClientHeader::Named(name) => name,
        }
    }
}
