//! A set of keys (RFC 7517).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::super::invalid::Flaw;
use super::algorithm::{Algorithm, Curve};
use super::key::Key;

/// Reads the keys that verify. Keys for something else, and of kinds that are not known, are passed over, as section 5
/// of the RFC says; one that is known and damaged is a mistake.
pub(super) fn read(text: &[u8]) -> Result<Vec<Key>, Flaw> {
    let help = "give a JSON Web Key Set: { \"keys\": [ … ] }";
    let set: Value = serde_json::from_slice(text)
        .map_err(|error| Flaw::new(format!("the key set is not JSON, at line {}", error.line()), help))?;
    let listed = set.get("keys").and_then(Value::as_array).ok_or_else(|| Flaw::new("there is no list `keys`", help))?;
    let mut keys = Vec::new();
    for (at, listed) in (1..).zip(listed) {
        let member = listed.as_object().ok_or_else(|| Flaw::new(format!("key {at} is no JSON object"), help))?;
        let named = text_of(member, "kid").map(|name| format!(" (`{}`)", name.escape_debug())).unwrap_or_default();
        keys.extend(key(member).map_err(|flaw| flaw.within(format_args!("key {at}{named}")))?);
    }
    if keys.is_empty() {
        let help = "give RSA, P-256, P-384, Ed25519 or symmetric keys whose `use` is `sig`";
        return Err(Flaw::new(format!("none of the {} keys verifies signatures", listed.len()), help));
    }
    Ok(keys)
}

/// The key, if it is one that verifies.
fn key(member: &Map<String, Value>) -> Result<Option<Key>, Flaw> {
    let verifies = text_of(member, "use").is_none_or(|purpose| purpose == "sig")
        && member.get("key_ops").and_then(Value::as_array).is_none_or(|all| all.iter().any(|one| one == "verify"));
    if !verifies {
        return Ok(None);
    }
    let mut key = match (text_of(member, "kty"), text_of(member, "crv")) {
        (Some("oct"), _) => Key::secret(&bytes(member, "k")?)?,
        (Some("RSA"), _) => Key::rsa(&public(member, "n")?, &bytes(member, "e")?)?,
        (Some("EC"), Some("P-256")) => Key::point(Curve::P256, &uncompressed(member)?)?,
        (Some("EC"), Some("P-384")) => Key::point(Curve::P384, &uncompressed(member)?)?,
        (Some("OKP"), Some("Ed25519")) => Key::point(Curve::Ed25519, &public(member, "x")?)?,
        _ => return Ok(None),
    };
    key.name = text_of(member, "kid").map(str::to_owned);
    key.only = match member.get("alg") {
        None => None,
        Some(name) => match name.as_str().and_then(Algorithm::named) {
            // It is for another purpose: RSA keys are also for encryption.
            None => return Ok(None),
            Some(only) if !key.works_with(only) => {
                return Err(Flaw::new(format!("`alg` is {name}, which is for another kind of key"), "correct `alg`"));
            }
            only => only,
        },
    };
    Ok(Some(key))
}

fn uncompressed(member: &Map<String, Value>) -> Result<Vec<u8>, Flaw> {
    Ok([vec![4], public(member, "x")?, bytes(member, "y")?].concat())
}

/// A part of a public key, refused where the private part stands beside it.
fn public(member: &Map<String, Value>, name: &str) -> Result<Vec<u8>, Flaw> {
    if member.contains_key("d") {
        let help = "take `d` and the other private parts out: whoever only verifies should not have them";
        return Err(Flaw::new("this is a private key", help));
    }
    bytes(member, name)
}

fn bytes(member: &Map<String, Value>, name: &str) -> Result<Vec<u8>, Flaw> {
    let read = text_of(member, name).and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok());
    read.ok_or_else(|| {
        Flaw::new(format!("`{name}` is missing, or not base64url without padding"), "export the key set again")
    })
}

fn text_of<'m>(member: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    member.get(name).and_then(Value::as_str)
}
