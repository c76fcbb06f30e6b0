//! Which crate imports which.

use crate::tree::{assert_none, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// A crate, what it may import and why, and what must not come in even through others.
struct Layer {
    name: &'static str,
    imports: &'static [(&'static str, &'static str)],
    never: &'static [&'static str],
}

const LAYERS: &[Layer] = &[
    Layer { name: "aforo-core", imports: &[], never: &["tokio", "http", "serde", "redis"] },
    Layer {
        name: "aforo-memory",
        imports: &[
            ("aforo-core", "it is a store"),
            ("foldhash", "keyed hashes, so that nobody chooses collisions"),
            ("parking_lot", "a lock of one byte, without poisoning"),
            ("quanta", "the calibrated clock, read once a decision"),
        ],
        never: &["aforo-policy", "aforo-http", "http", "hyper", "tokio", "redis"],
    },
    Layer {
        name: "aforo-redis",
        imports: &[
            ("aforo-core", "it is a store"),
            ("arc-swap", "where the servers are, read by every call and swapped whole"),
            ("crc", "the slot of a key"),
            ("foldhash", "keyed hashes, so that nobody chooses collisions"),
            ("futures-util", "calls to several servers at once"),
            ("parking_lot", "a lock of one byte, without poisoning"),
            ("percent-encoding", "a password in an address"),
            ("redis", "the protocol, and many calls on one connection"),
            ("rustls-native-certs", "whom the system trusts"),
            ("socket2", "keepalive, so that a dead server is noticed"),
            ("tokio", "sockets and deadlines"),
            ("tokio-rustls", "TLS"),
            ("tracing", "says when the store is down, and when it answers again"),
        ],
        never: &["aforo-policy", "aforo-http", "aforo-memory", "aforo-server", "http", "hyper", "openssl-sys"],
    },
    Layer {
        name: "aforo-policy",
        imports: &[
            ("aforo-core", "quotas, keys, hits, the store trait"),
            ("arc-swap", "a policy is swapped whole, without a lock on the way of requests"),
            ("ipnet", "networks of addresses"),
            ("saphyr-parser", "YAML events with line and column"),
            ("serde_json", "the JSON Schema and the escapes of templates"),
            ("sha2", "the digest of a key too long to be written out, the same in every process"),
            ("strsim", "the nearest known name"),
            ("subtle", "tokens are compared in the same time wherever they differ"),
        ],
        never: &["aforo-http", "aforo-memory", "aforo-server", "http", "hyper", "tokio", "redis"],
    },
    Layer {
        name: "aforo-http",
        imports: &[
            ("aforo-core", "decisions"),
            ("aforo-policy", "the limiter, and the facts it asks for"),
            ("base64", "the parts of a token"),
            ("bytes", "the data of bodies"),
            ("form_urlencoded", "the parameters of a query"),
            ("http", "requests and responses"),
            ("http-body", "bodies"),
            ("humantime", "a date in ISO 8601"),
            ("pin-project-lite", "named futures instead of boxed ones"),
            ("itoa", "numbers in fields and bodies, without formatting"),
            ("ring", "signatures of tokens"),
            ("rustls-pki-types", "keys in PEM"),
            ("rustls-webpki", "the key in a certificate"),
            ("serde_json", "the problem document, and what tokens say"),
            ("sha2", "keys of clients are known by their digest"),
            ("sfv", "structured fields"),
            ("tower-layer", "the layer"),
            ("tower-service", "the service"),
        ],
        never: &["aforo-memory", "aforo-server", "hyper", "tokio", "redis"],
    },
    Layer {
        name: "aforo",
        imports: &[
            ("aforo-core", "re-exported"),
            ("aforo-http", "re-exported"),
            ("aforo-memory", "re-exported"),
            ("aforo-policy", "re-exported"),
            ("aforo-redis", "re-exported, and opened as a policy file says"),
        ],
        never: &["aforo-server", "hyper"],
    },
    Layer {
        name: "aforo-testkit",
        imports: &[
            ("aforo-core", "the suite runs against the store trait"),
            ("socket2", "the proxy resets connections, and lets them wait"),
        ],
        never: &["aforo-server", "hyper", "tokio"],
    },
];

