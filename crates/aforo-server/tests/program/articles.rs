//! What two articles about rate limiting promise their readers, held against the program.

use std::time::{Duration, Instant};

use crate::stand::{Api, Folder, Program, Request, until};

/// Five logins a minute, as the second article tests them; here the minute has three seconds.
#[test]
fn five_logins_pass_and_the_sixth_comes_back_after_exactly_the_wait() {
    let folder = Folder::new();
    let policy = Api::start().gateway()
        + "rules: { medium: { quota: 300/3s, algorithm: sliding-window } }
routes:
  - match: POST /auth/login
    rules: { medium: { quota: 5/3s, per: ip, algorithm: sliding-log } }
";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let login = || Request::post("/auth/login").to(program.gateway);
    let first = Instant::now();
    for _ in 0..5 {
        assert!(login().status < 429);
    }
    let refused = login();
    assert_eq!(refused.status, 429);
    let told: u64 = refused.field("retry-after").unwrap().parse().unwrap();
    assert!((2..=3).contains(&told), "{told}");
    assert!(refused.json()["detail"].as_str().unwrap().to_lowercase().contains("rate limit"));
    let admitted = until("the next login passes", || (login().status == 200).then(Instant::now));
    let waited = admitted - first;
    assert!(waited >= Duration::from_secs(3), "let in after {waited:?}: three seconds after the first, not before");
    assert!(waited <= Duration::from_secs(told) + Duration::from_secs(1), "let in after {waited:?}, told {told} s");
}

/// The tiers of the first article: capacity and refill by endpoint.
#[test]
fn tiers_by_endpoint() {
    let program = Program::start(&["demo", "--quiet-traffic", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
    for (method, path, capacity, fills_in) in [
        ("GET", "/api/status", 1000, 10),
        ("GET", "/api/search", 20, 4),
        ("POST", "/api/orders", 10, 5),
        ("POST", "/api/auth/login", 5, 5),
        ("GET", "/anything/else", 100, 5),
    ] {
        let seen = Request::new(method, path).with("content-length: 0").to(program.gateway);
        let policy = seen.field("ratelimit-policy").unwrap();
        assert!(policy.ends_with(&format!(";q={capacity};w={fills_in}")), "{method} {path}: {policy}");
        assert_eq!(seen.field("x-ratelimit-remaining"), Some((capacity - 1).to_string().as_str()), "{method} {path}");
    }
    for path in ["/health", "/ready"] {
        let seen = Request::get(path).to(program.gateway);
        assert_eq!((seen.status, seen.field("ratelimit")), (200, None), "{path} is under no rule");
    }
}

/// Short, medium and long limits together, as both articles name them.
#[test]
fn a_refusal_by_one_limit_charges_none_of_the_others() {
    let folder = Folder::new();
    let policy = Api::start().gateway()
        + "rules:
  short:  { quota: 1000/d }
  medium: { quota: 300/h, algorithm: sliding-window }
  long:   { quota: 3/d, algorithm: fixed-window }
";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    for _ in 0..3 {
        assert_eq!(Request::get("/").to(program.gateway).status, 200);
    }
    for _ in 0..50 {
        let seen = Request::get("/").to(program.gateway);
        assert_eq!(seen.status, 429);
        assert_eq!(seen.json()["violated-policies"], serde_json::json!(["long"]));
        let limits = seen.field("ratelimit").unwrap();
        assert!(limits.starts_with("\"short\";r=997;") && limits.contains("\"medium\";r=297;"), "{limits}");
    }
}

/// A limit that is near is told before it bites.
#[test]
fn nine_tenths_used_is_a_warning() {
    let folder = Folder::new();
    let policy = Api::start().gateway() + "rules: { few: { quota: 10/h } }\nwarn_at: 90%\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    for taken in 1..=10 {
        let seen = Request::get("/").to(program.gateway);
        let warned = seen.field("x-ratelimit-warning") == Some("approaching limit");
        assert_eq!(warned, taken >= 9, "after {taken} of 10");
    }
}
