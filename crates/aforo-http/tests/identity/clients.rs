//! Who is one client, and who is two.

use aforo_http::Descriptor;
use aforo_http::identity::Verifying;
use aforo_memory::MemoryStore;
use aforo_policy::{Alone, File, Limiter};
use http::Request;

use crate::stand::{SECRET, by_secret};

/// Five an hour for each client.
const RULES: &str = "rules: { each: { quota: 5/h, per: client } }";

struct Door(Limiter<MemoryStore>);

impl Door {
    /// A door whose policy knows tokens by [`SECRET`], and names that a proxy at 10.0.0.1 writes.
    fn new() -> Door {
        let text = format!(
            "client: {{ trusted_proxies: [10.0.0.1] }}\n\
             identity: [ {{ jwt: {{ secret: \"{}\" }} }}, {{ header: {{ name: x-user-id }} }} ]\n{RULES}",
            str::from_utf8(SECRET).unwrap()
        );
        let file = File::read("policy.yaml", &text, &Verifying(Alone)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        Door(Limiter::new(file.policy, MemoryStore::new()))
    }

    /// How many of so many requests like this pass.
    fn passing(&self, requests: usize, peer: &str, fields: &[(&str, &str)]) -> usize {
        (0..requests).filter(|_| self.passes(peer, fields)).count()
    }

    fn passes(&self, peer: &str, fields: &[(&str, &str)]) -> bool {
        let request = fields.iter().fold(Request::get("/"), |request, (name, value)| request.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        let policy = self.0.policy();
        let descriptor = Descriptor::new(&head, peer.parse().ok(), &policy);
        self.0.take_under(policy, &descriptor).at_once().unwrap().allowed()
    }
}

fn bearer(user: &str) -> String {
    let claims = format!(r#"{{"sub":"{user}","exp":9999999999}}"#);
    format!("Bearer {}", by_secret(SECRET, r#"{"alg":"HS256"}"#, &claims))
}

#[test]
fn two_users_behind_one_address_are_two_clients_once_they_are_verified() {
    let door = Door::new();
    for user in ["ana", "bea"] {
        assert_eq!(door.passing(10, "203.0.113.7", &[("authorization", &bearer(user))]), 5, "{user}");
    }
    assert_eq!(door.passing(10, "203.0.113.7", &[]), 5, "who says nothing is a third");
}

#[test]
fn one_user_at_two_addresses_is_one_client() {
    let door = Door::new();
    let line = bearer("ana");
    assert_eq!(door.passing(3, "203.0.113.7", &[("authorization", &line)]), 3);
    assert_eq!(door.passing(10, "198.51.100.7", &[("authorization", &line)]), 2);
}

#[test]
fn a_thousand_rotating_tokens_from_one_address_are_one_client() {
    let door = Door::new();
    let rotating = (0..1000u32).filter(|number| {
        let made_up =
            by_secret(&number.to_be_bytes().repeat(8), r#"{"alg":"HS256"}"#, r#"{"sub":"ana","exp":9999999999}"#);
        door.passes("203.0.113.7", &[("authorization", &format!("Bearer {made_up}"))])
    });
    assert_eq!(rotating.count(), 5);
    assert_eq!(door.passing(10, "203.0.113.7", &[]), 0, "it is who says nothing");
    assert_eq!(door.passing(10, "203.0.113.7", &[("authorization", "Basic YTpi")]), 0);
    assert_eq!(door.passing(10, "203.0.113.7", &[("authorization", "")]), 0);
}

#[test]
fn a_user_cannot_be_mistaken_for_an_address() {
    let door = Door::new();
    assert_eq!(door.passing(10, "198.51.100.7", &[("authorization", &bearer("203.0.113.7"))]), 5);
    assert_eq!(door.passing(10, "203.0.113.7", &[]), 5);
}

#[test]
fn a_name_in_a_header_makes_a_client_only_if_a_trusted_proxy_wrote_it() {
    let door = Door::new();
    let behind = |user: &str| door.passing(10, "10.0.0.1", &[("x-forwarded-for", "203.0.113.7"), ("x-user-id", user)]);
    assert_eq!((behind("ana"), behind("bea"), behind("ana")), (5, 5, 0));
    let rotating = (0..1000).filter(|number| door.passes("198.51.100.7", &[("x-user-id", &format!("user-{number}"))]));
    assert_eq!(rotating.count(), 5);
}
