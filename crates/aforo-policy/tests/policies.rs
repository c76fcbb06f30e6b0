//! Policies that are right: what they say, that the schema takes them, and that no damage to them makes the reader fall.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod request;
mod schema;
mod surroundings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aforo_core::{Algorithm, Mode, Origin, Quota};
use aforo_policy::{
    ClientHeader, Clients, Denied, Fact, File, Headers, Identify, InvalidProof, JwtKey, Match, Mistake, Proof, Rule,
    StoreSettings, Surroundings, WhenDown,
};
use proptest::prelude::*;
use request::Request;
use surroundings::Around;

const AROUND: Around<'static> = Around {
    environment: &[
        ("AFORO_ADMIN_TOKEN", "hunter2"),
        ("MONITORING_TOKEN", "hunter2-hunter2-hunter2"),
        ("JWT_SECRET", "hunter2"),
    ],
    files: &[
        (
            "proxies.txt",
            "# The provider's networks.\n203.0.113.0/24\n\n2001:db8::/32   # and those of IPv6\n198.51.100.7\n",
        ),
        ("keys.json", "{}"),
        ("api-keys.yaml", KEYS),
    ],
};

const KEYS: &str = "
- { sha256: F52FBD32B2B3B86FF88EF6C490628285F482AF15DDCB29541F94BCF526A3F6C7, user: alice, plan: pro }
- { sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, user: bob }
";

