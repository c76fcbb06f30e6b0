//! Where a store outside this process is.

use std::fmt;
use std::str::FromStr;

use crate::Invalid;
use crate::names::nearest;

/// What stores are spoken to by.
const SCHEMES: [&str; 6] = ["redis", "rediss", "redis-cluster", "rediss-cluster", "redis-sentinel", "rediss-sentinel"];

/// The URL of a store outside this process.
///
/// It may hold a password, so it is printed without its user and its parameters. Whether the store's client can make
/// something of all of it, that client knows.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The whole URL, to connect by.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for StoreUrl {
    type Err = Invalid;

    /// Takes a URL with a scheme that is known and at least one host. A mistake is told without the password.
    fn from_str(text: &str) -> Result<StoreUrl, Invalid> {
        let help = "write `memory`, or for example redis://127.0.0.1:6379/0";
        let wrong = |what: &str| Err(Invalid::new(format!("`{}` {what}", printable(text)), help));
        let Some((scheme, rest)) = text.split_once("://") else {
            return wrong("is no store");
        };
        if !SCHEMES.contains(&scheme) {
            let help = match nearest(scheme, SCHEMES) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("write `memory`, or a URL that begins with one of {}", SCHEMES.join(", ")),
            };
            return Err(Invalid::new(format!("`{}` is no store that is known", printable(text)), help));
        }
        if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return wrong("has a space in it");
        }
        let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') {
            let help = "in a user and in a password write %2F for a slash and %40 for an at sign";
            return Err(Invalid::new(format!("`{}` has an at sign behind a slash", printable(text)), help));
        }
        let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
        for place in hosts.split(',') {
            let (host, port) = match place.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
                _ => (place, None),
            };
            if host.is_empty() {
                return wrong("has no host");
            }
            if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
                return wrong("has no port from 1 to 65535 after the colon");
            }
        }
        Ok(StoreUrl(text.to_owned()))
    }
}

/// What of a URL anyone may see. It need not be a right one.
fn printable(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let (rest, parameters) = rest.split_once('?').map_or((rest, None), |(rest, parameters)| (rest, Some(parameters)));
    let mut shown = scheme.map(|scheme| format!("{scheme}://")).unwrap_or_default();
    match (rest.rsplit_once('@'), parameters) {
        // Where the user ends is not sure.
        (_, Some(parameters)) if parameters.contains('@') => shown.push('…'),
        (Some((_, hosts)), _) => shown.extend(["…@", hosts]),
        (None, _) => shown.push_str(rest),
    }
    if parameters.is_some_and(|parameters| !parameters.contains('@')) {
        shown.push_str("?…");
    }
    shown
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_a_known_scheme_and_its_hosts() {
        for text in [
            "redis://127.0.0.1",
            "rediss://user:p%40ss@redis.example:6380/2?ca_file=/etc/ca.pem",
            "redis-cluster://10.0.0.1:7000,10.0.0.2:7000",
            "redis-sentinel://[::1]:26379,[::2]:26379/primary/0",
            "redis://[::1]",
        ] {
            assert_eq!(text.parse::<StoreUrl>().unwrap().expose(), text);
        }
        for text in [
            "",
            "disk",
            "http://a",
            "redis:/a",
            "redis://",
            "redis:///0",
            "redis://:6379",
            "redis://user@",
            "redis://a:0",
            "redis://a:99999",
            "redis://a,:1",
            "redis://a b",
            "redis://a:6379\n",
            "REDIS://a",
        ] {
            assert!(text.parse::<StoreUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_nearest_scheme_is_named() {
        for (text, help) in [
            ("radis://a", "did you mean `redis`?"),
            ("redis+sentinel://a", "did you mean `redis-sentinel`?"),
            ("redis_cluster://a", "did you mean `redis-cluster`?"),
            ("Rediss://a", "did you mean `rediss`?"),
        ] {
            assert_eq!(text.parse::<StoreUrl>().unwrap_err().help(), help, "{text}");
        }
    }

    #[test]
    fn no_password_is_printed() {
        for (text, shown) in [
            ("redis://a:6379/0", "redis://a:6379/0"),
            ("redis://:hunter2@a:6379/0", "redis://…@a:6379/0"),
            ("redis://user:hun/ter2@a,b", "redis://…@a,b"),
            ("redis://hunter2@user:hunter2@a", "redis://…@a"),
            ("redis-sentinel://a/s?sentinel_password=hunter2", "redis-sentinel://a/s?…"),
            ("redis://u:hunter2?@a", "redis://…"),
            ("redis-sentinel://u:hunter2@a/s?sentinel_password=x@hunter2", "redis-sentinel://…"),
        ] {
            assert_eq!(text.parse::<StoreUrl>().map_or_else(|_| printable(text), |url| url.to_string()), shown);
            assert!(!format!("{:?}", text.parse::<StoreUrl>()).contains("hunter2"), "{text}");
        }
        for text in
            ["http://u:hunter2@a", "u:hunter2@a", "redis://u:hunter2@", "redis://u:hunter2@a:x", "redis://u:hun ter2@a"]
        {
            assert!(!text.parse::<StoreUrl>().unwrap_err().to_string().contains("ter2"), "{text}");
        }
    }
}
