//! Keys that are known by their SHA-256.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use aforo_policy::{ApiKeys, Identity, OnlyLine};
use sha2::{Digest as _, Sha256};

use super::credential::{bearer, shown};
use super::invalid::Flaw;
use super::name::name;

/// The most bytes of a key. What is longer is none, and is not worth hashing.
const LONGEST: usize = 1024;

/// The keys of a policy, by their SHA-256.
///
/// Nobody learns a key from how long a look-up takes: what is compared are digests, found by a keyed hash, and from a
/// digest no way leads back to a key but guessing it whole.
pub(super) struct KnownKeys {
    header: Box<str>,
    owners: HashMap<[u8; 32], Identity>,
}

impl KnownKeys {
    pub(super) fn new(keys: &ApiKeys) -> Result<KnownKeys, Flaw> {
        let header = http::HeaderName::from_bytes(keys.header.as_bytes()).map_err(|_| {
            let help = "use letters, digits and hyphens, as in `x-api-key`";
            Flaw::new(format!("`{}` is no name of a header", keys.header), help)
        })?;
        let mut owners: HashMap<[u8; 32], Identity> = HashMap::with_capacity(keys.keys.len());
        for (at, key) in (1..).zip(&keys.keys) {
            let named = |text: &str, whom| match name(text) {
                Ok(name) => Ok(Arc::from(name)),
                Err(no_name) => Err(no_name.flaw(whom).within(format_args!("key {at}"))),
            };
            let user = named(&key.user, "user")?;
            let plan = key.plan.as_deref().map(|plan| named(plan, "plan")).transpose()?;
            match owners.entry(key.sha256) {
                Entry::Vacant(vacant) => drop(vacant.insert(Identity { user, plan, by: "api_key" })),
                Entry::Occupied(owned) => {
                    let message = format!("key {at}, of `{user}`, is already the key of `{}`", owned.get().user);
                    return Err(Flaw::new(message, "give each key to one user, once"));
                }
            }
        }
        Ok(KnownKeys { header: header.as_str().into(), owners })
    }

    /// Whose key the request shows.
    pub(super) fn identify(&self, line: &OnlyLine<'_>) -> Option<Identity> {
        self.owner(self.shown(line)?).cloned()
    }

    /// What becomes of the key that the request shows.
    pub(super) fn step(&self, line: &OnlyLine<'_>) -> Result<String, String> {
        let header = &self.header;
        match self.shown(line).map(|key| self.owner(key)) {
            Some(Some(owner)) => Ok(format!("api_key: {header} is the key of {}", owner.user)),
            Some(None) => Err(format!("api_key: {header} is none of the known keys")),
            None => Err(format!("api_key: there is no {header}, or more than one")),
        }
    }

    fn shown<'r>(&self, line: &OnlyLine<'r>) -> Option<&'r [u8]> {
        if &*self.header == "authorization" { bearer(line) } else { shown(line, &self.header) }
    }

    fn owner(&self, key: &[u8]) -> Option<&Identity> {
        let digest = || <[u8; 32]>::from(Sha256::digest(key));
        if key.len() <= LONGEST { self.owners.get(&digest()) } else { None }
    }
}

impl fmt::Debug for KnownKeys {
    /// Without the digests: a weak key could be guessed from one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownKeys({}, {} keys)", self.header, self.owners.len())
    }
}
