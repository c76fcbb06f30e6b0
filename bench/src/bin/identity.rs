//! `identity`: what it costs to know who is asking.
//!
//! ```text
//! cargo build --release && target/release/identity [--out FILE.md]
//! ```

use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use aforo_bench::on_processor;
use aforo_bench::report::Machine;
use aforo_http::Descriptor;
use aforo_http::identity::Verifying;
use aforo_memory::MemoryStore;
use aforo_policy::{File, Identify, Limiter, Surroundings};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::{Request, request};
use ring::hmac;

const SECRET: &str = "a secret of this benchmark, and of nothing else: 64 bytes of it.";
/// Runs behind a figure.
const ROUNDS: usize = 11;

/// The keys of the tests.
struct Keys;

impl Surroundings for Keys {
    fn value(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.to_str() {
            Some("keys.yaml") => Ok(API_KEY.as_bytes().to_vec()),
            _ => std::fs::read(Path::new("../crates/aforo-http/tests/identity/keys").join(path)),
        }
    }
}

/// Of `ana's key`.
const API_KEY: &str = "- { sha256: 90ee7500155c2952ee04fa59ab79f7ff2ed3ef9130aa111028e293a880ec57cf, user: ana }";

fn door(text: &str) -> Limiter<MemoryStore> {
    let text = format!("{text}\nrules: {{ each: {{ quota: 1000000/s, per: client }} }}");
    let file = File::read("policy.yaml", &text, &Verifying(Keys)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Limiter::new(file.policy, MemoryStore::new())
}

/// A request as a browser sends it through two proxies, with one field more.
fn head(name: &'static str, value: &str) -> request::Parts {
    let fields = [
        ("host", "api.example"),
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
        ("accept", "application/json"),
        ("accept-language", "en-GB,en;q=0.5"),
        ("accept-encoding", "gzip, deflate, br, zstd"),
        ("referer", "https://app.example/orders"),
        ("x-forwarded-for", "203.0.113.7, 10.0.0.5"),
        ("x-forwarded-proto", "https"),
        ("cookie", "theme=dark; session=0123456789abcdef"),
        (name, value),
    ];
    let request =
        fields.into_iter().fold(Request::get("/api/orders/7"), |request, (name, value)| request.header(name, value));
    request.body(()).expect("a request").into_parts().0
}

/// A token of five hundred bytes for that user.
fn token(user: usize) -> String {
    let claims = format!(
        r#"{{"iss":"https://id.example","sub":"user-{user}","aud":"api","scope":"{}","exp":9999999999}}"#,
        "orders:read orders:write ".repeat(8)
    );
    let signed = format!("{}.{}", part(r#"{"alg":"HS256","typ":"JWT","kid":"2026-11"}"#), part(&claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
    format!("Bearer {signed}.{}", part(tag))
}

fn part(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Nanoseconds for each call, of the processor's time.
fn nanoseconds(calls: usize, call: &mut dyn FnMut(usize)) -> f64 {
    let before = on_processor();
    (0..calls).for_each(call);
    (on_processor() - before) / calls as f64
}

/// The median of each column, the rounds of all taken in turn, so that a machine that slows down slows all.
fn medians(mut columns: Vec<Box<dyn FnMut() -> f64 + '_>>) -> Vec<f64> {
    let rounds: Vec<Vec<f64>> = (0..ROUNDS).map(|_| columns.iter_mut().map(|column| column()).collect()).collect();
    let median = |at: usize| {
        let mut found: Vec<f64> = rounds.iter().map(|round| round[at]).collect();
        found.sort_by(f64::total_cmp);
        found[ROUNDS / 2]
    };
    (0..columns.len()).map(median).collect()
}

/// Describing a request and deciding about it.
fn request(door: &Limiter<MemoryStore>, head: &request::Parts) -> f64 {
    let peer = "10.0.0.1".parse().ok();
    nanoseconds(1_000_000, &mut |_| {
        let policy = door.policy();
        let descriptor = Descriptor::new(head, peer, &policy);
        black_box(door.take_under(policy, &descriptor).at_once());
    })
}

/// Knowing again one of so many tokens, each as it comes off a connection: in a buffer that was written a moment ago. What
/// writing it takes is taken off.
fn known_again(identify: &dyn Identify, tokens: &[String]) -> f64 {
    let mut buffer = vec![0; tokens[0].len() + 8];
    let mut each = |look: &dyn Fn(&[u8])| {
        nanoseconds(1_000_000, &mut |number| {
            let token = tokens[number * 7919 % tokens.len()].as_bytes();
            let line = &mut buffer[..token.len()];
            line.copy_from_slice(token);
            look(line);
        })
    };
    let ask = |line: &[u8]| {
        black_box(identify.identify(&|_| Some(line), None, false)).expect("a known user");
    };
    each(&ask);
    each(&ask)
        - each(&|line| {
            black_box(line);
        })
}

/// Refusing a token of plausible claims whose signature is made up, each time another, from ever new addresses.
fn made_up(proof: &str, algorithm: &str) -> f64 {
    let door = door(&format!("identity: [ {{ jwt: {{ {proof} }} }} ]"));
    let policy = door.policy();
    let identify = policy.identify().expect("a proof");
    let length = match algorithm {
        "HS256" => 32,
        "ES384" => 96,
        "RS256" | "PS256" => 256,
        _ => 64,
    };
    let signed =
        format!("{}.{}", part(format!(r#"{{"alg":"{algorithm}"}}"#)), part(r#"{"sub":"ana","exp":9999999999}"#));
    let calls = if algorithm == "ES384" { 100 } else { 2000 };
    let mut asked = 0u32;
    nanoseconds(calls, &mut |_| {
        asked += 1;
        let mut signature = vec![0x55; length];
        signature[length - 8..length - 4].copy_from_slice(&asked.to_be_bytes());
        // Of Ed25519 this is the greatest byte of a number that has a bound.
        signature[length - 1] = 5;
        let line = format!("Bearer {signed}.{}", part(&signature));
        let address = IpAddr::V4(Ipv4Addr::from_bits(asked));
        let known = identify.identify(&|_| Some(line.as_bytes()), Some(address), false);
        assert!(black_box(known).is_none());
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut sheet = format!(
        "# Who is asking, {}\n\nWritten by `bench/src/bin/identity.rs`. Processor's time of one thread, median of {ROUNDS} rounds.\n",
        Machine::here()
    );
    requests(&mut sheet);
    memory(&mut sheet);
    signatures(&mut sheet);
    print!("{sheet}");
    if let Some(file) = words.iter().position(|word| word == "--out").and_then(|at| words.get(at + 1)) {
        std::fs::write(file, sheet).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

fn requests(sheet: &mut String) {
    let proxies = "client: { trusted_proxies: [10.0.0.0/8] }";
    let jwt = format!("{proxies}\nidentity: [ {{ jwt: {{ secret: \"{SECRET}\" }} }} ]");
    let api_key = format!("{proxies}\nidentity: [ {{ api_key: {{ keys_file: keys.yaml }} }} ]");
    let named = format!("{proxies}\nidentity: [ {{ header: {{ name: x-user-id }} }} ]");
    let rows = [
        ("the peer's address", "", head("dnt", "1")),
        ("the address from X-Forwarded-For", proxies, head("dnt", "1")),
        ("that, and no token is shown", &jwt, head("dnt", "1")),
        ("that, and a token that is remembered", &jwt, head("authorization", &token(0))),
        ("that, and an API key", &api_key, head("x-api-key", "ana's key")),
        ("that, and a name by a trusted proxy", &named, head("x-user-id", "user-42")),
    ];
    let doors: Vec<_> = rows.iter().map(|(_, text, head)| (door(text), head)).collect();
    let found =
        medians(doors.iter().map(|(door, head)| Box::new(|| request(door, head)) as Box<dyn FnMut() -> f64>).collect());
    sheet.push_str(
        "\n## A request\n\nFrom its head, of ten fields, to the decision of the memory store, for one client.\n\n\
         | | ns | more than the first |\n|---|---|---|\n",
    );
    for ((what, ..), found_here) in rows.iter().zip(&found) {
        let _ = writeln!(sheet, "| {what} | {found_here:.0} | {:.0} |", found_here - found[0]);
    }
}

fn memory(sheet: &mut String) {
    sheet.push_str(
        "\n## Looking up a token that is remembered\n\nAlone: 500 bytes, freshly received, one of so many in turn.\n\n\
         | tokens | ns |\n|---|---|\n",
    );
    let door = door(&format!("identity: [ {{ jwt: {{ secret: \"{SECRET}\" }} }} ]"));
    let policy = door.policy();
    let identify = policy.identify().expect("a proof");
    let all: Vec<String> = (0..10_000).map(token).collect();
    let counts = [1, 1000, 10_000];
    let found = medians(
        counts
            .iter()
            .map(|count| Box::new(|| known_again(identify, &all[..*count])) as Box<dyn FnMut() -> f64>)
            .collect(),
    );
    for (count, found) in counts.iter().zip(found) {
        let _ = writeln!(sheet, "| {count} | {found:.0} |");
    }
}

fn signatures(sheet: &mut String) {
    sheet.push_str(
        "\n## A signature\n\nUntil a token with plausible claims and a made-up signature is refused; a true one takes the \
         same.\n\n| | µs | a second |\n|---|---|---|\n",
    );
    let secret = format!("secret: \"{SECRET}\"");
    let algorithms = [
        ("HS256", secret.as_str()),
        ("RS256", "pem_file: rsa.pem"),
        ("PS256", "pem_file: rsa.pem"),
        ("ES256", "pem_file: p256.pem"),
        ("ES384", "pem_file: p384.pem"),
        ("EdDSA", "pem_file: ed25519.pem"),
    ];
    let found = medians(
        algorithms
            .iter()
            .map(|(algorithm, proof)| Box::new(|| made_up(proof, algorithm)) as Box<dyn FnMut() -> f64>)
            .collect(),
    );
    for ((algorithm, _), found) in algorithms.iter().zip(found) {
        let _ = writeln!(sheet, "| {algorithm} | {:.1} | {:.0} |", found / 1000.0, 1e9 / found);
    }
}
