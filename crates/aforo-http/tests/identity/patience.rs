//! Floods of made-up signatures.

use std::time::Duration;

use aforo_policy::Proof;

use crate::stand::{SECRET, Stand, by_secret, jwt, secret, token};

/// A token of the right shape with a signature that is made up, each time another.
fn made_up(number: u32) -> String {
    let good = token(&format!(r#"{{"sub":"ana","exp":1800000000,"n":{number}}}"#));
    format!("{}.{number:043}", good.rsplit_once('.').unwrap().0)
}

fn user(name: &str) -> String {
    token(&format!(r#"{{"sub":"{name}","exp":1800000000}}"#))
}

/// A stand at which somebody at that address has made up fifty signatures.
fn flooded(address: &str) -> Stand {
    let stand = Stand::jwt(jwt(secret()));
    assert!(stand.user_at(address, &user("known")).is_some());
    for number in 0..50 {
        assert_eq!(stand.user_at(address, &made_up(number)), None);
    }
    stand
}

#[test]
fn after_fifty_in_a_second_nothing_more_of_that_address_is_verified_in_it() {
    let stand = flooded("203.0.113.7");
    assert_eq!(stand.user_at("203.0.113.7", &user("new")), None);
    assert_eq!(stand.user_at("::ffff:203.0.113.7", &user("new")), None);
    stand.clock.advance(Duration::from_secs(1));
    assert!(stand.user_at("203.0.113.7", &user("new")).is_some());
}

#[test]
fn who_is_known_stays_known_and_others_are_not_concerned() {
    let stand = flooded("203.0.113.7");
    assert!(stand.user_at("203.0.113.7", &user("known")).is_some());
    // One of them may share the counter.
    let verified =
        (1..=5).filter(|last| stand.user_at(&format!("198.51.100.{last}"), &user(&format!("new{last}"))).is_some());
    assert!(verified.count() >= 4);
}

#[test]
fn all_that_begins_with_the_same_64_bits_is_one_address() {
    let stand = flooded("2001:db8::1");
    assert_eq!(stand.user_at("2001:db8::ffff:1:2:3", &user("new")), None);
}

#[test]
fn what_costs_no_signature_does_not_count() {
    let stand = Stand::jwt(jwt(secret()));
    for number in 0..1000 {
        assert_eq!(stand.user(&token(&format!(r#"{{"sub":"ana","exp":{number}}}"#))), None);
        assert_eq!(stand.user(&format!("{number}.{number}.{number}")), None);
        assert_eq!(stand.user(&by_secret(SECRET, r#"{"alg":"RS256"}"#, r#"{"sub":"ana","exp":1800000000}"#)), None);
    }
    assert!(stand.user(&user("new")).is_some());
}

#[test]
fn forty_nine_are_forgiven() {
    let stand = Stand::jwt(jwt(secret()));
    for second in 0..10 {
        for number in 0..49 {
            assert_eq!(stand.user(&made_up(second * 49 + number)), None);
        }
        assert!(stand.user(&user(&second.to_string())).is_some());
        stand.clock.advance(Duration::from_secs(1));
    }
}

#[test]
fn several_issuers_each_cost_a_signature() {
    let stand = Stand::of(&[Proof::Jwt(jwt(secret())), Proof::Jwt(jwt(secret()))]);
    for number in 0..25 {
        assert_eq!(stand.user(&made_up(number)), None);
    }
    assert_eq!(stand.user(&user("new")), None);
}
