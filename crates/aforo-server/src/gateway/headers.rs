//! The fields of a message on its way through: those that concern one connection only end here (RFC 9110, section
//! 7.6.1), those that say where a request came from begin here.

use http::header::{
    CONNECTION, EXPECT, Entry, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::peer::Peer;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// `Expect` is among them because the gateway itself says `100 Continue`, as soon as the upstream takes the body.
const OF_ONE_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    TRANSFER_ENCODING,
    KEEP_ALIVE,
    PROXY_CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    UPGRADE,
    EXPECT,
];

/// Fields that `Connection` cannot name away: a client could take from the upstream what an earlier proxy told it.
const NEVER_NAMED: [&str; 8] = [
    "host",
    "content-length",
    "forwarded",
    "x-real-ip",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "cookie",
];

/// Which fields of one connection a message has: one look over the names instead of a lookup for each.
pub(super) struct Hops(u16);

impl Hops {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let places = headers.keys().filter_map(|name| OF_ONE_CONNECTION.iter().position(|known| known == name));
        Self(places.fold(0, |found, place| found | 1 << place))
    }

    pub(super) fn has(&self, name: &HeaderName) -> bool {
        OF_ONE_CONNECTION.iter().position(|known| known == name).is_some_and(|place| self.0 & 1 << place != 0)
    }

    /// Removes them, and those that `Connection` names.
    pub(super) fn strip(self, headers: &mut HeaderMap) {
        if self.0 == 0 {
            return;
        }
        strip_named(headers);
        for (place, name) in OF_ONE_CONNECTION.iter().enumerate() {
            if self.0 & 1 << place != 0 {
                headers.remove(name);
            }
        }
    }
}

/// Removes the fields that `Connection` names.
fn strip_named(headers: &mut HeaderMap) {
    const NONE: [&[u8]; 2] = [b"keep-alive", b"close"];
    let names_none = |line: &HeaderValue| NONE.iter().any(|word| line.as_bytes().eq_ignore_ascii_case(word));
    if headers.get_all(CONNECTION).iter().all(names_none) {
        return;
    }
    let named: Vec<HeaderName> = tokens(headers, &CONNECTION)
        .filter(|token| !["close", "keep-alive", "upgrade", "te"].iter().any(|word| token.eq_ignore_ascii_case(word)))
        .filter_map(|token| HeaderName::from_bytes(token.as_bytes()).ok())
        .filter(|name| !NEVER_NAMED.contains(&name.as_str()))
        .collect();
    for name in named {
        headers.remove(name);
    }
}

/// Prepares the fields of a request for the upstream; `host` is what to call that if the client did not say. Returns
/// whether the request asks to leave HTTP.
pub(super) fn forward_request(headers: &mut HeaderMap, peer: Option<&Peer>, host: impl Fn() -> HeaderValue) -> bool {
    let hops = Hops::of(headers);
    let protocol = hops.has(&UPGRADE).then(|| upgrade_of(headers)).flatten();
    let trailers = hops.has(&TE) && tokens(headers, &TE).any(is_trailers);
    hops.strip(headers);
    let leaves_http = protocol.is_some();
    if let Some(protocol) = protocol {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, protocol);
    } else if trailers {
        headers.insert(CONNECTION, HeaderValue::from_static("te"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    let asked = headers.get(HOST).cloned();
    if asked.is_none() {
        headers.insert(HOST, host());
    }
    if let Some(peer) = peer {
        tell_origin(headers, peer, asked);
    }
    leaves_http
}

/// Says who asked, how, and for which host.
fn tell_origin(headers: &mut HeaderMap, peer: &Peer, host: Option<HeaderValue>) {
    match headers.entry(FORWARDED_FOR) {
        Entry::Vacant(entry) => {
            entry.insert(peer.field().clone());
        }
        Entry::Occupied(mut entry) => {
            if let Some(chain) = lengthen(entry.iter(), peer.field()) {
                entry.insert(chain);
            }
        }
    }
    if !(peer.is_believed() && headers.contains_key(&FORWARDED_PROTO)) {
        headers.insert(FORWARDED_PROTO, HeaderValue::from_static(peer.scheme().as_str()));
    }
    if !(peer.is_believed() && headers.contains_key(&FORWARDED_HOST)) {
        match host {
            Some(host) => headers.insert(FORWARDED_HOST, host),
            None => headers.remove(FORWARDED_HOST),
        };
    }
}

/// All lines of `X-Forwarded-For` and the peer, as one: there are readers that see the first line only.
fn lengthen<'a>(lines: impl Iterator<Item = &'a HeaderValue>, peer: &'a HeaderValue) -> Option<HeaderValue> {
    let lines: Vec<&[u8]> = lines.chain([peer]).map(HeaderValue::as_bytes).filter(|line| !line.is_empty()).collect();
    HeaderValue::from_bytes(&lines.join(&b", "[..])).ok()
}

/// The protocol that a message wants to change to. HTTP/2 in the clear is not one: the requests inside would pass by
/// every rule.
pub(super) fn upgrade_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let protocol = headers.get(UPGRADE)?;
    let asked = tokens(headers, &CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"));
    let is_http = tokens(headers, &UPGRADE).any(|token| {
        let token = token.as_bytes();
        token.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"h2"))
            || token.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"tls"))
            || token.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
    });
    (asked && !is_http).then(|| protocol.clone())
}

