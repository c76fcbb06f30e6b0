//! Who is it? What a file says about proof.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::mistake::{Found, Place};
use super::node::{Node, Value};
use super::surroundings::Surroundings;
use super::{beside, conform, fields, node, text};
use crate::{ApiKey, ApiKeys, Identify, Invalid, InvalidProof, Jwt, JwtKey, Proof};

/// How far clocks may differ unless the file says otherwise.
const LEEWAY: Duration = Duration::from_secs(60);
/// The header of API keys unless the file says otherwise.
const API_KEY: &str = "x-api-key";
/// What a token may be verified with.
const KEYS: [&str; 3] = ["jwks_file", "secret", "pem_file"];

/// How a file of API keys begins.
const BEGINNING: &str = "write for each key: - { sha256: HEX, user: NAME, plan: NAME }";

/// The ways of proving who one is, in order, and what they are verified by.
pub(super) fn proofs(
    file: &Node,
    around: &dyn Surroundings,
    found: &mut Found<'_>,
) -> (Vec<Proof>, Option<Arc<dyn Identify>>) {
    let listed = file.get("identity").map_or(&[][..], Node::items);
    let (nodes, proofs): (Vec<&Node>, Vec<Proof>) =
        listed.iter().filter_map(|node| Some((node, proof(node, around, found)?))).unzip();
    let identify = around.identify(&proofs).unwrap_or_else(|invalid| {
        for InvalidProof { proof, message, help } in invalid {
            let place = nodes.get(proof).map_or(file.place, |node| told_at(node));
            found.add(place, message, help);
        }
        None
    });
    (proofs, identify)
}

/// Where a proof says what it is verified with.
fn told_at(node: &Node) -> Place {
    let said = node.entries().first().map(|entry| &entry.value);
    let with = said
        .and_then(|said| ["secret", "pem_file", "jwks_file", "keys_file", "name"].iter().find_map(|key| said.get(key)));
    with.unwrap_or(node).place
}

fn proof(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Proof> {
    let [entry] = node.entries() else {
        if matches!(node.value, Value::Map(_)) {
            let message = format!("a proof is one of jwt, api_key and header, and here are {}", node.entries().len());
            found.add(node.place, message, "begin each with a `- ` of its own");
        }
        return None;
    };
    match entry.key.as_str() {
        "jwt" => jwt(&entry.value, around, found).map(Proof::Jwt),
        "api_key" => api_keys(&entry.value, around, found).map(Proof::ApiKey),
        "header" => Some(Proof::Header(entry.value.get("name")?.text()?.to_ascii_lowercase().into())),
        _ => None,
    }
}

fn jwt(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Jwt> {
    let said = |key| node.get(key).and_then(Node::text);
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| node.get(key).is_some()).collect();
    let [kind] = keys[..] else {
        if matches!(node.value, Value::Map(_)) {
            let here = if keys.is_empty() { "none".to_owned() } else { keys.join(" and ") };
            let message = format!("a token is verified with one of jwks_file, secret and pem_file, and here is {here}");
            found.add(node.place, message, "say one of them; other keys are proofs of their own");
        }
        return None;
    };
    let key = match (kind, node.get(kind)?) {
        ("secret", secret) => JwtKey::Secret(secret.text()?.as_bytes().to_vec()),
        ("pem_file", file) => JwtKey::Pem(beside::bytes(file, around, found)?),
        (_, file) => JwtKey::Jwks(beside::bytes(file, around, found)?),
    };
    Some(Jwt {
        key,
        claim: said("claim").unwrap_or("sub").to_owned(),
        plan: said("plan").map(str::to_owned),
        issuer: said("issuer").map(str::to_owned),
        audience: said("audience").map(str::to_owned),
        leeway: said("leeway").and_then(|text| text::leeway(text).ok()).unwrap_or(LEEWAY),
    })
}

fn api_keys(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<ApiKeys> {
    let file = node.get("keys_file")?;
    let text = beside::text(file, around, found)?;
    let mut within = Found::in_secret();
    let keys = keys(&text, around, &mut within);
    found.take_in(file.text()?, within);
    let header = node.get("header").and_then(Node::text).unwrap_or(API_KEY);
    Some(ApiKeys { header: header.to_ascii_lowercase().into(), keys })
}

/// The keys that a file lists.
fn keys(text: &str, around: &dyn Surroundings, found: &mut Found<'_>) -> Vec<ApiKey> {
    let Some(list) = node::read(text, &|name| around.value(name), BEGINNING, found) else { return Vec::new() };
    if !matches!(list.value, Value::List(_)) {
        let message = format!("a file of API keys is a list, and here is {}", list.kind());
        found.add(list.place, message, BEGINNING);
        return Vec::new();
    }
    let mut known: HashMap<[u8; 32], Place> = HashMap::new();
    let mut keys = Vec::new();
    for node in list.items() {
        conform::map(&fields::API_KEY, node, found);
        let said = |key| node.get(key).and_then(Node::text);
        let (Some(digest), Some(user)) = (said("sha256").and_then(|text| sha256(text).ok()), said("user")) else {
            continue;
        };
        if let Some(first) = known.insert(digest, node.place) {
            let message = format!("this key stands in the list already, on line {}", first.line);
            found.add(node.place, message, "keep one of them");
            continue;
        }
        keys.push(ApiKey { sha256: digest, user: user.to_owned(), plan: said("plan").map(str::to_owned) });
    }
    keys
}

/// A SHA-256 in hexadecimal. What is none may be a key itself, so it is not repeated.
pub(super) fn sha256(text: &str) -> Result<[u8; 32], Invalid> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut digest = [0; 32];
    let mut pairs = text.as_bytes().chunks_exact(2);
    for (byte, pair) in digest.iter_mut().zip(&mut pairs) {
        match pair.iter().copied().map(digit).collect::<Option<Vec<u8>>>().as_deref() {
            Some([high, low]) => *byte = high << 4 | low,
            _ => return Err(no_sha256()),
        }
    }
    if text.len() == 64 { Ok(digest) } else { Err(no_sha256()) }
}

fn no_sha256() -> Invalid {
    Invalid::new(
        "this is no SHA-256",
        "write its 64 hexadecimal digits, as `printf %s KEY | sha256sum` does: the key itself belongs to its user alone",
    )
}
