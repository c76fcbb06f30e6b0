//! JSON Web Tokens (RFC 7519), signed (RFC 7515).
//!
//! The *key* says by which algorithms a token may be signed; the token only says which of them it was. So a token
//! without a signature never verifies, nor does one that is signed with a public key as if it were a secret. Nothing that
//! a token brings along is a key, and one that demands an extension is refused, since none is known here.
//!
//! What costs least is looked at first: a token that has expired, or is for somebody else, costs no signature. Who makes up
//! signatures soon finds that none is verified any more ([`patience`]).

mod algorithm;
mod claims;
mod der;
mod jwks;
mod key;
mod patience;
mod pem;
mod rejection;

use std::fmt;
use std::net::IpAddr;

use aforo_core::Moment;
use aforo_policy::{Identity, Jwt, JwtKey, OnlyLine};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::Now;
use super::credential::bearer;
use super::invalid::Flaw;
use super::remembered::Remembered;
use algorithm::Algorithm;
use claims::Claims;
use key::Key;
use patience::Patience;
use rejection::Rejection;

/// The most bytes of a token: what servers take for one line of a header.
const LONGEST: usize = 8192;
/// How many keys a token that names none is tried with. Each is as much work as a signature.
const TRIES: usize = 8;

/// Issuers that follow one another in a policy, and what they have said.
pub(super) struct Tokens {
    issuers: Vec<Issuer>,
    remembered: Remembered,
    patience: Patience,
}

/// Whoever signs tokens with these keys.
struct Issuer {
    keys: Vec<Key>,
    claims: Claims,
}

/// What a token says of itself before it is verified.
struct Head {
    algorithm: Algorithm,
    /// The key that signed it, by its name.
    key: Option<String>,
}

/// Who it is, and until when that holds.
struct Verified {
    identity: Identity,
    until: Moment,
}

impl Tokens {
    pub(super) fn new(jwt: &Jwt) -> Result<Tokens, Flaw> {
        Ok(Tokens { issuers: vec![Issuer::new(jwt)?], remembered: Remembered::new(), patience: Patience::new() })
    }

    pub(super) fn add(&mut self, jwt: &Jwt) -> Result<(), Flaw> {
        self.issuers.push(Issuer::new(jwt)?);
        Ok(())
    }

    /// Whose token the request shows.
    pub(super) fn identify(&self, line: &OnlyLine<'_>, address: Option<IpAddr>, clock: &Now) -> Option<Identity> {
        let token = bearer(line).filter(|token| token.len() <= LONGEST)?;
        let now = clock.now();
        self.remembered.recall(token, now).or_else(|| self.verify(token, address, now))
    }

    /// What becomes of the token that the request shows.
    pub(super) fn step(&self, line: &OnlyLine<'_>, clock: &Now) -> Result<String, String> {
        let Some(token) = bearer(line) else {
            return Err("jwt: there is no bearer token, or more than one".to_owned());
        };
        if token.len() > LONGEST {
            return Err(format!("jwt: it is longer than {LONGEST} bytes"));
        }
        let mut refused = Vec::new();
        for issuer in &self.issuers {
            match issuer.verify(token, clock.now()) {
                Ok(verified) => return Ok(format!("jwt: it is a token of {}", verified.identity.user)),
                Err(rejection) => refused.push(format!("jwt: {rejection}")),
            }
        }
        Err(refused.join(", "))
    }

    #[cold]
    fn verify(&self, token: &[u8], address: Option<IpAddr>, now: Moment) -> Option<Identity> {
        if self.patience.is_lost(address, now) {
            return None;
        }
        for issuer in &self.issuers {
            match issuer.verify(token, now) {
                Ok(Verified { identity, until }) => {
                    self.remembered.remember(token, &identity, until, now);
                    return Some(identity);
                }
                Err(Rejection::Signature) => self.patience.wear(address, now),
                Err(_) => {}
            }
        }
        None
    }
}

impl Issuer {
    fn new(jwt: &Jwt) -> Result<Issuer, Flaw> {
        let keys = match &jwt.key {
            JwtKey::Secret(secret) => vec![Key::secret(secret)?],
            JwtKey::Pem(text) => vec![pem::read(text)?],
            JwtKey::Jwks(text) => jwks::read(text)?,
        };
        Ok(Issuer { keys, claims: Claims::new(jwt) })
    }

    fn verify(&self, token: &[u8], now: Moment) -> Result<Verified, Rejection> {
        let (signed, signature) = cut_last(token).ok_or(Rejection::NotThreeParts)?;
        let (head, body) = cut_last(signed).ok_or(Rejection::NotThreeParts)?;
        let head = Head::of(&object(head).ok_or(Rejection::NoHead)?)?;
        let mut fitting = self.keys.iter().filter(|key| key.fits(head.algorithm, head.key.as_deref()));
        let tried: Vec<&Key> = fitting.by_ref().take(TRIES).collect();
        if tried.is_empty() {
            return Err(Rejection::NoKey);
        }
        if fitting.next().is_some() {
            return Err(Rejection::NamesNoKey);
        }
        let verified = self.claims.look(&object(body).ok_or(Rejection::NoBody)?, now)?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| Rejection::Signature)?;
        if tried.iter().any(|key| key.verifies(head.algorithm, signed, &signature)) {
            Ok(verified)
        } else {
            Err(Rejection::Signature)
        }
    }
}

impl Head {
    fn of(object: &Map<String, Value>) -> Result<Head, Rejection> {
        if object.contains_key("crit") {
            return Err(Rejection::Extension);
        }
        let algorithm = object.get("alg").and_then(Value::as_str).and_then(Algorithm::named);
        let key = match object.get("kid") {
            None => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(_) => return Err(Rejection::NoHead),
        };
        Ok(Head { algorithm: algorithm.ok_or(Rejection::Algorithm)?, key })
    }
}

/// What is before the last dot, and after it.
fn cut_last(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = text.iter().rposition(|byte| *byte == b'.')?;
    Some((text.get(..dot)?, text.get(dot + 1..)?))
}

/// The JSON object in one part of a token.
fn object(part: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: usize = self.issuers.iter().map(|issuer| issuer.keys.len()).sum();
        write!(f, "Tokens({} issuers, {keys} keys)", self.issuers.len())
    }
}

#[cfg(test)]
mod tests;