/// The members of a list, over all lines of a field.
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).into_iter();
    lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).map(str::trim)
}

fn is_trailers(token: &str) -> bool {
    token.split(';').next().is_some_and(|coding| coding.trim().eq_ignore_ascii_case("trailers"))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::super::peer::Scheme;
    use super::*;

    fn map(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    fn forwarded(fields: &[(&'static str, &'static str)], peer: Option<&Peer>) -> Vec<String> {
        let mut headers = map(fields);
        forward_request(&mut headers, peer, || HeaderValue::from_static("up:80"));
        let mut lines: Vec<_> = headers.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
        lines.sort();
        lines
    }

    #[test]
    fn fields_of_one_connection_end_here() {
        let fields = [
            ("host", "h"),
            ("connection", "close, X-Private"),
            ("connection", "keep-alive"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic eA=="),
            ("transfer-encoding", "chunked"),
            ("te", "gzip"),
            ("upgrade", "h2c"),
            ("expect", "100-continue"),
            ("trailer", "x-sum"),
            ("accept", "*/*"),
        ];
        assert_eq!(forwarded(&fields, None), ["accept: */*", "host: h", "trailer: x-sum"]);
    }

    #[test]
    fn connection_cannot_take_away_what_the_upstream_relies_on() {
        let fields = [("host", "h"), ("connection", "Host, X-Forwarded-For"), ("x-forwarded-for", "192.0.2.1")];
        assert_eq!(forwarded(&fields, None), ["host: h", "x-forwarded-for: 192.0.2.1"]);
    }

    #[test]
    fn only_a_safe_upgrade_goes_on() {
        for (connection, protocol, expected) in [
            ("Upgrade", "websocket", true),
            ("keep-alive, upgrade", "SPDY/3.1", true),
            ("keep-alive", "websocket", false),
            ("upgrade", "h2c", false),
            ("upgrade", "websocket, H2C", false),
            ("upgrade", "HTTP/2.0", false),
            ("upgrade", "TLS/1.0", false),
        ] {
            let mut headers = map(&[("host", "h"), ("connection", connection), ("upgrade", protocol)]);
            let goes_on = forward_request(&mut headers, None, || HeaderValue::from_static("up"));
            assert_eq!(goes_on, expected, "{connection}: {protocol}");
            assert_eq!(headers.contains_key(UPGRADE), expected);
            assert_eq!(headers.contains_key(CONNECTION), expected);
        }
    }

    #[test]
    fn a_wish_for_trailers_is_told_to_the_upstream() {
        assert_eq!(
            forwarded(&[("host", "h"), ("te", "deflate, trailers;q=1")], None),
            ["connection: te", "host: h", "te: trailers"]
        );
    }

    #[test]
    fn the_upstream_is_told_where_a_request_came_from() {
        let address: SocketAddr = "[::ffff:192.0.2.9]:4711".parse().unwrap();
        let mut peer = Peer::new(address, Scheme::Https);
        let sent = [
            ("host", "h"),
            ("x-forwarded-for", "203.0.113.1"),
            ("x-forwarded-for", "203.0.113.2"),
            ("x-forwarded-host", "forged"),
            ("x-forwarded-proto", "gopher"),
        ];
        let chain = "x-forwarded-for: 203.0.113.1, 203.0.113.2, 192.0.2.9";
        assert_eq!(
            forwarded(&sent, Some(&peer)),
            ["host: h", chain, "x-forwarded-host: h", "x-forwarded-proto: https"]
        );
        peer.believe();
        assert_eq!(
            forwarded(&sent, Some(&peer)),
            ["host: h", chain, "x-forwarded-host: forged", "x-forwarded-proto: gopher"]
        );
    }

    #[test]
    fn a_request_without_a_host_gets_the_upstreams() {
        assert_eq!(forwarded(&[], None), ["host: up:80"]);
    }
}
