//! Who a request is from, as the program tells it and counts by it.

use serde_json::{Value, json};

use crate::stand::{Api, Folder, Program, Request, run, text, until};

/// `exp` is in the year 2286; the user is ana, her plan is pro.
const TOKEN: &str = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEiLCJwbGFuIjoicHJvIiwiZXhwIjo5OTk5OTk5OTk5fQ.\
    0bLUEqmJNMOrlfNjFCl9SBMWyI005d0cE_vk28AKnvQ";
/// By the same secret, and long expired.
const EXPIRED: &str = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEiLCJleHAiOjE4MDB9.\
    21buY1RLUVH0ffb_YGdd456rxIAGii_UGCD4ld5N-ho";
const POLICY: &str = "client: { trusted_proxies: [10.0.0.1] }
identity:
  - jwt: { secret: \"a secret of the tests of the program, and of nothing else\", plan: plan }
  - api_key: { keys_file: keys.yaml }
  - header: { name: x-user-id }
rules: { each: { quota: 3/h, per: client } }
";
/// Of `ana's key`.
const KEYS: &str = "- { sha256: 90ee7500155c2952ee04fa59ab79f7ff2ed3ef9130aa111028e293a880ec57cf, user: bea }\n";

fn explain(arguments: &[&str], json: bool) -> String {
    let folder = Folder::new();
    folder.write("keys.yaml", KEYS);
    let file = folder.write("policy.yaml", POLICY);
    let mut all = vec!["explain", "GET", "/", "--config", file.to_str().unwrap()];
    all.extend(json.then_some("--json"));
    all.extend(arguments);
    let explained = run(&all);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
    text(&explained.stdout)
}

fn identity(arguments: &[&str]) -> (Value, Value, Value) {
    let mut explained: Value = serde_json::from_str(&explain(arguments, true)).unwrap();
    (explained["identity"].take(), explained["identity_steps"].take(), explained["rules"][0]["key"].take())
}

#[test]
fn explain_tells_who_it_is_and_by_which_proof() {
    let (who, steps, key) = identity(&["-H", TOKEN]);
    assert_eq!(who, json!({ "user": "ana", "plan": "pro", "by": "jwt" }));
    assert_eq!(steps, json!(["jwt: it is a token of ana"]));
    assert!(key.as_str().unwrap().contains("user:ana"), "{key}");

    let (who, steps, _) = identity(&["-H", "X-Api-Key: ana's key"]);
    assert_eq!(who, json!({ "user": "bea", "plan": null, "by": "api_key" }));
    assert_eq!(
        steps,
        json!(["jwt: there is no bearer token, or more than one", "api_key: x-api-key is the key of bea"])
    );

    let (who, ..) = identity(&["-H", "X-User-Id: cid", "--peer", "10.0.0.1"]);
    assert_eq!(who, json!({ "user": "cid", "plan": null, "by": "header" }));
}

#[test]
fn explain_tells_why_a_proof_is_none() {
    let (who, steps, key) = identity(&["-H", EXPIRED, "-H", "X-Api-Key: guessed", "-H", "X-User-Id: ana"]);
    assert_eq!(who, Value::Null);
    assert_eq!(
        steps,
        json!([
            "jwt: it has expired",
            "api_key: x-api-key is none of the known keys",
            "header: x-user-id is not from a trusted proxy"
        ])
    );
    assert!(key.as_str().unwrap().contains("127.0.0.1"), "{key}");
    let said = explain(&["-H", EXPIRED], false);
    assert!(
        said.contains("identity  anonymous\n          jwt: it has expired\n          api_key: there is no"),
        "{said}"
    );
    assert!(!said.contains("eyJ"), "{said}");
    let said = explain(&["-H", TOKEN], false);
    assert!(said.contains("identity  ana, plan pro\n          jwt: it is a token of ana\n"), "{said}");
}

#[test]
fn a_key_that_nobody_can_use_is_a_mistake_with_a_place() {
    let folder = Folder::new();
    folder.write("keys.json", r#"{ "keys": [ { "kty": "RSA", "n": "AQAB", "e": "AQAB" } ] }"#);
    let policy = "identity:\n  - jwt: { secret: hunter2 }\n  - jwt: { jwks_file: keys.json }\n\
                  rules: { each: { quota: 3/h } }\n";
    let file = folder.write("policy.yaml", policy);
    let checked = run(&["check", file.to_str().unwrap()]);
    let said = text(&checked.stdout) + &text(&checked.stderr);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    for part in ["policy.yaml:2:", "the secret has 7 bytes", "policy.yaml:3:", "key 1: the RSA key has 24 bits"] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn two_users_behind_one_address_are_two_clients_and_a_thousand_made_up_keys_are_one() {
    let folder = Folder::new();
    folder.write("keys.yaml", KEYS);
    let file = folder.write("policy.yaml", &(Api::start().gateway() + POLICY));
    let program = Program::under(&file);
    let passes = |field: &str| Request::get("/").with(field).to(program.gateway).status == 200;
    assert_eq!((0..10).filter(|_| passes(TOKEN)).count(), 3);
    assert_eq!((0..10).filter(|_| passes("X-Api-Key: ana's key")).count(), 3);
    assert_eq!((0..1000).filter(|number| passes(&format!("X-Api-Key: made up {number}"))).count(), 3);
}

#[test]
fn a_key_is_taken_back_by_taking_it_out_of_its_file() {
    let folder = Folder::new();
    folder.write("keys.yaml", KEYS);
    let file = folder.write("policy.yaml", &(Api::start().gateway() + POLICY));
    let program = Program::under(&file);
    let remaining = |key: &str| {
        let answer = Request::get("/").with(&format!("X-Api-Key: {key}")).to(program.gateway);
        answer.field("x-ratelimit-remaining").map(str::to_owned)
    };
    assert_eq!(remaining("ana's key").as_deref(), Some("2"));
    assert_eq!(remaining("another").as_deref(), Some("2"));
    folder.write("keys.yaml", "[]\n");
    until("the file is read again", || (program.status()["policy"]["version"] == 2).then_some(()));
    assert_eq!(remaining("ana's key").as_deref(), Some("1"), "it is anybody now");
}
