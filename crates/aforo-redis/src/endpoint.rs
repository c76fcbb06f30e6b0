//! Endpoints: where a server listens.

use std::fmt;

/// A host and a port. The host is a name, which is looked up at each connecting, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Endpoint {
    pub(crate) fn new(host: impl Into<String>, port: u16) -> Endpoint {
        Endpoint { host: host.into(), port }
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port` as a person writes it. The error does not quote the text.
    pub(crate) fn written(text: &str, default_port: u16) -> Result<Endpoint, &'static str> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, port) = rest.split_once(']').ok_or("an IPv6 address needs its closing bracket: [::1]:6379")?;
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err("only an IPv6 address belongs in brackets: [::1]:6379");
            }
            match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if port.is_empty() => (host, None),
                None => return Err("after a bracketed IPv6 address only :port may follow"),
            }
        } else {
            match text.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err("an IPv6 address belongs in brackets: [::1]:6379");
                }
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if host.is_empty() {
            return Err("a host is missing: write host or host:port");
        }
        if !host.bytes().all(named) {
            return Err("a host is made of letters, digits, dots and hyphens");
        }
        match port.map(str::parse::<u16>) {
            None => Ok(Endpoint::new(host, default_port)),
            Some(Ok(port)) if port > 0 => Ok(Endpoint::new(host, port)),
            Some(_) => Err("a port is a number from 1 to 65535"),
        }
    }

    /// Reads the target of a redirection, `host:port`, where an empty host means the one that was asked.
    pub(crate) fn redirected(target: &str, asked: &str) -> Option<Endpoint> {
        let (host, port) = target.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = match host {
            "" | "?" => asked,
            named => named.trim_start_matches('[').trim_end_matches(']'),
        };
        Some(Endpoint::new(host, port))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_without_a_host_leads_to_the_host_that_was_asked() {
        assert_eq!(Endpoint::redirected(":7001", "10.0.0.9"), Some(Endpoint::new("10.0.0.9", 7001)));
        assert_eq!(Endpoint::redirected("?:7001", "10.0.0.9"), Some(Endpoint::new("10.0.0.9", 7001)));
    }

    #[test]
    fn a_redirection_may_name_an_ipv6_address_bare() {
        assert_eq!(Endpoint::redirected("2001:db8::1:7001", "x"), Some(Endpoint::new("2001:db8::1", 7001)));
        assert_eq!(Endpoint::redirected("nonsense", "x"), None);
    }

    #[test]
    fn an_ipv6_endpoint_is_shown_as_it_is_written() {
        let endpoint = Endpoint::written("[::1]", 6379);
        assert_eq!(endpoint.map(|endpoint| endpoint.to_string()), Ok("[::1]:6379".to_owned()));
    }
}
