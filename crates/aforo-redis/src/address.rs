//! Addresses: the text that says which servers hold the counters, and how to speak to them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::percent_decode_str;

use crate::endpoint::Endpoint;
use crate::servers::tls;

const REDIS_PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;

/// Which servers hold the counters, and how to speak to them.
///
/// | written | meaning |
/// |---|---|
/// | `redis://HOST[:PORT][/DATABASE]` | one server |
/// | `redis-cluster://HOST[:PORT],…` | a Redis Cluster: any of its nodes, the others are found |
/// | `redis-sentinel://HOST[:PORT],…/SERVICE[/DATABASE]` | the primary that these Sentinels name for the service |
///
/// With `rediss` instead of `redis` they are spoken to over TLS, the Sentinels too. `USER:PASSWORD@` (or `:PASSWORD@`)
/// before the hosts names an ACL user; what is special in a URL is percent-encoded there. After a `?` may follow
/// `ca_file=PATH`, the PEM file of the authorities to be trusted instead of the system's, and for Sentinels that ask
/// for credentials of their own `sentinel_user` and `sentinel_password`.
///
/// ```
/// use aforo_redis::Address;
///
/// let address: Address = "rediss://limits:secret@redis.internal:6380/2".parse()?;
/// assert_eq!(address.to_string(), "rediss://limits:***@redis.internal:6380/2");
/// # Ok::<(), aforo_redis::InvalidAddress>(())
/// ```
///
/// It is shown without the passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) topology: Topology,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) tls: bool,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) login: Option<Login>,
    pub(crate) database: u32,
}

/// How the servers belong together.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Topology {
    Alone,
    Cluster,
    Sentinel { service: String, login: Option<Login> },
}

/// A user and the password. Without a user it is the default one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: Option<String>,
    pub(crate) password: String,
}

/// Why a text is no [`Address`]: what is wrong and what would be right. It never quotes what may be a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAddress(String);

// === impl Address ===

impl Address {
    /// The file of the authorities that are trusted instead of the system's, if there is one.
    pub fn ca_file(&self) -> Option<&Path> {
        self.ca_file.as_deref()
    }

