//! Subjects: the partition values' part of a key.
//!
//! A subject is text that a person can read: `ip:203.0.113.7`, or `host:api.example,user:alice`. No two different lists
//! of values give the same text: each value is named by its kind, and within a value the comma, the percent sign and what
//! cannot be printed are escaped. A subject too long for the key becomes `#` and a digest of that text.
//!
//! What a client sends in a header, a cookie or the query may be a secret, and keys lie in stores, in logs and on pages. So
//! of these a subject holds a digest alone.

mod text;

use aforo_core::Key;

use crate::digest::Digest;
use crate::{Clients, Describe, Fact, Partition, Route, Scope, UNMATCHED, WhenMissing};
use text::Text;

/// What became of a partition's values.
pub(crate) enum Subject {
    /// They name this counter.
    Counter(Key),
    /// One is missing, and the rule does without the request.
    Skipped,
    /// The one at this place is missing, and the rule does not let that pass.
    Missing(u8),
}

/// The counter of a request under a rule.
#[inline]
pub(crate) fn subject(
    scope: &Scope,
    partition: &Partition,
    when_missing: WhenMissing,
    clients: &Clients,
    route: Option<&Route>,
    request: &impl Describe,
) -> Subject {
    let mut text = Text::beside(scope);
    for (at, fact) in (0_u8..).zip(partition.facts()) {
        if at > 0 {
            text.push(b",");
        }
        if push_fact(&mut text, fact, clients, route, request) {
            continue;
        }
        match (when_missing, request.address()) {
            (WhenMissing::Skip, _) => return Subject::Skipped,
            (WhenMissing::Ip, Some(address)) => {
                text.push(b"none:");
                text.push_address(address, clients);
            }
            // Nothing can stand in for an address.
            (WhenMissing::Ip, None) | (WhenMissing::Deny, _) => return Subject::Missing(at),
        }
    }
    text.name(scope).map_or(Subject::Skipped, Subject::Counter)
}

/// Writes a fact; `false` if the request lacks it. One that is empty is missing: else all who send nothing would share a
/// counter.
#[inline]
fn push_fact(text: &mut Text, fact: &Fact, clients: &Clients, route: Option<&Route>, request: &impl Describe) -> bool {
    let user = || request.identity().map(|identity| &*identity.user);
    match fact {
        Fact::Ip => text.push_client(request.address(), clients),
        Fact::Client => text.push_value(b"user:", user()) || text.push_client(request.address(), clients),
        Fact::User => text.push_value(b"user:", user()),
        Fact::Plan => text.push_value(b"plan:", request.identity().and_then(|identity| identity.plan.as_deref())),
        Fact::Route => text.push_value(b"route:", Some(route.map_or(UNMATCHED, Route::name))),
        // Whoever tries paths at random finds no counter that is new. No path is called like this.
        Fact::Path => text.push_value(b"path:", Some(route.map_or(UNMATCHED, |_| request.path()))),
        Fact::Host => text.push_value(b"host:", request.host()),
        Fact::Header(name) => push_header(text, request.header(name)),
        Fact::Cookie(name) => push_sent(text, b"cookie:", request.cookie(name), |value| value),
        Fact::Query(name) => push_sent(text, b"query:", request.query(name), |value| value.as_bytes()),
        Fact::Everyone => {
            text.push(b"everyone");
            true
        }
    }
}

/// Lines of one header are one value, as if they had been joined (RFC 9110, section 5.3).
fn push_header<'a>(text: &mut Text, lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut digest = None;
    for line in lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        match &mut digest {
            None => digest.insert(Digest::new()),
            Some(digest) => {
                digest.update(b", ");
                digest
            }
        }
        .update(line);
    }
    text.push_digest(b"header:", digest)
}

/// The values of a name that was sent more than once are one value. Nobody knows which of them a server takes.
fn push_sent<V>(text: &mut Text, kind: &[u8], values: impl Iterator<Item = V>, bytes: impl Fn(&V) -> &[u8]) -> bool {
    let mut digest = None;
    for value in values {
        let value = bytes(&value);
        if value.is_empty() {
            continue;
        }
        let digest = digest.get_or_insert_with(Digest::new);
        // With its length before it, no value can be taken for two.
        digest.update(&(value.len() as u64).to_le_bytes());
        digest.update(value);
    }
    text.push_digest(kind, digest)
}

#[cfg(test)]
mod tests;