fn read(text: &str) -> File {
    File::read("policy.yaml", text, &AROUND).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn good() -> Vec<(String, String)> {
    let files = fs::read_dir(here("tests/policies")).unwrap().map(|entry| entry.unwrap().path());
    let demo = [here("policies/demo.yaml")];
    files.chain(demo).map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_good_file_is_read_and_taken_by_the_schema() {
    let schema = aforo_policy::schema();
    for (name, text) in good() {
        let file = File::read(&name, &text, &AROUND).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert!(file.warnings.is_empty(), "{name}: {:?}", file.warnings);
        schema::check(&schema, &schema::json(&text)).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = aforo_policy::schema();
    for text in [
        "ruels: {}",
        "rules: { a: { qouta: 5/s } }",
        "rules: { a: { quota: 5 } }",
        "rules: { a: { quota: 5/fortnight } }",
        "rules: { a: { quota: 5/s, burst: 0 } }",
        "rules: { a: { quota: 5/s, mode: shaddow } }",
        "rules: { a: { quota: 5/s, count_denied: 'yes' } }",
        "rules: { a: { quota: 5/s, plans: { pro: 5 } } }",
        "rules: { a: { quota: 5/s, plans: { pro: { burst: 5 } } } }",
        "rules: { a: { quota: 5/s, per: cookies } }",
        "client: { header: [x-real-ip] }",
        "client: { ipv6_prefix: 31 }",
        "client: { nat64: 1 }",
        "identity: { header: { name: x-user } }",
        "identity: [{ header: x-user }]",
        "identity: [{ jwt: { secret: a, leeway: 1h30 } }]",
        "identity: [{ api_key: {} }]",
        "exempt: [{ token: { header: x-token } }]",
        "exempt: [{ cidr: { of: 10.0.0.0/8 } }]",
        "cors: { origins: [app.example] }",
        "preflight: { quota: 5 }",
        "routes: [{ rules: {} }]",
        "warn_at: 101%",
        "admin: true",
        "store: memcached://127.0.0.1",
        "store: { url: memory, timeout: 50 }",
        "store: { url: memory, prefix: a b }",
        "store: { url: memory, share: 101% }",
        "rules: { a: { quota: 5/s, when_down: never } }",
    ] {
        assert!(schema::check(&schema, &schema::json(text)).is_err(), "{text}");
        assert!(File::read("policy.yaml", text, &AROUND).is_err(), "{text}");
    }
}

#[test]
fn a_full_file_says_what_it_says() {
    let file = read(&fs::read_to_string(here("tests/policies/full.yaml")).unwrap());
    let gateway = file.gateway.unwrap();
    assert_eq!(gateway.upstream, ["http://127.0.0.1:3000"]);
    assert_eq!((gateway.workers, gateway.drain), (Some(2), Duration::from_secs(30)));
    assert_eq!(gateway.timeouts.idle, Duration::from_secs(75));
    assert_eq!(gateway.tls.unwrap().key, Path::new("key.pem"));
    let admin = file.admin.unwrap();
    assert_eq!(admin.token.as_ref().unwrap().expose(), "hunter2");
    assert!(!format!("{admin:?}").contains("hunter2"));
    assert_eq!(file.store, StoreSettings::Memory { max_keys: 1_000_000 });
    let policy = file.policy;
    assert_eq!(policy.paths().method_override.as_deref(), Some("x-http-method-override"));
    assert_eq!(*policy.headers(), Headers::default());
    assert!(matches!(policy.denied(), Denied::Template { content_type, .. } if content_type == "application/json"));
    let names =
        |route: usize| policy.routes()[route].rules.iter().map(|rule| rule.scope().as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["short", "medium@POST /auth/login", "long"]);
    assert_eq!(names(1), [""; 0]);
    assert_eq!(names(2), ["short", "medium", "long", "search@GET /api/search"]);
    assert_eq!(names(3), ["medium"]);
    assert_eq!(policy.routes()[3].name(), "* admin.example/admin/{*rest}");
    assert_eq!(policy.routes()[0].rules[1].quota().unwrap().algorithm(), Algorithm::SlidingLog);
    assert_eq!(policy.rules()[2].mode, Mode::Shadow);
    let warn_at = |rule: usize| policy.rules()[rule].warn_at.iter().map(|share| share.hundredths()).collect::<Vec<_>>();
    assert_eq!((warn_at(0), warn_at(2)), (vec![90], vec![50, 80]));
    let exempt: Vec<_> = policy.exemptions().iter().map(|exemption| exemption.name.as_str()).collect();
    assert_eq!(exempt, ["/health", "readiness", "token", "/webhooks/provider", "loopback"]);
}

#[test]
fn a_full_file_says_who_is_asking() {
    let file = read(&fs::read_to_string(here("tests/policies/full.yaml")).unwrap());
    assert!(file.gateway.as_ref().unwrap().proxy_protocol);
    assert!(!format!("{file:?}").contains("hunter2"));
    let policy = file.policy;
    let clients = policy.clients();
    assert_eq!(
        (&clients.header, clients.ipv4_prefix, clients.ipv6_prefix, clients.nat64),
        (&ClientHeader::Forwarded, 24, 56, true)
    );
    for trusted in ["127.0.0.1", "10.9.8.7", "192.0.2.1", "203.0.113.9", "2001:db8::7", "198.51.100.7"] {
        assert!(clients.trusted.contains(trusted.parse().unwrap()), "{trusted}");
    }
    assert!(!clients.trusted.contains("192.0.2.2".parse().unwrap()));
    let [Proof::Jwt(jwks), Proof::Jwt(secret), Proof::ApiKey(keys), Proof::Header(header)] = policy.proofs() else {
        panic!("{:?}", policy.proofs())
    };
    assert!(jwks.key == JwtKey::Jwks(b"{}".to_vec()) && secret.key == JwtKey::Secret(b"hunter2".to_vec()));
    assert_eq!(
        (jwks.claim.as_str(), jwks.plan.as_deref(), jwks.leeway),
        ("email", Some("tier"), Duration::from_secs(10))
    );
    assert_eq!((jwks.issuer.as_deref(), jwks.audience.as_deref()), (Some("https://id.example"), Some("api")));
    assert_eq!((secret.claim.as_str(), secret.plan.as_deref(), secret.leeway), ("sub", None, Duration::from_secs(60)));
    assert_eq!((&*keys.header, &**header), ("x-key", "x-user-id"));
    let of: Vec<_> = keys.keys.iter().map(|key| (key.sha256[0], key.user.as_str(), key.plan.as_deref())).collect();
    assert_eq!(of, [(0xf5, "alice", Some("pro")), (0x9f, "bob", None)]);
    assert_eq!(policy.rules()[2].partition.to_string(), "user, cookie:Session, query:api key, plan");
    let quota = |plan| policy.rules()[2].quota_by(plan, Origin::Store).map(|quota| (quota.limit(), quota.at_once()));
    assert_eq!([quota(None), quota(Some("pro"))], [Some((5000, 5000)), Some((50000, 50000))]);
    assert_eq!([quota(Some("team")), quota(Some("partner"))], [Some((9000, 6000)), None]);
    let preflight = policy.preflight();
    let allowed = preflight.quota().map(|quota| (quota.limit(), quota.at_once()));
    assert_eq!((preflight.name(), allowed, &preflight.partition), ("preflight", Some((60, 100)), &Fact::Ip.into()));
    let cors = policy.cors().unwrap();
    assert!(cors.credentials && cors.admits(b"https://app.example") && cors.admits(b"http://localhost:5173"));
    assert!(!cors.admits(b"https://app.example.evil") && !cors.admits(b"null") && !cors.admits(b""));
}

#[test]
fn nobody_is_believed_unless_the_file_says_so() {
    let policy = read("rules: { each: { quota: 5/s } }").policy;
    assert_eq!(*policy.clients(), Clients::default());
    assert!(policy.clients().trusted.is_empty() && policy.proofs().is_empty() && policy.cors().is_none());
    assert_eq!(policy.preflight().quota(), Some(&Quota::per_minute(600)));
}

#[test]
fn what_a_file_does_not_say_is_as_the_reference_says() {
    let file = read("gateway: { upstream: http://a.example }\nrules: { each: { quota: 5/s } }");
    let gateway = file.gateway.unwrap();
    assert_eq!(gateway.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(gateway.timeouts.connect, Duration::from_secs(2));
    let admin = file.admin.unwrap();
    assert_eq!((admin.listen.to_string().as_str(), admin.listen_is_given), ("127.0.0.1:9090", false));
    assert_eq!(file.store, StoreSettings::default());
    assert_eq!(file.policy.rules()[0].warn_at[0].hundredths(), 90);
    assert!(read("admin: false\nrules: { each: { quota: 5/s } }").admin.is_none());
}

#[test]
fn a_store_outside_the_process_is_described_whole() {
    let file = read(&fs::read_to_string(here("tests/policies/redis.yaml")).unwrap());
    let StoreSettings::Redis { url, timeout, prefix, connections, max_keys, .. } = &file.store else {
        panic!("{:?}", file.store)
    };
    assert_eq!(url.expose(), "rediss://app:hunter2@redis.example:6380/2");
    assert_eq!(
        (*timeout, prefix.as_str(), connections.get(), *max_keys),
        (Duration::from_millis(20), "shop", 4, 50_000)
    );
    assert!(!format!("{file:?}").contains("hunter2"));
    let said = |rules: &[Rule]| rules.iter().map(|rule| (rule.when_down, rule.share.hundredths())).collect::<Vec<_>>();
    let (policy, on_login) = (&file.policy, (WhenDown::Deny, 10));
    assert_eq!(said(policy.rules()), [(WhenDown::Allow, 25), (WhenDown::Fallback, 25), (WhenDown::Allow, 50)]);
    assert_eq!(said(&policy.routes()[0].rules), [(WhenDown::Allow, 25), on_login, (WhenDown::Allow, 50)]);
    assert_eq!(policy.routes()[0].rules[1].scope().as_str(), "medium@POST /auth/login");
    assert_eq!(said(&policy.routes()[1].rules)[3..], [(WhenDown::Fallback, 25)]);
}

#[test]
fn a_store_outside_the_process_need_only_be_named() {
    for text in ["store: redis://127.0.0.1", "store: { url: redis://127.0.0.1 }"] {
        let store = read(&format!("{text}\nrules: {{ each: {{ quota: 5/s }} }}")).store;
        assert_eq!(Ok(&store), StoreSettings::named("redis://127.0.0.1").as_ref());
        let StoreSettings::Redis { timeout, prefix, connections, max_keys, .. } = store else { panic!("{store:?}") };
        assert_eq!(
            (timeout, prefix.as_str(), connections.get(), max_keys),
            (Duration::from_millis(50), "aforo", 2, 1_000_000)
        );
    }
    assert_eq!(StoreSettings::named("memory"), Ok(StoreSettings::default()));
    assert!(StoreSettings::named("radis://127.0.0.1").is_err());
}

#[test]
fn a_byte_order_mark_and_other_line_ends_change_nothing() {
    let text = "\u{feff}rules:\r\n  each: { quota: 5/s }\r\n";
    assert_eq!(File::read_bytes("policy.yaml", text.as_bytes(), &AROUND).unwrap().policy.rules()[0].name(), "each");
}

#[test]
fn an_override_takes_what_it_does_not_say_from_the_rule_above() {
    let file = read(
        "rules:\n  a: { quota: 100/h, burst: 7, per: ip, count_denied: true }\nroutes:\n  - match: GET /mode\n    rules: { a: { mode: shadow } }\n  - match: GET /quota\n    rules: { a: { quota: 50/h } }\n  - match: GET /log\n    rules: { a: { algorithm: sliding-log } }\n",
    );
    let quotas: Vec<_> = file.policy.routes().iter().map(|route| route.rules[0].quota().unwrap()).collect();
    assert_eq!((quotas[0].limit(), quotas[0].at_once()), (100, 7));
    assert_eq!((quotas[1].limit(), quotas[1].at_once()), (50, 50), "a burst belongs to its quota");
    assert_eq!((quotas[2].limit(), quotas[2].algorithm()), (100, Algorithm::SlidingLog));
    assert!(file.policy.routes().iter().all(|route| route.rules[0].count_denied));
}

#[test]
fn routes_of_one_template_for_different_methods_and_hosts_live_together() {
    let file = read(
        "rules: { each: { quota: 5/s } }\nroutes:\n  - { match: GET /a, cost: 1 }\n  - { match: POST /a, cost: 2 }\n  - { match: '* /a', cost: 3 }\n  - { match: GET /a, host: b.example, cost: 4 }\n",
    );
    let cost = |method: &str, host: Option<&str>| {
        let request = Request { host: host.map(str::to_owned), ..Request::new(method, "/a") };
        file.policy.meet(&request).route().map(|route| route.cost.units())
    };
    assert_eq!(cost("GET", None), Some(1));
    assert_eq!(cost("HEAD", Some("c.example")), Some(1));
    assert_eq!(cost("POST", None), Some(2));
    assert_eq!(cost("PUT", None), Some(3));
    assert_eq!(cost("GET", Some("b.example")), Some(4));
}

#[test]
fn the_worst_case_of_each_rule_is_told_once() {
    let file = read(
        "rules:\n  bucket: { quota: 100/min, burst: 20 }\n  log: { quota: 5/100ms, algorithm: sliding-log }\n  free: { quota: unlimited }\nroutes:\n  - match: GET /a\n    rules: { none: { quota: 0/s }, bucket: { cost: 2 } }\n",
    );
    let told: Vec<_> = file
        .policy
        .worst_cases()
        .map(|worst| format!("{} {}: {worst}", worst.rule.name(), worst.route.map_or("", |route| route.name())))
        .collect();
    assert_eq!(
        told,
        [
            "bucket : at most 120 in any 60 s",
            "log : at most 5 in any 100 ms",
            "free : unlimited",
            "none GET /a: nothing"
        ]
    );
}

/// Whatever a guide asks for is there.
struct Everything;

impl Surroundings for Everything {
    fn value(&self, name: &str) -> Option<String> {
        Some(name.to_ascii_lowercase())
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(if path.ends_with("api-keys.yaml") { KEYS } else { "192.0.2.0/24\n" }.as_bytes().to_vec())
    }

    fn identify(&self, _: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
        Ok(None)
    }
}

#[test]
fn every_policy_in_the_guides_is_good() {
    let mut read = 0;
    for guide in fs::read_dir(here("../../docs/guides")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&guide).unwrap();
        let blocks = text.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap());
        for block in blocks.filter(|block| !block.starts_with("# api-keys.yaml")) {
            let name = guide.file_name().unwrap().to_string_lossy();
            let file = File::read(&name, block, &Everything).unwrap_or_else(|mistakes| panic!("{mistakes}\n{block}"));
            let told = |warning: &Mistake| !warning.message.starts_with("the policy has no rule");
            assert!(!file.warnings.iter().any(told), "{name}: {:?}\n{block}", file.warnings);
            read += 1;
        }
    }
    assert!(read >= 5, "{read} policies");
}

#[test]
fn the_reference_page_is_fresh() {
    let path = here("../../docs/reference/policy.md");
    let made = aforo_policy::reference();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "docs/reference/policy.md is stale: run this test with UPDATE_EXPECTED=1");
}

#[test]
fn a_small_file_cannot_grow_large() {
    let bomb = format!("a: &a [x,x]\n{}", (0..40).map(|at| format!("b{at}: &b{at} [*a,*a]\n")).collect::<String>());
    assert!(File::read("bomb.yaml", &bomb, &AROUND).is_err());
    let deep = "[".repeat(1_000_000);
    assert!(File::read("deep.yaml", &deep, &AROUND).is_err());
    let large = format!("# {}\nrules: {{}}", "x".repeat(5 << 20));
    assert!(File::read("large.yaml", &large, &AROUND).is_err());
}

/// A good file with some of its characters gone, doubled or changed.
fn damaged() -> impl Strategy<Value = String> {
    let texts: Vec<String> = good().into_iter().map(|(_, text)| text).collect();
    let letter = prop_oneof![
        proptest::sample::select(":{}[],-#&*!|>'\"%@`?\t\n 0/$~é\u{feff}\u{0}".chars().collect::<Vec<_>>()),
        any::<char>(),
    ];
    let change = (any::<proptest::sample::Index>(), 0..4_u8, letter);
    (proptest::sample::select(texts), proptest::collection::vec(change, 1..12)).prop_map(|(text, changes)| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, kind, letter) in changes {
            if letters.is_empty() {
                break;
            }
            let at = at.index(letters.len());
            match kind {
                0 => drop(letters.remove(at)),
                1 => letters.insert(at, letter),
                2 => letters[at] = letter,
                _ => letters.truncate(at.max(1)),
            }
        }
        letters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_to_a_file_makes_the_reader_fall(text in damaged()) {
        match File::read("policy.yaml", &text, &AROUND) {
            Ok(file) => drop(file.policy.meet(&Request::new("GET", "/a")).hits(&Request::new("GET", "/a"))),
            Err(mistakes) => {
                prop_assert!(mistakes.iter().count() > 0);
                let places: Vec<_> = mistakes.iter().map(|mistake| (mistake.line, mistake.column)).collect();
                prop_assert!(places.is_sorted() && places.iter().all(|place| place.0 > 0 && place.1 > 0));
                prop_assert!(!mistakes.to_string().is_empty());
            }
        }
    }

    #[test]
    fn no_text_makes_the_readers_of_texts_fall(text in "\\PC{0,40}") {
        let _ = text.parse::<aforo_policy::Allowance>();
        let _ = text.parse::<Match>().map(|matched| matched.at_host(&text));
        let _ = text.parse::<aforo_policy::Percent>();
        let _ = text.parse::<aforo_policy::Fact>();
        let _ = Denied::template(&text, &text);
    }
}
