//! What a token must say, and what it may be called after.

use std::time::Duration;

use crate::stand::{EXPIRY, Stand, jwt, secret, token};

fn user(claims: &str) -> Option<String> {
    Stand::jwt(jwt(secret())).user(&token(claims))
}

#[test]
fn a_token_is_good_until_its_expiry_and_the_leeway() {
    for (second, good) in [(0, true), (EXPIRY, true), (EXPIRY + 59, true), (EXPIRY + 60, false), (EXPIRY + 61, false)] {
        // Each on a stand of its own: none of it is remembered.
        let stand = Stand::jwt(jwt(secret())).at(second);
        assert_eq!(stand.user(&token(r#"{"sub":"ana","exp":1800000000}"#)).is_some(), good, "{second}");
    }
    let mut strict = jwt(secret());
    strict.leeway = Duration::ZERO;
    for (second, good) in [(EXPIRY - 1, true), (EXPIRY, false)] {
        let stand = Stand::jwt(strict.clone()).at(second);
        assert_eq!(stand.user(&token(r#"{"sub":"ana","exp":1800000000}"#)).is_some(), good, "{second}");
    }
}

#[test]
fn a_token_is_not_good_before_its_time() {
    for (second, good) in [(1_799_999_939, false), (1_799_999_940, true), (EXPIRY, true)] {
        let stand = Stand::jwt(jwt(secret())).at(second);
        let claims = r#"{"sub":"ana","nbf":1800000000,"exp":1800003600}"#;
        assert_eq!(stand.user(&token(claims)).is_some(), good, "{second}");
    }
}

#[test]
fn a_date_is_a_number_and_must_be_there() {
    #[rustfmt::skip]
    let dates = [
        (r#""exp":1800000000"#, true),
        (r#""exp":1800000000.5"#, true),
        (r#""exp":1.8e9"#, true),
        (r#""exp":18446744073709551615"#, true),
        (r#""exp":1e300"#, true),
        (r#""nbf":0"#, false),
        (r#""exp":null"#, false),
        (r#""exp":"1800000000""#, false),
        (r#""exp":true"#, false),
        (r#""exp":[1800000000]"#, false),
        (r#""exp":-1"#, false),
        (r#""exp":-1e300"#, false),
        (r#""exp":0"#, false),
        (r#""exp":1e999"#, false),
        (r#""exp":1800000000,"nbf":"0""#, false),
        (r#""exp":1800000000,"nbf":null"#, false),
        (r#""exp":1800000000,"nbf":-1"#, true),
        (r#""exp":1800000000,"nbf":18446744073709551615"#, false),
        (r#""exp":1800000000,"iat":9999999999"#, true),
    ];
    for (dates, good) in dates {
        assert_eq!(user(&format!(r#"{{"sub":"ana",{dates}}}"#)).is_some(), good, "{dates}");
    }
}

#[test]
fn the_user_is_a_text_or_a_whole_number() {
    let longest = "a".repeat(256);
    let too_long = "a".repeat(257);
    // 128 characters of two bytes each.
    let wide = "é".repeat(128);
    #[rustfmt::skip]
    let names: [(String, Option<&str>); 24] = [
        (r#""ana""#.into(), Some("ana")),
        (r#""Ana""#.into(), Some("Ana")),
        (r#""auth0|5f7c8ec7c33c6c004bbafe82""#.into(), Some("auth0|5f7c8ec7c33c6c004bbafe82")),
        (r#"" ana ""#.into(), Some(" ana ")),
        (r#""用户""#.into(), Some("用户")),
        (r#""\u00e9""#.into(), Some("é")),
        (r#""e\u0301""#.into(), Some("e\u{301}")),
        (r#""\ud83d\ude00""#.into(), Some("😀")),
        (format!("\"{longest}\""), Some(&longest)),
        (format!("\"{wide}\""), Some(&wide)),
        ("42".into(), Some("42")),
        ("-7".into(), Some("-7")),
        ("18446744073709551615".into(), Some("18446744073709551615")),
        ("18446744073709551616".into(), None),
        ("42.0".into(), None),
        ("1e3".into(), None),
        (r#""""#.into(), None),
        (r#""  ""#.into(), None),
        (format!("\"{too_long}\""), None),
        (format!("\"{wide}a\""), None),
        (r#""ana\n""#.into(), None),
        (r#""a\u0000na""#.into(), None),
        (r#""ana\u007f\u0085""#.into(), None),
        (r#""\ud83d""#.into(), None),
    ];
    for (name, expected) in names {
        assert_eq!(user(&format!(r#"{{"sub":{name},"exp":1800000000}}"#)).as_deref(), expected, "{name}");
    }
    for absent in ["null", "true", "[]", "[\"ana\"]", "{}", "{\"id\":\"ana\"}"] {
        assert_eq!(user(&format!(r#"{{"sub":{absent},"exp":1800000000}}"#)), None, "{absent}");
    }
    assert_eq!(user(r#"{"exp":1800000000}"#), None);
    assert_eq!(user(r#"{"Sub":"ana","exp":1800000000}"#), None);
}

#[test]
fn the_claim_that_names_the_user_may_be_another_one() {
    let mut other = jwt(secret());
    other.claim = "https://id.example/user".to_owned();
    let stand = Stand::jwt(other);
    let claims = r#"{"sub":"ana","https://id.example/user":"bea","exp":1800000000}"#;
    assert_eq!(stand.user(&token(claims)).as_deref(), Some("bea"));
}

#[test]
fn a_plan_that_is_no_name_is_no_plan() {
    let mut planned = jwt(secret());
    planned.plan = Some("plan".to_owned());
    let stand = Stand::jwt(planned);
    for (plan, expected) in [
        (r#","plan":"pro""#, Some("pro")),
        (r#","plan":3"#, Some("3")),
        ("", None),
        (r#","plan":"""#, None),
        (r#","plan":["pro"]"#, None),
        (r#","plan":true"#, None),
        (r#","plan":"pro\n""#, None),
    ] {
        let line = format!("Bearer {}", token(&format!(r#"{{"sub":"ana","exp":1800000000{plan}}}"#)));
        let identity = stand.identity(&[("authorization", &line)]).unwrap();
        assert_eq!(identity.plan.as_deref(), expected, "{plan}");
        assert_eq!((&*identity.user, identity.by), ("ana", "jwt"));
    }
}

#[test]
fn only_the_issuer_that_is_named_is_believed() {
    let mut from = jwt(secret());
    from.issuer = Some("https://id.example".to_owned());
    let stand = Stand::jwt(from);
    for (issuer, good) in [
        (r#","iss":"https://id.example""#, true),
        ("", false),
        (r#","iss":"https://id.example/""#, false),
        (r#","iss":"HTTPS://ID.EXAMPLE""#, false),
        (r#","iss":"https://id.example.attacker.example""#, false),
        (r#","iss":["https://id.example"]"#, false),
        (r#","iss":null"#, false),
    ] {
        let claims = format!(r#"{{"sub":"ana","exp":1800000000{issuer}}}"#);
        assert_eq!(stand.user(&token(&claims)).is_some(), good, "{issuer}");
    }
}

#[test]
fn the_audience_must_be_among_the_tokens() {
    let mut to = jwt(secret());
    to.audience = Some("api".to_owned());
    let stand = Stand::jwt(to);
    for (audience, good) in [
        (r#","aud":"api""#, true),
        (r#","aud":["web","api"]"#, true),
        ("", false),
        (r#","aud":"API""#, false),
        (r#","aud":"api2""#, false),
        (r#","aud":[]"#, false),
        (r#","aud":["web",7,null]"#, false),
        (r#","aud":{"api":true}"#, false),
        (r#","aud":null"#, false),
    ] {
        let claims = format!(r#"{{"sub":"ana","exp":1800000000{audience}}}"#);
        assert_eq!(stand.user(&token(&claims)).is_some(), good, "{audience}");
    }
    // Where the policy names none, a token for anybody will do.
    assert!(user(r#"{"sub":"ana","exp":1800000000,"aud":"web"}"#).is_some());
}

#[test]
fn of_two_claims_with_one_name_the_last_counts() {
    assert_eq!(user(r#"{"sub":"ana","sub":"bea","exp":1800000000}"#).as_deref(), Some("bea"));
    assert_eq!(user(r#"{"sub":"ana","exp":1800000000,"exp":1}"#), None);
}
