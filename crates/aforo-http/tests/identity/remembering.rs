//! What is remembered of a token, and for how long.

use std::time::Duration;

use crate::stand::{EXPIRY, Stand, jwt, seconds, secret, token};

const ANA: &str = r#"{"sub":"ana","exp":1800000000}"#;

#[test]
fn a_token_that_is_remembered_expires_all_the_same() {
    let stand = Stand::jwt(jwt(secret()));
    let token = token(ANA);
    assert!(stand.user(&token).is_some());
    for (second, good) in [(EXPIRY + 59, true), (EXPIRY + 60, false), (EXPIRY + 59, true)] {
        stand.clock.set(seconds(second));
        assert_eq!(stand.user(&token).is_some(), good, "{second}");
    }
    stand.clock.advance(Duration::from_micros(999_999));
    assert!(stand.user(&token).is_some());
    stand.clock.advance(Duration::from_micros(1));
    assert!(stand.user(&token).is_none());
}

#[test]
fn a_token_is_remembered_whole() {
    let stand = Stand::jwt(jwt(secret()));
    let good = token(ANA);
    assert!(stand.user(&good).is_some());
    // The same claims, another signature; and the same signature, other claims.
    let (signed, signature) = good.rsplit_once('.').unwrap();
    assert_eq!(
        stand.user(&format!("{signed}.{}", &token(r#"{"sub":"bea","exp":1800000000}"#)[signed.len() + 1..])),
        None
    );
    let other = token(r#"{"sub":"root","exp":1800000000}"#);
    let (signed, _) = other.rsplit_once('.').unwrap();
    assert_eq!(stand.user(&format!("{signed}.{signature}")), None);
    assert!(stand.user(&good).is_some());
}

#[test]
fn a_token_that_was_not_good_yet_becomes_good() {
    let stand = Stand::jwt(jwt(secret())).at(EXPIRY - 3600);
    let token = token(r#"{"sub":"ana","nbf":1799998000,"exp":1800000000}"#);
    assert!(stand.user(&token).is_none());
    stand.clock.set(seconds(1_799_998_000));
    assert!(stand.user(&token).is_some());
}

#[test]
fn a_thousand_made_up_tokens_are_nobody_and_the_real_one_stays_known() {
    let stand = Stand::jwt(jwt(secret()));
    let real = token(ANA);
    assert!(stand.user(&real).is_some());
    let (signed, _) = real.rsplit_once('.').unwrap();
    for number in 0..1000u32 {
        assert_eq!(stand.user_in_time(&format!("{signed}.{number:043}")), None);
        assert_eq!(stand.user(&number.to_string()), None);
    }
    assert!(stand.user(&real).is_some());
}

#[test]
fn many_threads_agree_about_many_tokens() {
    let stand = Stand::jwt(jwt(secret()));
    let tokens: Vec<(String, String)> = (0..200u32)
        .map(|number| (number.to_string(), token(&format!(r#"{{"sub":"{number}","exp":1800000000}}"#))))
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (user, token) in tokens.iter().chain(&tokens) {
                    assert_eq!(stand.user(token).as_ref(), Some(user));
                }
            });
        }
    });
}
