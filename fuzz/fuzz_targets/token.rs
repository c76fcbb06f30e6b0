//! Whatever stands in `Authorization`, only what the key signed is somebody, by a name that may stand in a key.
#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use aforo_core::{ManualClock, Moment};
use aforo_http::identity::compile_with;
use aforo_policy::{Identify, Identity, Jwt, JwtKey, Proof};
use arbitrary::Arbitrary;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use ring::hmac;
use serde_json::{Map, Value};

const SECRET: &[u8] = b"a secret of this target, and of nothing else";
const RSA: &[u8] = include_bytes!("../../crates/aforo-http/tests/identity/keys/rsa.pem");
const NOW: u64 = 1_800_000_000;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    /// A line as it comes.
    Line(&'a [u8]),
    /// A token that the key signed, of whatever header and claims.
    Signed { head: Part<'a>, claims: Part<'a>, by_public_key: bool, damage: u8 },
}

#[derive(Arbitrary, Debug)]
enum Part<'a> {
    Any(&'a [u8]),
    /// What stands in every good one, and then something.
    Usual(&'a str),
}

impl Part<'_> {
    fn after(&self, usual: &str) -> Vec<u8> {
        match self {
            Part::Any(bytes) => bytes.to_vec(),
            Part::Usual(rest) => format!("{usual}{rest}}}").into_bytes(),
        }
    }
}

fn issuer(key: JwtKey) -> Arc<dyn Identify> {
    let jwt = Jwt {
        key,
        claim: "sub".to_owned(),
        plan: Some("plan".to_owned()),
        issuer: None,
        audience: None,
        leeway: Duration::ZERO,
    };
    compile_with(&[Proof::Jwt(jwt)], CLOCK.clone()).expect("a good key").expect("a proof")
}

static CLOCK: LazyLock<Arc<ManualClock>> = LazyLock::new(|| Arc::new(ManualClock::at(Moment::from_millis(NOW * 1000))));

static BY_SECRET: LazyLock<Arc<dyn Identify>> = LazyLock::new(|| issuer(JwtKey::Secret(SECRET.to_vec())));
static BY_RSA: LazyLock<Arc<dyn Identify>> = LazyLock::new(|| issuer(JwtKey::Pem(RSA.to_vec())));

fn ask(identify: &Arc<dyn Identify>, line: &[u8]) -> Option<Identity> {
    // Each from another address, so that none is refused for its predecessors.
    static ASKED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let address = std::net::Ipv4Addr::from_bits(ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    identify.identify(&|name| (name == "authorization").then_some(line), Some(address.into()), false)
}

fuzz_target!(|input: Input<'_>| {
    // A second for each, or the failures of all would count against each.
    CLOCK.advance(Duration::from_secs(1));
    match input {
        Input::Line(line) => {
            assert_eq!(ask(&BY_SECRET, line), None);
            assert_eq!(ask(&BY_RSA, line), None);
        }
        Input::Signed { head, claims, by_public_key, damage } => {
            let part = |text: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(text);
            let head = head.after(r#"{"alg":"HS256""#);
            let claims = claims.after(r#"{"exp":1900000000,"sub":"#);
            let signed = format!("{}.{}", part(&head), part(&claims));
            let secret = if by_public_key { RSA } else { SECRET };
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
            let line = format!("Bearer {signed}.{}", part(tag.as_ref()));
            assert_eq!(ask(&BY_RSA, line.as_bytes()), None, "a public key is no secret");
            let Some(identity) = ask(&BY_SECRET, line.as_bytes()) else { return };
            assert!(!by_public_key);
            assert_eq!(ask(&BY_SECRET, line.as_bytes()), Some(identity.clone()), "remembered, it is the same");
            for name in [Some(&identity.user), identity.plan.as_ref()].into_iter().flatten() {
                assert!(!name.is_empty() && name.len() <= 256 && !name.chars().any(char::is_control));
            }
            let head: Map<String, Value> = serde_json::from_slice(&head).expect("an object");
            assert!(head["alg"] == "HS256" && !head.contains_key("crit"));
            let claims: Map<String, Value> = serde_json::from_slice(&claims).expect("an object");
            assert!(claims["exp"].as_f64().expect("a number") > NOW as f64);
            let mut damaged = line.into_bytes();
            let at = damaged.len() - 1 - usize::from(damage) % (damaged.len() - b"Bearer ".len());
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(ask(&BY_SECRET, &damaged), None);
        }
    }
});
