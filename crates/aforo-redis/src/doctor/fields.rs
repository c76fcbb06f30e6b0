//! Fields: what a server says of itself with INFO.

use std::collections::HashMap;

use redis::Value;

use crate::address::Address;
use crate::doctor::arrival::refused_login;
use crate::doctor::{Finding, is_lost};
use crate::servers::visit::Visit;
use crate::trouble::Trouble;

/// The fields of INFO.
pub(super) struct Fields(HashMap<String, String>);

/// The oldest Redis that the tests run with.
const OLDEST: (u32, u32) = (6, 2);

impl Fields {
    /// Asks for them. Where the user may not, that is a finding, and the examination goes on without.
    pub(super) async fn of(
        visit: &mut Visit,
        address: &Address,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Fields>, Trouble> {
        let answer = match visit.ask(&redis::cmd("INFO")).await {
            Ok(answer) => answer,
            Err(trouble) if is_lost(&trouble) || refused_login(address, &trouble).is_some() => return Err(trouble),
            Err(trouble) => {
                let message = format!("version, role, memory and durability are not seen: {trouble}");
                let help = "the store does without; for this examination allow +info +scan +type, or name another user";
                findings.push(Finding::warning("server", message, help));
                return Ok(None);
            }
        };
        let text = match &answer {
            Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::VerbatimString { text, .. } => text.clone(),
            _ => String::new(),
        };
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        Ok(Some(Fields(pairs.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect())))
    }

    #[cfg(test)]
    pub(super) fn told(lines: &[(&str, &str)]) -> Fields {
        Fields(lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name) == Some("1")
    }

    /// What it is, and its own version. Others that speak the language of Redis tell a version of Redis besides.
    pub(super) fn kind(&self) -> (&'static str, Option<&str>) {
        let others = [("Valkey", "valkey_version"), ("Dragonfly", "dragonfly_version"), ("Garnet", "garnet_version")];
        let other = others.into_iter().find_map(|(kind, field)| Some((kind, Some(self.get(field)?))));
        let redis = || {
            let is_keydb = self.get("executable").is_some_and(|program| program.contains("keydb"));
            (if is_keydb { "KeyDB" } else { "Redis" }, self.get("redis_version"))
        };
        other.unwrap_or_else(redis)
    }

    /// Whether it is one that the store was tried with.
    pub(super) fn age(&self) -> Finding {
        let (kind, version) = self.kind();
        let message = format!("{kind} {}", version.unwrap_or("of an unknown version"));
        let mut parts = self.get("redis_version").unwrap_or_default().split('.').map(|part| part.parse().ok());
        match (parts.next().flatten(), parts.next().flatten()) {
            (Some(major), Some(minor)) if (major, minor) < OLDEST => Finding::warning(
                "server",
                format!("{message} is older than {}.{}, the oldest that aforo is tested with", OLDEST.0, OLDEST.1),
                "take a newer one",
            ),
            _ => Finding::ok("server", message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn a_server_is_called_by_its_own_name() {
        for (lines, kind, version) in [
            (&[("redis_version", "7.0.15")][..], "Redis", "7.0.15"),
            (&[("redis_version", "7.2.4"), ("server_name", "valkey"), ("valkey_version", "8.0.1")], "Valkey", "8.0.1"),
            (&[("redis_version", "7.4.0"), ("dragonfly_version", "df-v1.25")], "Dragonfly", "df-v1.25"),
            (&[("redis_version", "6.3.4"), ("executable", "/usr/bin/keydb-server")], "KeyDB", "6.3.4"),
        ] {
            assert_eq!(Fields::told(lines).kind(), (kind, Some(version)));
        }
    }

    #[test]
    fn a_version_that_was_never_tried_is_a_warning() {
        for (version, severity) in [
            ("6.0.16", Severity::Warning),
            ("5.0.7", Severity::Warning),
            ("6.2.0", Severity::Ok),
            ("10.0.0", Severity::Ok),
            ("unknown", Severity::Ok),
        ] {
            assert_eq!(Fields::told(&[("redis_version", version)]).age().severity, severity, "{version}");
        }
    }
}
