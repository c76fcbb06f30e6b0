//! What a policy may not say, and what it is told.

use aforo_policy::{JwtKey, Proof};
use serde_json::{Value, json};

use crate::api_keys::{key, keys};
use crate::stand::{RSA_PEM, SECRET, jwt, key_set, mistakes, part, rsa_member, secret};

/// What is said about one proof.
fn mistake(proof: Proof) -> String {
    let [mistake] = mistakes(&[proof]).try_into().unwrap();
    assert_eq!(mistake.proof, 0);
    assert!(!mistake.help.is_empty());
    mistake.to_string()
}

fn of_key(key: JwtKey) -> String {
    mistake(Proof::Jwt(jwt(key)))
}

fn of_pem(text: impl AsRef<[u8]>) -> String {
    of_key(JwtKey::Pem(text.as_ref().to_vec()))
}

fn of_members(members: Value) -> String {
    of_key(key_set(members))
}

#[track_caller]
fn says(mistake: &str, what: &str) {
    assert!(mistake.contains(what), "{mistake}");
}

#[test]
fn a_secret_that_can_be_guessed_is_refused_and_not_shown() {
    let told = of_key(JwtKey::Secret(b"hunter2".to_vec()));
    says(&told, "the secret has 7 bytes");
    assert!(!told.contains("hunter2"));
    says(&of_key(JwtKey::Secret(SECRET[..31].to_vec())), "31 bytes");
    says(&of_members(json!([{ "kty": "oct", "k": part("short") }])), "key 1: the secret has 5 bytes");
}

#[test]
fn a_pem_file_holds_one_public_key() {
    says(&of_pem(""), "there is no key");
    says(&of_pem("keys.json"), "there is no key");
    says(&of_pem(include_bytes!("keys/rsa.key")), "private key");
    says(&of_pem(include_bytes!("keys/p521.pem")), "use RSA, P-256, P-384 or Ed25519");
    says(&of_pem(include_bytes!("keys/rsa1024.pem")), "has 1024 bits");
    says(&of_pem([RSA_PEM, include_bytes!("keys/p256.pem")].concat()), "2 things");
    says(&of_pem(&RSA_PEM[..200]), "damaged");
    says(&of_pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), "damaged");
    says(&of_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "cannot be read");
    says(&of_pem("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"), "something else");
}

#[test]
fn a_key_set_holds_keys_that_verify() {
    says(&of_key(JwtKey::Jwks(b"{".to_vec())), "not JSON, at line 1");
    says(&of_key(JwtKey::Jwks(rsa_member().to_string().into_bytes())), "no list `keys`");
    says(&of_members(json!({})), "no list `keys`");
    says(&of_members(json!([])), "none of the 0 keys");
    says(&of_members(json!(["RSA"])), "key 1 is no JSON object");
    says(&of_members(json!([{ "kty": "EC", "crv": "P-521" }])), "none of the 1 keys");
}

#[test]
fn a_key_that_is_damaged_is_named() {
    let changed = |name: &str, value: Value| {
        let mut member = rsa_member();
        member["kid"] = "2027".into();
        member[name] = value;
        of_members(json!([rsa_member(), member]))
    };
    says(&changed("n", Value::Null), "key 2 (`2027`): `n` is missing");
    says(&changed("n", "AQAB==".into()), "`n` is missing, or not base64url");
    says(&changed("n", "AQAB".into()), "the RSA key has 24 bits");
    says(&changed("e", "AQ".into()), "those of no key");
    says(&changed("e", "BA".into()), "those of no key");
    says(&changed("d", "AQAB".into()), "this is a private key");
    says(&changed("alg", "ES256".into()), "another kind of key");
    says(&of_members(json!([{ "kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB" }])), "no point");
    says(&of_members(json!([{ "kty": "OKP", "crv": "Ed25519", "x": "AQAB" }])), "no point");
}

#[test]
fn api_keys_have_one_owner_with_a_name() {
    says(&mistake(keys("x api key", vec![])), "no name of a header");
    says(&mistake(keys("x-api-key", vec![key("a", "", None)])), "key 1: the name of the user is empty");
    says(
        &mistake(keys("x-api-key", vec![key("a", "ana", Some("a\nb"))])),
        "the name of the plan holds a control character",
    );
    let long = "a".repeat(257);
    says(&mistake(keys("x-api-key", vec![key("a", &long, None)])), "too long");
    let twice = vec![key("a", "ana", None), key("b", "bea", None), key("a", "bea", None)];
    says(&mistake(keys("x-api-key", twice)), "key 3, of `bea`, is already the key of `ana`");
}

#[test]
fn a_header_has_the_name_of_a_header() {
    says(&mistake(Proof::Header("x user".into())), "no name of a header");
    says(&mistake(Proof::Header("".into())), "no name of a header");
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let proofs = [
        Proof::Header("".into()),
        Proof::Jwt(jwt(secret())),
        Proof::Jwt(jwt(JwtKey::Secret(vec![]))),
        keys("", vec![]),
    ];
    let places: Vec<usize> = mistakes(&proofs).iter().map(|mistake| mistake.proof).collect();
    assert_eq!(places, [0, 2, 3]);
    says(&mistakes(&proofs)[1].to_string(), "proof 3: the secret has 0 bytes");
}