    /// Whether what the address names on this machine is there. It reads files, and connects to nothing.
    ///
    /// # Errors
    ///
    /// If `ca_file` cannot be read, or holds no certificate.
    pub fn examine(&self) -> Result<(), InvalidAddress> {
        match &self.ca_file {
            Some(path) => tls::of_file(path).map(drop).map_err(InvalidAddress),
            None => Ok(()),
        }
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Address, InvalidAddress> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| invalid("write redis://host:port"))?;
        let (tls, kind) = match scheme {
            "redis" => (false, Kind::Alone),
            "rediss" => (true, Kind::Alone),
            "redis-cluster" => (false, Kind::Cluster),
            "rediss-cluster" => (true, Kind::Cluster),
            "redis-sentinel" => (false, Kind::Sentinel),
            "rediss-sentinel" => (true, Kind::Sentinel),
            other => {
                return Err(invalid(format!(
                    "unknown scheme {other:?}, expected redis, redis-cluster or redis-sentinel, or with TLS rediss, \
                     rediss-cluster or rediss-sentinel"
                )));
            }
        };
        if rest.contains('#') {
            return Err(invalid("a # in a user or a password must be written %23"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // An @ after the hosts is the end of a password that was cut in two: quoting any of it would tell its half.
        if path.contains('@') || query.contains('@') {
            return Err(invalid("a /, ? or @ in a user or a password must be written %2F, %3F or %40"));
        }
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(Login::written(login)?), hosts),
            None => (None, authority),
        };
        let port = if matches!(kind, Kind::Sentinel) { SENTINEL_PORT } else { REDIS_PORT };
        let endpoints = hosts
            .split(',')
            .map(|host| Endpoint::written(host, port).map_err(invalid))
            .collect::<Result<Vec<Endpoint>, InvalidAddress>>()?;
        let mut options = Options::written(query)?;
        if options.ca_file.is_some() && !tls {
            return Err(invalid("ca_file needs TLS: write rediss instead of redis"));
        }
        if !matches!(kind, Kind::Sentinel) && (options.sentinel_user.is_some() || options.sentinel_password.is_some()) {
            return Err(invalid("sentinel_user and sentinel_password belong to a redis-sentinel:// address"));
        }
        let (topology, database) = match kind {
            Kind::Alone if endpoints.len() > 1 => {
                return Err(invalid("redis:// takes one host; several are redis-cluster:// or redis-sentinel://"));
            }
            Kind::Alone => (Topology::Alone, database(path)?),
            Kind::Cluster if database(path)? != 0 => {
                return Err(invalid("a cluster has database 0 alone: leave the path out"));
            }
            Kind::Cluster => (Topology::Cluster, 0),
            Kind::Sentinel => {
                let (service, rest) = path.split_once('/').unwrap_or((path, ""));
                if service.is_empty() {
                    return Err(invalid("the service is missing: redis-sentinel://host/SERVICE, often mymaster"));
                }
                let topology = Topology::Sentinel { service: decoded(service)?, login: options.sentinel_login()? };
                (topology, database(rest)?)
            }
        };
        Ok(Address { topology, endpoints, tls, ca_file: options.ca_file, login, database })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls { "rediss" } else { "redis" })?;
        f.write_str(match self.topology {
            Topology::Alone => "://",
            Topology::Cluster => "-cluster://",
            Topology::Sentinel { .. } => "-sentinel://",
        })?;
        if let Some(login) = &self.login {
            write!(f, "{}:***@", login.user.as_deref().unwrap_or_default())?;
        }
        for (place, endpoint) in self.endpoints.iter().enumerate() {
            write!(f, "{}{endpoint}", if place == 0 { "" } else { "," })?;
        }
        if let Topology::Sentinel { service, .. } = &self.topology {
            write!(f, "/{service}")?;
        }
        if self.database != 0 {
            write!(f, "/{}", self.database)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

// === the parts ===

enum Kind {
    Alone,
    Cluster,
    Sentinel,
}

#[derive(Default)]
struct Options {
    ca_file: Option<PathBuf>,
    sentinel_user: Option<String>,
    sentinel_password: Option<String>,
}

impl Options {
    fn written(query: &str) -> Result<Options, InvalidAddress> {
        let mut options = Options::default();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if value.is_empty() {
                return Err(invalid("an option is written name=value"));
            }
            match name {
                "ca_file" => options.ca_file = Some(decoded(value)?.into()),
                "sentinel_user" => options.sentinel_user = Some(decoded(value)?),
                "sentinel_password" => options.sentinel_password = Some(decoded(value)?),
                other => {
                    return Err(invalid(format!(
                        "unknown option {other:?}, expected ca_file, sentinel_user or sentinel_password"
                    )));
                }
            }
        }
        Ok(options)
    }

    fn sentinel_login(&mut self) -> Result<Option<Login>, InvalidAddress> {
        match (self.sentinel_user.take(), self.sentinel_password.take()) {
            (user, Some(password)) => Ok(Some(Login { user, password })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(invalid("sentinel_user needs sentinel_password beside it")),
        }
    }
}

impl Login {
    fn written(text: &str) -> Result<Login, InvalidAddress> {
        let (user, password) =
            text.split_once(':').ok_or_else(|| invalid("write USER:PASSWORD@, or :PASSWORD@ for the default user"))?;
        if password.is_empty() {
            return Err(invalid("the password is empty: write USER:PASSWORD@, or leave both out"));
        }
        let user = if user.is_empty() { None } else { Some(decoded(user)?) };
        Ok(Login { user, password: decoded(password)? })
    }
}

fn database(text: &str) -> Result<u32, InvalidAddress> {
    match text {
        "" => Ok(0),
        number => number.parse().map_err(|_| invalid("a database is a whole number, as in redis://host/2")),
    }
}

fn decoded(text: &str) -> Result<String, InvalidAddress> {
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| invalid("a percent-encoded part is not UTF-8"))?.into_owned())
}

// === impl InvalidAddress ===

impl InvalidAddress {
    /// What would be right, for those who know already that it is an address of a store.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

fn invalid(why: impl Into<String>) -> InvalidAddress {
    InvalidAddress(why.into())
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "address of the store: {}", self.0)
    }
}

impl std::error::Error for InvalidAddress {}

#[cfg(test)]
mod tests;
