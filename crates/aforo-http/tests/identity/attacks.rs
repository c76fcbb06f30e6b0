//! What attackers have tried on others, and what must not become somebody.

use aforo_policy::JwtKey;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use crate::stand::{
    RSA_MODULUS, RSA_PEM, SECRET, Stand, by_rsa, by_secret, jwt, key_set, openssl_token, part, rsa_member, secret,
    token,
};

const ANA: &str = r#"{"sub":"ana","exp":1800000000}"#;

fn nobody(stand: &Stand, token: &str) {
    assert_eq!(stand.user_in_time(token), None, "{token}");
}

#[test]
fn a_token_without_a_signature_is_nobodys() {
    for key in [secret(), JwtKey::Pem(RSA_PEM.to_vec()), key_set(json!([rsa_member()]))] {
        let stand = Stand::jwt(jwt(key));
        for algorithm in ["none", "None", "NONE", "nOnE", "", "null"] {
            let signed = format!("{}.{}", part(&json!({ "alg": algorithm }).to_string()), part(ANA));
            nobody(&stand, &format!("{signed}."));
            nobody(&stand, &signed);
        }
        for head in ["{}", r#"{"alg":null}"#, r#"{"alg":["HS256"]}"#, r#"{"alg":256}"#] {
            nobody(&stand, &format!("{}.{}.", part(head), part(ANA)));
        }
    }
    // RFC 7519 section 6.1.
    nobody(
        &Stand::jwt(jwt(secret())).at(1_300_819_000),
        "eyJhbGciOiJub25lIn0.\
         eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
    );
}

