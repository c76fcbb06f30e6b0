//! Keys in a header.

use aforo_policy::{ApiKey, ApiKeys, Proof};
use sha2::{Digest as _, Sha256};

use crate::stand::Stand;

pub(crate) fn key(secret: &str, user: &str, plan: Option<&str>) -> ApiKey {
    ApiKey { sha256: Sha256::digest(secret).into(), user: user.to_owned(), plan: plan.map(str::to_owned) }
}

pub(crate) fn keys(header: &str, keys: Vec<ApiKey>) -> Proof {
    Proof::ApiKey(ApiKeys { header: header.into(), keys })
}

fn stand() -> Stand {
    Stand::of(&[keys("x-api-key", vec![key("ana's key", "ana", Some("pro")), key("bea's key", "bea", None)])])
}

#[test]
fn a_key_is_known_by_its_digest() {
    let ana = stand().identity(&[("x-api-key", "ana's key")]).unwrap();
    assert_eq!((&*ana.user, ana.plan.as_deref(), ana.by), ("ana", Some("pro"), "api_key"));
    let bea = stand().identity(&[("x-api-key", " bea's key ")]).unwrap();
    assert_eq!((&*bea.user, bea.plan.as_deref()), ("bea", None));
}

#[test]
fn what_is_no_key_is_nobodys() {
    let digest: String = Sha256::digest("ana's key").iter().map(|byte| format!("{byte:02x}")).collect();
    for shown in
        ["", " ", "ana", "ANA'S KEY", "ana's key ana's key", "ana's key, bea's key", &digest, &"a".repeat(100_000)]
    {
        assert_eq!(stand().identity(&[("x-api-key", shown)]), None, "{shown}");
    }
    assert_eq!(stand().identity(&[]), None);
    assert_eq!(stand().identity(&[("authorization", "ana's key")]), None);
    assert_eq!(stand().of_bytes(&[("x-api-key", b"\xff\xfe\x00")], true), None);
}

#[test]
fn of_two_keys_neither_is_believed() {
    assert_eq!(stand().identity(&[("x-api-key", "ana's key"), ("x-api-key", "bea's key")]), None);
    assert_eq!(stand().identity(&[("x-api-key", "ana's key"), ("x-api-key", "ana's key")]), None);
}

#[test]
fn in_authorization_a_key_stands_after_bearer() {
    let stand = Stand::of(&[keys("Authorization", vec![key("ana's key", "ana", None)])]);
    assert!(stand.identity(&[("authorization", "Bearer ana's key")]).is_some());
    assert_eq!(stand.identity(&[("authorization", "ana's key")]), None);
    assert_eq!(stand.identity(&[("authorization", "Basic ana's key")]), None);
}

#[test]
fn two_keys_of_one_user_are_one_user() {
    let stand = Stand::of(&[keys("x-api-key", vec![key("old", "ana", None), key("new", "ana", None)])]);
    assert_eq!(stand.identity(&[("x-api-key", "old")]), stand.identity(&[("x-api-key", "new")]));
}