/// The program may import all of them, and nobody imports the program.
const PROGRAM: &str = "aforo-server";

#[test]
fn every_crate_imports_what_its_row_names_and_nothing_else() {
    let mut broken = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        if name == PROGRAM {
            continue;
        }
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
            broken.push(format!("{name} has no row in LAYERS"));
            continue;
        };
        let declared = dependencies(&package, |kind| kind != Some("dev"));
        broken.extend(strays(layer, &declared));
    }
    assert_none(broken);
}

#[test]
fn nothing_comes_in_through_others_that_a_row_forbids() {
    let mut broken = Vec::new();
    for layer in LAYERS {
        let reached = reached(layer.name, &["--all-features"]);
        broken.extend(layer.never.iter().filter(|never| reached.contains(**never)).map(|never| {
            format!("{} reaches {never}: cargo tree -p {} -e normal --invert {never}", layer.name, layer.name)
        }));
    }
    assert_none(broken);
}

#[test]
fn without_the_store_in_redis_the_library_needs_no_runtime() {
    let library = packages().into_iter().find(|package| package["name"] == "aforo").unwrap();
    let features = library["features"].as_object().unwrap().keys().map(String::as_str);
    let others: Vec<&str> = features.filter(|feature| !["default", "redis"].contains(feature)).collect();
    let reached = reached("aforo", &["--no-default-features", "--features", &others.join(",")]);
    assert!(!reached.contains("tokio"), "aforo reaches tokio by one of its features {others:?}");
}

#[test]
fn nobody_imports_the_program() {
    let importers = packages().into_iter().filter(|package| dependencies(package, |_| true).contains(PROGRAM));
    assert_none(importers.map(|package| format!("{} imports {PROGRAM}", package["name"])).collect());
}

#[test]
fn every_crate_states_the_compiler_that_the_tests_run_with() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = output(Command::new(rustc).arg("--version"));
    let (running, _patch) = version.split(' ').nth(1).unwrap().rsplit_once('.').unwrap();
    let others = packages().into_iter().filter(|package| package["rust_version"].as_str() != Some(running));
    let broken = others.map(|package| {
        format!("{} states rust-version {}, and the tests ran with {running}", package["name"], package["rust_version"])
    });
    assert_none(broken.collect());
}

#[test]
fn an_import_without_a_row_and_a_row_without_an_import_are_both_found() {
    let layer = Layer { name: "sample", imports: &[("http", "requests")], never: &[] };
    let declared = BTreeSet::from(["tokio".to_owned()]);
    let broken = strays(&layer, &declared);
    assert_eq!(
        broken,
        ["sample imports tokio, which its row does not name", "sample: its row names http, which it does not import"]
    );
}

fn strays(layer: &Layer, declared: &BTreeSet<String>) -> Vec<String> {
    let allowed: BTreeSet<String> = layer.imports.iter().map(|(name, _why)| (*name).to_owned()).collect();
    let extra = declared.difference(&allowed);
    let stale = allowed.difference(declared);
    extra
        .map(|name| format!("{} imports {name}, which its row does not name", layer.name))
        .chain(stale.map(|name| format!("{}: its row names {name}, which it does not import", layer.name)))
        .collect()
}

/// The packages of the workspace, as cargo reads their manifests.
fn packages() -> Vec<Value> {
    let text = output(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--offline"]));
    let mut metadata: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(packages) = metadata["packages"].take() else { panic!("cargo metadata names no packages") };
    let crates = |package: &Value| package["manifest_path"].as_str().unwrap().contains("/crates/");
    packages.into_iter().filter(crates).collect()
}

fn dependencies(package: &Value, wanted: impl Fn(Option<&str>) -> bool) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().unwrap().iter();
    let of_kind = all.filter(|dependency| wanted(dependency["kind"].as_str()));
    of_kind.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect()
}

/// All that a crate is built from, with those features on.
fn reached(name: &str, features: &[&str]) -> BTreeSet<String> {
    let arguments = ["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let tree = output(cargo().args(arguments).args(["--package", name]).args(features));
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
