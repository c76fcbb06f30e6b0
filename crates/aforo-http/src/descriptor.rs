//! Request → descriptor: the facts that an HTTP request offers about itself.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use aforo_policy::{ClientHeader, Clients, Describe, Identify, Identity, Paths, Policy};
use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};
use http::{Method, request};

use crate::client::{Walk, walk};
use crate::path::normal_forms;

/// The address that a request came from: an extension that a server puts into each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The facts of one request.
#[derive(Debug)]
pub struct Descriptor<'r> {
    method: Cow<'r, str>,
    other_method: Option<String>,
    path: Cow<'r, str>,
    other_path: Option<String>,
    path_behind_host: Option<String>,
    host: Option<Cow<'r, str>>,
    walk: Walk,
    identity: Option<Identity>,
    query: Option<&'r str>,
    fields: &'r HeaderMap,
}

impl<'r> Descriptor<'r> {
    /// Describes the head of a request as a policy reads it. `peer` is the address at the other end of the connection.
    pub fn new(head: &'r request::Parts, peer: Option<IpAddr>, policy: &Policy) -> Descriptor<'r> {
        Descriptor::of(&head.method, &head.uri, &head.headers, peer, policy)
    }

    /// Describes a request by its parts.
    pub fn of(
        method: &'r Method,
        target: &'r http::Uri,
        fields: &'r HeaderMap,
        peer: Option<IpAddr>,
        policy: &Policy,
    ) -> Descriptor<'r> {
        let (settings, clients) = (policy.paths(), policy.clients());
        let forms = normal_forms(if target.path().is_empty() { "/" } else { target.path() });
        let (mut path, mut other_path, mut path_behind_host) = (forms.normal, forms.unresolved, forms.behind_host);
        if settings.case_insensitive {
            path = lower_case(path);
            other_path = other_path.map(|path| path.to_ascii_lowercase());
            path_behind_host = path_behind_host.map(|path| path.to_ascii_lowercase());
        }
        let authority = target.authority().map(|authority| authority.as_str());
        let named = authority.or_else(|| fields.get(http::header::HOST).and_then(|host| host.to_str().ok()));
        let walk = walk(peer, lines(fields, clients).map(HeaderValue::as_bytes), clients);
        let identify = |identify: &dyn Identify| {
            identify.identify(&|name| only_line(fields, name), walk.address, walk.trusted_peer)
        };
        Descriptor {
            method: upper_case(method.as_str()),
            other_method: overridden(method, fields, settings),
            path,
            other_path,
            path_behind_host,
            host: named.map(|named| lower_case(Cow::Borrowed(without_port(named)))),
            walk,
            identity: policy.identify().and_then(identify),
            query: target.query(),
            fields,
        }
    }

    /// How the client's address was found.
    pub fn walk(&self) -> Walk {
        self.walk
    }

    /// What became of each proof of the policy in turn, for people.
    pub fn proving(&self, policy: &Policy) -> Vec<String> {
        let steps =
            |identify: &dyn Identify| identify.steps(&|name| only_line(self.fields, name), self.walk.trusted_peer);
        policy.identify().map(steps).unwrap_or_default()
    }
}

/// The lines of the header that tells clients' addresses. Where nobody is trusted there is nothing to look up.
fn lines<'r>(fields: &'r HeaderMap, clients: &Clients) -> impl DoubleEndedIterator<Item = &'r HeaderValue> {
    let believed = !clients.trusted.is_empty();
    let lines = believed.then(|| match &clients.header {
        // To make a name of a text takes longer than to look it up.
        ClientHeader::XForwardedFor => fields.get_all(&X_FORWARDED_FOR),
        ClientHeader::Forwarded => fields.get_all(FORWARDED),
        ClientHeader::Named(name) => fields.get_all(&**name),
    });
    lines.into_iter().flatten()
}

/// The value of a header that stands in one line.
fn only_line<'r>(fields: &'r HeaderMap, name: &str) -> Option<&'r [u8]> {
    let mut values = values(fields, name);
    values.next().filter(|_| values.next().is_none())
}

