//! Every algorithm, with keys and tokens that others have made.

use aforo_policy::JwtKey;
use serde_json::json;

use crate::stand::{SECRET, Stand, by_secret, jwt, key_set, openssl_token, rsa_member, secret};

/// The payload of the tokens in RFC 7515 appendix A: `iss` is `joe`, and `exp` this.
const RFC_EXPIRY: u64 = 1_300_819_380;
const RFC_HS256: &str = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const RFC_RS256: &str = "eyJhbGciOiJSUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQj\
    bKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZ\
    ESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
const RFC_ES256: &str = "eyJhbGciOiJFUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

#[test]
fn the_tokens_of_the_standard_verify_with_its_keys_and_with_no_other() {
    let hmac = json!({ "kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow" });
    let ec = json!({ "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" });
    let keys = [hmac, rsa_member(), ec];
    let tokens = [RFC_HS256, RFC_RS256, RFC_ES256];
    for (at, key) in keys.iter().enumerate() {
        let mut issuer = jwt(key_set(json!([key])));
        issuer.claim = "iss".to_owned();
        let stand = Stand::jwt(issuer).at(RFC_EXPIRY - 1);
        for (of, token) in tokens.iter().enumerate() {
            assert_eq!(stand.user(token), (at == of).then(|| "joe".to_owned()), "key {at}, token {of}");
        }
    }
}

#[test]
fn a_token_of_every_algorithm_verifies_with_its_key_alone() {
    let pem = |text: &[u8]| JwtKey::Pem(text.to_vec());
    let ed = json!([{ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }]);
    let p384 = json!([{ "kty": "EC", "crv": "P-384", "x": "BBRIr8RYt1OQcHSNYj6znefC5VnjekYErpnnAl_SiFPDB8rzNdKMZbgVxMTJ7GBD",
        "y": "r_0KmukZLYFd7cc0DvGEVbDwmbLqog0l8-ayWgw1LZWkgRqL2_yJ6ifPBkIcKgUP" }]);
    #[rustfmt::skip]
    let keys: [(&str, JwtKey, &[&str]); 10] = [
        ("a secret", secret(), &["HS256", "HS384", "HS512"]),
        ("RSA in PEM", pem(include_bytes!("keys/rsa.pem")), &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
        ("RSA in a certificate", pem(include_bytes!("keys/rsa.crt")), &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
        ("RSA in a set", key_set(json!([rsa_member()])), &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
        ("P-256 in PEM", pem(include_bytes!("keys/p256.pem")), &["ES256"]),
        ("P-256 in a certificate", pem(include_bytes!("keys/p256.crt")), &["ES256"]),
        ("P-384 in PEM", pem(include_bytes!("keys/p384.pem")), &["ES384"]),
        ("P-384 in a set", key_set(p384), &["ES384"]),
        ("Ed25519 in PEM", pem(include_bytes!("keys/ed25519.pem")), &["EdDSA", "Ed25519"]),
        ("Ed25519 in a set", key_set(ed), &["EdDSA", "Ed25519"]),
    ];
    let all = ["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384"];
    for (what, key, own) in keys {
        let stand = Stand::jwt(jwt(key));
        for algorithm in all.iter().chain(&["EdDSA", "Ed25519"]) {
            let expected = own.contains(algorithm).then(|| "ana".to_owned());
            assert_eq!(stand.user(openssl_token(algorithm)), expected, "{what}, {algorithm}");
        }
    }
}

#[test]
fn a_byte_changed_anywhere_is_noticed() {
    for algorithm in ["HS256", "RS256", "PS256", "ES256", "EdDSA"] {
        let key = match algorithm {
            "HS256" => secret(),
            "ES256" => JwtKey::Pem(include_bytes!("keys/p256.pem").to_vec()),
            "EdDSA" => JwtKey::Pem(include_bytes!("keys/ed25519.pem").to_vec()),
            _ => JwtKey::Pem(include_bytes!("keys/rsa.pem").to_vec()),
        };
        let stand = Stand::jwt(jwt(key));
        let token = openssl_token(algorithm);
        for at in 0..token.len() {
            let mut changed = token.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(stand.user_in_time(str::from_utf8(&changed).unwrap()), None, "{algorithm}, byte {at}");
        }
        assert_eq!(stand.user(token).as_deref(), Some("ana"));
    }
}

#[test]
fn a_secret_of_thirty_two_bytes_is_long_enough() {
    let secret = &SECRET[..32];
    let stand = Stand::jwt(jwt(JwtKey::Secret(secret.to_vec())));
    assert_eq!(stand.user(openssl_token("HS256")), None);
    let token = by_secret(secret, r#"{"alg":"HS256"}"#, r#"{"sub":"ana","exp":1800000000}"#);
    assert_eq!(stand.user(&token).as_deref(), Some("ana"));
}
