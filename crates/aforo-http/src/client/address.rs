//! An address as proxies spell it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reads `203.0.113.7`, `203.0.113.7:51234`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:443`, with or without a
/// zone. Nothing that could be meant in two ways is read: no octal or shortened IPv4, no IPv4 in brackets.
#[inline]
pub(super) fn read(text: &[u8], is_port: fn(&str) -> bool) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?;
    // Nearly every element is plain IPv4.
    text.parse().map(Ipv4Addr::into).ok().or_else(|| read_other(text, is_port))
}

fn read_other(text: &str, is_port: fn(&str) -> bool) -> Option<IpAddr> {
    if let Some(inside) = text.strip_prefix('[') {
        let (address, after) = inside.split_once(']')?;
        let complete = after.is_empty() || after.strip_prefix(':').is_some_and(is_port);
        return if complete { without_zone(address) } else { None };
    }
    match text.split_once(':')? {
        (address, port) if !port.contains(':') && is_port(port) => address.parse().ok().map(Ipv4Addr::into),
        _ => without_zone(text),
    }
}

/// The zone says through which of its own interfaces a proxy reached the address (RFC 4007), which tells nobody else.
fn without_zone(text: &str) -> Option<IpAddr> {
    let address = match text.split_once('%') {
        Some((address, zone)) if is_zone(zone) => address,
        Some(_) => return None,
        None => text,
    };
    address.parse().ok().map(Ipv6Addr::into)
}

fn is_zone(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte))
}

/// One to five digits, up to 65535.
pub(super) fn is_port(text: &str) -> bool {
    text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// The one form of an address that is counted: an IPv4 address within IPv6 is that IPv4 address; by choice also behind
/// the prefix of NAT64, 64:ff9b::/96 (RFC 6052).
#[inline]
pub(super) fn canonical(address: IpAddr, nat64: bool) -> IpAddr {
    let IpAddr::V6(within) = address else { return address };
    match within.octets() {
        [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] if nat64 => Ipv4Addr::new(a, b, c, d).into(),
        _ => within.to_canonical(),
    }
}
