//! Several proofs: the first that verifies.

use aforo_http::identity::compile;
use aforo_policy::{JwtKey, Proof};

use crate::api_keys::{key, keys};
use crate::stand::{RSA_PEM, Stand, by_rsa, jwt, secret, token};

const ANA: &str = r#"{"sub":"ana","exp":1800000000}"#;

fn by(stand: &Stand, lines: &[(&str, &str)]) -> Option<(String, &'static str)> {
    stand.identity(lines).map(|identity| (identity.user.to_string(), identity.by))
}

#[test]
fn without_proofs_there_is_nothing_to_ask() {
    assert!(compile(&[]).unwrap().is_none());
}

#[test]
fn the_first_proof_that_verifies_wins_and_the_others_are_asked_in_turn() {
    let stand = Stand::of(&[Proof::Jwt(jwt(secret())), keys("x-api-key", vec![key("bea's key", "bea", None)])]);
    let line = format!("Bearer {}", token(ANA));
    assert_eq!(by(&stand, &[("authorization", &line), ("x-api-key", "bea's key")]), Some(("ana".into(), "jwt")));
    assert_eq!(
        by(&stand, &[("authorization", "Bearer x"), ("x-api-key", "bea's key")]),
        Some(("bea".into(), "api_key"))
    );
    assert_eq!(by(&stand, &[("x-api-key", "bea's key")]), Some(("bea".into(), "api_key")));
    assert_eq!(by(&stand, &[("authorization", "Bearer x"), ("x-api-key", "x")]), None);
}

#[test]
fn what_is_remembered_does_not_jump_the_order() {
    let stand = Stand::of(&[
        Proof::Jwt(jwt(secret())),
        keys("x-api-key", vec![key("bea's key", "bea", None)]),
        Proof::Jwt(jwt(JwtKey::Pem(RSA_PEM.to_vec()))),
    ]);
    let line = format!("Bearer {}", by_rsa(r#"{"alg":"RS256"}"#, ANA));
    for _ in 0..2 {
        assert_eq!(by(&stand, &[("authorization", &line)]), Some(("ana".into(), "jwt")));
        assert_eq!(
            by(&stand, &[("authorization", &line), ("x-api-key", "bea's key")]),
            Some(("bea".into(), "api_key"))
        );
    }
}

#[test]
fn tokens_of_two_issuers_are_both_known() {
    let (mut first, mut second) = (jwt(secret()), jwt(secret()));
    first.issuer = Some("one".to_owned());
    second.issuer = Some("two".to_owned());
    second.claim = "user".to_owned();
    let stand = Stand::of(&[Proof::Jwt(first), Proof::Jwt(second)]);
    for _ in 0..2 {
        let claims = |issuer: &str| format!(r#"{{"iss":"{issuer}","sub":"ana","user":"bea","exp":1800000000}}"#);
        assert_eq!(stand.user(&token(&claims("one"))).as_deref(), Some("ana"));
        assert_eq!(stand.user(&token(&claims("two"))).as_deref(), Some("bea"));
        assert_eq!(stand.user(&token(&claims("three"))), None);
    }
}

#[test]
fn nothing_secret_is_printed() {
    let proofs = [
        Proof::Jwt(jwt(secret())),
        keys("x-api-key", vec![key("bea's key", "bea", None)]),
        Proof::Header("x-user-id".into()),
    ];
    let identify = compile(&proofs).unwrap().unwrap();
    let line = format!("Bearer {}", token(r#"{"sub":"ana","exp":9999999999}"#));
    assert!(identify.identify(&|name| (name == "authorization").then_some(line.as_bytes()), None, false).is_some());
    let printed = format!("{identify:?}{identify:#?}{proofs:?}");
    for secret in ["an HMAC", "97, 110, 32, 72", "eyJ", "bea", "ana"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}