fn values<'r>(fields: &'r HeaderMap, name: &str) -> impl Iterator<Item = &'r [u8]> {
    // Comparing a handful of names is less than making one to look up.
    fields.iter().filter(move |(field, _)| field.as_str() == name).map(|(_, value)| value.as_bytes())
}

/// The method that the upstream may see in place of POST, if it obeys a header that says so. Which methods it obeys, and
/// which of several, is its own affair, so that the request meets what both methods meet. Of several that are named, in a
/// list or in lines, the first that changes anything is taken: the others hide it.
fn overridden(method: &Method, fields: &HeaderMap, settings: &Paths) -> Option<String> {
    let name = settings.method_override.as_deref().filter(|_| method == Method::POST)?;
    let lines = fields.get_all(name).iter().filter_map(|line| line.to_str().ok());
    let mut named = lines
        .flat_map(|line| line.split(','))
        .map(|named| named.trim().to_ascii_uppercase())
        .filter(|named| Method::from_bytes(named.as_bytes()).is_ok());
    let first = named.next()?;
    let harmless = |named: &str| matches!(named, "GET" | "HEAD" | "OPTIONS" | "POST");
    if harmless(&first) { named.find(|named| !harmless(named)).or(Some(first)) } else { Some(first) }
}

/// Some servers take `post` for POST.
fn upper_case(method: &str) -> Cow<'_, str> {
    if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        Cow::Owned(method.to_ascii_uppercase())
    } else {
        Cow::Borrowed(method)
    }
}

fn lower_case(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) { Cow::Owned(text.to_ascii_lowercase()) } else { text }
}

/// `api.example` of `user@api.example.:8080`, and of whatever else follows a colon: servers cut there. An IPv6 address
/// keeps its brackets.
fn without_port(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.find(']')) {
        Some(end) => host.get(..end + 2).unwrap_or(host),
        None => host.split(':').next().unwrap_or(host),
    };
    host.strip_suffix('.').unwrap_or(host)
}

impl Describe for Descriptor<'_> {
    fn method(&self) -> &str {
        &self.method
    }

    fn other_method(&self) -> Option<&str> {
        self.other_method.as_deref()
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn other_path(&self) -> Option<&str> {
        self.other_path.as_deref()
    }

    fn path_behind_host(&self) -> Option<&str> {
        self.path_behind_host.as_deref()
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn address(&self) -> Option<IpAddr> {
        self.walk.address
    }

    fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    fn query<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        let parameters = form_urlencoded::parse(self.query.unwrap_or_default().as_bytes());
        parameters.filter(move |(known, _)| known == name).map(|(_, value)| value)
    }

    fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        values(self.fields, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_of_the_query_is_found_however_it_is_spelt() {
        let policy = Policy::new([]).unwrap();
        for (target, values) in [
            ("/", &[][..]),
            ("/?key=abc", &["abc"]),
            ("/?a=1&key=abc&b=2", &["abc"]),
            ("/?key=%61b%63", &["abc"]),
            ("/?k%65y=abc", &["abc"]),
            ("/?key=a+b%2Bc", &["a b+c"]),
            ("/?key=a&key=b", &["a", "b"]),
            ("/?key", &[""]),
            ("/?Key=abc&keys=abc&a=key=abc", &[]),
            ("http://api.example/?key=abc", &["abc"]),
        ] {
            let (target, fields): (http::Uri, _) = (target.parse().unwrap(), HeaderMap::new());
            let descriptor = Descriptor::of(&Method::GET, &target, &fields, None, &policy);
            assert_eq!(descriptor.query("key").collect::<Vec<_>>(), values, "{target}");
        }
    }

    #[test]
    fn a_host_is_told_without_its_port_and_trailing_dot() {
        for (authority, host) in [
            ("api.example", "api.example"),
            ("api.example:8080", "api.example"),
            ("api.example.", "api.example"),
            ("user:pass@api.example:80", "api.example"),
            ("[2001:db8::1]:443", "[2001:db8::1]"),
            ("[2001:db8::1]", "[2001:db8::1]"),
            ("localhost:", "localhost"),
            ("api.example:abc", "api.example"),
            ("api.example:80:90", "api.example"),
        ] {
            assert_eq!(without_port(authority), host, "{authority}");
        }
    }
}
