use super::*;

/// RFC 8037 appendix A.4, whose payload is a sentence and no JSON: the signature verifies, and it is no token.
#[test]
fn the_ed25519_example_of_the_standard_verifies() {
    let token = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
        hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let set = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    let [key] = jwks::read(set).unwrap().try_into().ok().unwrap();
    let (signed, signature) = cut_last(token).unwrap();
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
    assert!(key.verifies(Algorithm::EdDsa, signed, &signature));
    assert!(!key.verifies(Algorithm::EdDsa, b"another sentence", &signature));
    assert!(!key.verifies(Algorithm::Es256, signed, &signature));
}

/// Each reason is found before the work that would not change it.
#[test]
fn a_token_is_refused_for_the_reason_that_costs_least() {
    let issuer = Issuer::new(&Jwt {
        key: JwtKey::Secret(vec![7; 32]),
        claim: "sub".to_owned(),
        plan: None,
        issuer: Some("id".to_owned()),
        audience: Some("api".to_owned()),
        leeway: std::time::Duration::ZERO,
    })
    .unwrap();
    let said = |head: &str, claims: &str| {
        let part = |json: &str| BASE64_URL_SAFE_NO_PAD.encode(json);
        issuer.verify(format!("{}.{}.AAAA", part(head), part(claims)).as_bytes(), Moment::from_millis(5_000)).err()
    };
    let head = r#"{"alg":"HS256"}"#;
    for (head, claims, reason) in [
        ("[]", "", Rejection::NoHead),
        (r#"{"alg":"none"}"#, "", Rejection::Algorithm),
        (r#"{"alg":"HS256","crit":["x"]}"#, "", Rejection::Extension),
        (r#"{"alg":"RS256"}"#, "", Rejection::NoKey),
        (head, "[]", Rejection::NoBody),
        (head, "{}", Rejection::Issuer),
        (head, r#"{"iss":"id"}"#, Rejection::Audience),
        (head, r#"{"iss":"id","aud":"api"}"#, Rejection::NoExpiry),
        (head, r#"{"iss":"id","aud":"api","exp":5}"#, Rejection::Expired),
        (head, r#"{"iss":"id","aud":"api","exp":6,"nbf":6}"#, Rejection::NotYet),
        (head, r#"{"iss":"id","aud":"api","exp":6,"nbf":5}"#, Rejection::NoUser),
        (head, r#"{"iss":"id","aud":"api","exp":6,"sub":"ana"}"#, Rejection::Signature),
    ] {
        assert_eq!(said(head, claims), Some(reason), "{head} {claims}");
    }
    assert_eq!(issuer.verify(b"token", Moment::EPOCH).err(), Some(Rejection::NotThreeParts));
}