#[test]
fn a_public_key_is_no_secret() {
    let modulus = BASE64_URL_SAFE_NO_PAD.decode(RSA_MODULUS).unwrap();
    let stands = [Stand::jwt(jwt(JwtKey::Pem(RSA_PEM.to_vec()))), Stand::jwt(jwt(key_set(json!([rsa_member()]))))];
    for stand in &stands {
        for known in [RSA_PEM, RSA_PEM.trim_ascii(), &modulus, RSA_MODULUS.as_bytes(), b""] {
            nobody(stand, &by_secret(known, r#"{"alg":"HS256"}"#, ANA));
        }
    }
}

#[test]
fn a_key_that_says_its_algorithm_is_for_no_other() {
    let mut member = rsa_member();
    member["alg"] = "PS256".into();
    let stand = Stand::jwt(jwt(key_set(json!([member]))));
    nobody(&stand, openssl_token("RS256"));
    nobody(&stand, openssl_token("PS384"));
    assert_eq!(stand.user(openssl_token("PS256")).as_deref(), Some("ana"));
}

#[test]
fn a_key_that_the_token_brings_along_is_not_believed() {
    let stand = Stand::jwt(jwt(secret()));
    let own = b"a secret that the attacker made up, long enough to be one";
    for member in [
        r#""jwk":{"kty":"oct","k":"YSBzZWNyZXQgdGhhdCB0aGUgYXR0YWNrZXIgbWFkZSB1cCwgbG9uZyBlbm91Z2ggdG8gYmUgb25l"}"#,
        r#""jku":"https://attacker.example/keys.json""#,
        r#""x5u":"https://attacker.example/cert.pem""#,
        r#""x5c":["MIIB"]"#,
    ] {
        nobody(&stand, &by_secret(own, &format!(r#"{{"alg":"HS256",{member}}}"#), ANA));
        // By the right key it is simply not looked at.
        let harmless = by_secret(SECRET, &format!(r#"{{"alg":"HS256",{member}}}"#), ANA);
        assert_eq!(stand.user(&harmless).as_deref(), Some("ana"));
    }
}

#[test]
fn the_name_of_a_key_is_a_name_and_nothing_else() {
    let mut member = rsa_member();
    member["kid"] = "2027".into();
    let stand = Stand::jwt(jwt(key_set(json!([member]))));
    for name in ["../../../../dev/null", "/etc/passwd", "2027' OR '1'='1", "2027\0", "", " 2027", "*"] {
        nobody(&stand, &by_rsa(&json!({ "alg": "RS256", "kid": name }).to_string(), ANA));
    }
    for head in [r#"{"alg":"RS256","kid":2027}"#, r#"{"alg":"RS256","kid":["2027"]}"#, r#"{"alg":"RS256","kid":null}"#]
    {
        nobody(&stand, &by_rsa(head, ANA));
    }
    assert_eq!(stand.user(&by_rsa(r#"{"alg":"RS256","kid":"2027"}"#, ANA)).as_deref(), Some("ana"));
}

#[test]
fn a_token_that_demands_an_extension_is_refused() {
    let stand = Stand::jwt(jwt(secret()));
    for head in [
        r#"{"alg":"HS256","crit":["exp"],"exp":1}"#,
        r#"{"alg":"HS256","crit":["b64"],"b64":false}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","crit":null}"#,
    ] {
        nobody(&stand, &by_secret(SECRET, head, ANA));
    }
}

#[test]
fn what_is_not_quite_a_token_is_nobodys() {
    let stand = Stand::jwt(jwt(secret()));
    let good = token(ANA);
    let parts: Vec<&str> = good.split('.').collect();
    let [head, body, signature] = parts.as_slice() else { panic!("three parts") };
    let padded = format!("{head}.{body}=.{signature}");
    for bad in [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        head,
        &format!("{head}.{body}"),
        &format!("{good}."),
        &format!(".{good}"),
        &format!("{good}.{signature}"),
        &format!("{head}..{signature}"),
        &format!("{good}="),
        &padded,
        &format!("{good} {good}"),
        &format!("{good},{good}"),
        &format!("{good}, Bearer {good}"),
        &format!("\"{good}\""),
        &format!("{head}.{body}.{signature}\u{e9}"),
        &format!("{head}.{body}.{}", &signature[..signature.len() - 2]),
        // Encrypted (RFC 7516): five parts.
        "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.OKOawDo13gRp2ojaHV7LFpZcgV7T6DVZKTyKOMTYUmKoTCVJ.48V1.5eym8T.XFBo",
        // A detached payload (RFC 7515 appendix F).
        &format!("{head}..{signature}"),
    ] {
        nobody(&stand, bad);
    }
    for body in ["[]", "null", "7", "\"ana\"", "", "{\"sub\":\"ana\"", "\u{feff}{\"sub\":\"ana\",\"exp\":1800000000}"] {
        nobody(&stand, &token(body));
    }
    for head in ["[]", "null", "\"HS256\"", ""] {
        nobody(&stand, &by_secret(SECRET, head, ANA));
    }
    assert_eq!(stand.user(&good).as_deref(), Some("ana"));
}

#[test]
fn json_that_nests_without_end_is_nobodys() {
    let stand = Stand::jwt(jwt(secret()));
    nobody(&stand, &token(&"[".repeat(3000)));
    nobody(&stand, &token(&format!("{}1{}", "{\"a\":".repeat(500), "}".repeat(500))));
    nobody(&stand, &by_secret(SECRET, &"[".repeat(3000), ANA));
}

#[test]
fn a_token_is_eight_kibibytes_at_most() {
    let stand = Stand::jwt(jwt(secret()));
    let long = |filling: usize| token(&format!(r#"{{"sub":"ana","exp":1800000000,"x":"{}"}}"#, "x".repeat(filling)));
    let tokens: Vec<String> = (6030..6060).map(long).collect();
    assert!(tokens.iter().any(|token| token.len() == 8192) && tokens.iter().any(|token| token.len() == 8193));
    for token in &tokens {
        assert_eq!(stand.user(token).is_some(), token.len() <= 8192, "{}", token.len());
    }
    nobody(&stand, &"a".repeat(10_000_000));
}

#[test]
fn the_scheme_may_be_written_in_any_case_and_must_be_bearer() {
    let stand = Stand::jwt(jwt(secret()));
    let token = token(ANA);
    let shown = |value: String| stand.identity(&[("authorization", &value)]).map(|identity| identity.user.to_string());
    for scheme in ["Bearer ", "bearer ", "BEARER ", "bEaReR ", " Bearer ", "Bearer   "] {
        assert_eq!(shown(format!("{scheme}{token}")).as_deref(), Some("ana"), "{scheme}");
    }
    for scheme in ["", "Basic ", "Token ", "Bearer", "Bearer\t", "Bearer: ", "DPoP ", "Bearer, ", "Béarer "] {
        assert_eq!(shown(format!("{scheme}{token}")), None, "{scheme}");
    }
}

#[test]
fn of_two_credentials_neither_is_believed() {
    let stand = Stand::jwt(jwt(secret()));
    let line = format!("Bearer {}", token(ANA));
    assert!(stand.identity(&[("authorization", &line)]).is_some());
    assert_eq!(stand.identity(&[("authorization", &line), ("authorization", &line)]), None);
    assert_eq!(stand.identity(&[("authorization", &line), ("authorization", "Basic YTpi")]), None);
}
