//! Settings: how the store speaks to its servers.

use std::fmt;
use std::num::NonZeroU8;
use std::time::Duration;

use crate::{Address, InvalidAddress};

/// How the store speaks to its servers.
///
/// ```
/// use aforo_redis::Settings;
/// use std::time::Duration;
///
/// let settings = Settings::new("redis://localhost".parse()?).timeout(Duration::from_millis(20)).prefix("shop")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) address: Address,
    pub(crate) timeout: Duration,
    pub(crate) prefix: String,
    pub(crate) connections: NonZeroU8,
}

/// Why a text cannot begin the names of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPrefix(String);

// === impl Settings ===

impl Settings {
    /// The usual settings: 50 ms for an answer, keys that begin with `aforo`, two connections to a server.
    pub fn new(address: Address) -> Settings {
        // Two, so that one can break and the other goes on; more only help where a server has more than one thread.
        Settings { address, timeout: Duration::from_millis(50), prefix: "aforo".to_owned(), connections: TWO }
    }

    /// Whether what the address names on this machine is there, as [`Address::examine`] says.
    ///
    /// # Errors
    ///
    /// If it is not.
    pub fn examine(&self) -> Result<(), InvalidAddress> {
        self.address.examine()
    }

    /// How long a question may take, with everything that it waits for: a millisecond to an hour. What lies beyond is
    /// brought to the nearer end.
    pub fn timeout(mut self, timeout: Duration) -> Settings {
        self.timeout = timeout.clamp(Duration::from_millis(1), Duration::from_secs(3600));
        self
    }

    /// What the names of all keys begin with. Stores of one prefix share their counters.
    ///
    /// # Errors
    ///
    /// It has 1 to 64 characters of printable ASCII, without spaces and without braces, which in a cluster choose a
    /// key's server.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Result<Settings, InvalidPrefix> {
        let prefix = prefix.into();
        let fit = |byte: u8| byte.is_ascii_graphic() && byte != b'{' && byte != b'}';
        if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(fit) {
            return Err(InvalidPrefix(prefix));
        }
        self.prefix = prefix;
        Ok(self)
    }

    /// How many connections to keep to each server. They are used in turn.
    pub fn connections(mut self, connections: NonZeroU8) -> Settings {
        self.connections = connections;
        self
    }
}

const TWO: NonZeroU8 = NonZeroU8::MIN.saturating_add(1);

// === impl InvalidPrefix ===

impl fmt::Display for InvalidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidPrefix(prefix) = self;
        write!(f, "prefix {prefix:?}: expected 1 to 64 characters of printable ASCII, without spaces and braces")
    }
}

impl std::error::Error for InvalidPrefix {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_that_would_choose_the_slot_of_every_key_is_refused() {
        let settings = || Settings::new("redis://localhost".parse().unwrap());
        for prefix in ["", "a b", "{a}", "a}", "é", &"x".repeat(65)] {
            assert!(settings().prefix(prefix).is_err(), "{prefix:?}");
        }
        for prefix in ["a", "shop:limits", &"x".repeat(64)] {
            assert_eq!(settings().prefix(prefix).unwrap().prefix, prefix);
        }
    }
}
