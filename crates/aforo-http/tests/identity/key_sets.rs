//! Sets of keys: which one is tried.

use serde_json::{Value, json};

use crate::stand::{SECRET, Stand, by_rsa, by_secret, jwt, key_set, part, rsa_member};

const ANA: &str = r#"{"sub":"ana","exp":1800000000}"#;

/// A symmetric key of that name.
fn symmetric(name: &str, secret: &[u8]) -> Value {
    json!({ "kty": "oct", "kid": name, "k": part(str::from_utf8(secret).unwrap()) })
}

fn known(members: Value, token: &str) -> bool {
    Stand::jwt(jwt(key_set(members))).user(token).is_some()
}

#[test]
fn the_key_that_is_named_is_the_one_that_is_tried() {
    let other = b"another secret that is long enough to be one";
    let set = json!([symmetric("old", SECRET), symmetric("new", other)]);
    for (name, secret, good) in [
        ("old", &SECRET[..], true),
        ("new", other, true),
        ("old", other, false),
        ("new", SECRET, false),
        ("newer", SECRET, false),
    ] {
        let token = by_secret(secret, &json!({ "alg": "HS256", "kid": name }).to_string(), ANA);
        assert_eq!(known(set.clone(), &token), good, "{name}");
    }
}

#[test]
fn a_token_that_names_no_key_is_tried_with_all_that_fit() {
    let other = b"another secret that is long enough to be one";
    let set = json!([rsa_member(), symmetric("a", other), symmetric("b", SECRET)]);
    assert!(known(set.clone(), &by_secret(SECRET, r#"{"alg":"HS256"}"#, ANA)));
    assert!(known(set, &by_rsa(r#"{"alg":"RS256"}"#, ANA)));
}

#[test]
fn a_key_without_a_name_may_be_the_one_that_is_meant() {
    assert!(known(json!([rsa_member()]), &by_rsa(r#"{"alg":"RS256","kid":"any"}"#, ANA)));
}

#[test]
fn where_more_than_eight_keys_fit_a_token_must_name_its_own() {
    let mut set: Vec<Value> = (0..7).map(|n| symmetric(&n.to_string(), &[b'0' + n; 32])).collect();
    set.push(symmetric("own", SECRET));
    let unnamed = by_secret(SECRET, r#"{"alg":"HS256"}"#, ANA);
    assert!(known(json!(set), &unnamed));
    set.push(symmetric("ninth", &[b'9'; 32]));
    assert!(!known(json!(set), &unnamed));
    assert!(known(json!(set), &by_secret(SECRET, r#"{"alg":"HS256","kid":"own"}"#, ANA)));
}

#[test]
fn keys_for_something_else_are_passed_over() {
    let mut encrypting = rsa_member();
    encrypting["use"] = "enc".into();
    let mut wrapping = rsa_member();
    wrapping["alg"] = "RSA-OAEP".into();
    let mut signing = rsa_member();
    signing["key_ops"] = json!(["sign"]);
    let unknown = [
        json!({ "kty": "EC", "crv": "P-521", "x": "AA", "y": "AA" }),
        json!({ "kty": "OKP", "crv": "X25519", "x": "AA" }),
        json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA" }),
        json!({}),
    ];
    let token = by_rsa(r#"{"alg":"RS256"}"#, ANA);
    for member in [encrypting, wrapping, signing].into_iter().chain(unknown) {
        let set = json!([member, symmetric("a", SECRET)]);
        assert!(!known(set, &token), "{member}");
    }
    let mut verifying = rsa_member();
    verifying["key_ops"] = json!(["sign", "verify"]);
    verifying["use"] = "sig".into();
    assert!(known(json!([verifying]), &token));
}
