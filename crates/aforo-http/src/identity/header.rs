//! A header that a trusted proxy writes, naming the user.

use std::str;
use std::sync::Arc;
use std::time::Duration;

use aforo_policy::{Identity, OnlyLine};

use super::Now;
use super::credential::shown;
use super::invalid::Flaw;
use super::name::name;
use super::remembered::Remembered;

/// How long a name is kept, so that its next request allocates nothing.
const KEPT: Duration = Duration::from_secs(600);

/// A header that names the user.
#[derive(Debug)]
pub(super) struct NamedHeader {
    name: Box<str>,
    remembered: Remembered,
}

impl NamedHeader {
    pub(super) fn new(name: &str) -> Result<NamedHeader, Flaw> {
        let known = http::HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            Flaw::new(format!("`{name}` is no name of a header"), "use letters, digits and hyphens, as in `x-user-id`")
        })?;
        Ok(NamedHeader { name: known.as_str().into(), remembered: Remembered::new() })
    }

    /// Whom it names. The caller knows that a trusted proxy wrote it.
    pub(super) fn identify(&self, line: &OnlyLine<'_>, clock: &Now) -> Option<Identity> {
        let value = shown(line, &self.name)?;
        let now = clock.now();
        if let Some(identity) = self.remembered.recall(value, now) {
            return Some(identity);
        }
        let identity = Identity { user: Arc::from(user(value)?), plan: None, by: "header" };
        let kept = u64::try_from(KEPT.as_micros()).unwrap_or(u64::MAX);
        self.remembered.remember(value, &identity, now.plus_micros(kept), now);
        Some(identity)
    }

    /// What becomes of the name that the request shows.
    pub(super) fn step(&self, line: &OnlyLine<'_>, from_trusted_proxy: bool) -> Result<String, String> {
        let header = &self.name;
        match shown(line, header).map(user) {
            None => Err(format!("header: there is no {header}, or more than one")),
            Some(_) if !from_trusted_proxy => Err(format!("header: {header} is not from a trusted proxy")),
            Some(None) => Err(format!("header: {header} is no name")),
            Some(Some(user)) => Ok(format!("header: {header} names {user}")),
        }
    }
}

/// The user that a value names.
fn user(value: &[u8]) -> Option<&str> {
    name(str::from_utf8(value).ok()?).ok()
}
