//! A header that a proxy writes.

use aforo_policy::Proof;

use crate::stand::Stand;

fn user(value: &[u8], from_trusted_proxy: bool) -> Option<String> {
    let stand = Stand::of(&[Proof::Header("x-user-id".into())]);
    stand.of_bytes(&[("x-user-id", value)], from_trusted_proxy).map(|identity| identity.user.to_string())
}

#[test]
fn a_trusted_proxy_is_believed_and_nobody_else() {
    assert_eq!(user(b"ana", true).as_deref(), Some("ana"));
    assert_eq!(user(b"ana", false), None);
}

#[test]
fn a_name_that_was_believed_once_is_not_believed_from_others() {
    let stand = Stand::of(&[Proof::Header("x-user-id".into())]);
    assert!(stand.of_bytes(&[("x-user-id", b"ana")], true).is_some());
    assert_eq!(stand.of_bytes(&[("x-user-id", b"ana")], false), None);
}

#[test]
fn what_is_no_name_is_nobody() {
    for value in [&b""[..], b"  ", b"a\x01na", b"\xff", &[b'a'; 257]] {
        assert_eq!(user(value, true), None, "{value:?}");
    }
    assert_eq!(user("用户".as_bytes(), true).as_deref(), Some("用户"));
    assert_eq!(user(&[b'a'; 256], true), Some("a".repeat(256)));
}

#[test]
fn of_two_lines_neither_is_believed() {
    let stand = Stand::of(&[Proof::Header("x-user-id".into())]);
    assert_eq!(stand.of_bytes(&[("x-user-id", b"ana"), ("x-user-id", b"bea")], true), None);
    assert_eq!(stand.of_bytes(&[("x-user-id", b"ana"), ("x-user-id", b"ana")], true), None);
}
