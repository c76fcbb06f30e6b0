//! Which folder of the program names what. The folders are one crate, so that the compiler does not hold this.

use crate::tree::{File, assert_none, names, sources};

const PROGRAM: &str = "crates/aforo-server/src/";

#[test]
fn only_the_gateway_names_the_proxy_library() {
    assert_none(sources().iter().flat_map(proxy_library).collect());
}

#[test]
fn the_answers_do_not_import_one_another() {
    let sources = sources();
    let doors: Vec<&str> = sources.iter().filter_map(door).collect();
    assert_none(sources.iter().flat_map(|file| other_doors(file, &doors)).collect());
}

#[test]
fn observing_imports_no_answer() {
    assert_none(sources().iter().flat_map(observed_answers).collect());
}

#[test]
fn a_breach_of_each_rule_is_found() {
    let admin =
        File::sample("crates/aforo-server/src/admin/status.rs", "// hyper::Body\nuse hyper_util::rt::TokioIo;\n");
    let gateway = File::sample("crates/aforo-server/src/gateway/pool.rs", "use hyper::client;\n");
    assert_eq!(
        proxy_library(&admin),
        ["crates/aforo-server/src/admin/status.rs:2 names hyper_util: only gateway/ may"]
    );
    assert_eq!(proxy_library(&gateway), [""; 0]);

    let http = File::sample("crates/aforo-server/src/answer/http/decide.rs", "use crate::answer::resp::Frame;\n");
    assert_eq!(other_doors(&http, &["http", "resp"]).len(), 1);
    let sibling = File::sample("crates/aforo-server/src/answer/http.rs", "use super::resp::Frame;\n");
    assert_eq!(other_doors(&sibling, &["http", "resp"]).len(), 1);
    assert_eq!(other_doors(&http, &["http"]), [""; 0]);

    let observe = File::sample("crates/aforo-server/src/observe/top.rs", "use crate::answer::http;\n");
    assert_eq!(observed_answers(&observe).len(), 1);
}

fn proxy_library(file: &File) -> Vec<String> {
    let Some(within) = file.path.strip_prefix(PROGRAM) else { return Vec::new() };
    if within.starts_with("gateway/") || within == "gateway.rs" {
        return Vec::new();
    }
    let libraries = ["hyper", "hyper_util"];
    let uses = file.code().flat_map(|(at, line)| {
        let named = libraries.into_iter().filter(|library| names(line, library));
        named.map(move |library| (at, library))
    });
    uses.map(|(at, library)| format!("{}:{at} names {library}: only gateway/ may", file.path)).collect()
}

/// The door that a file belongs to: `http` for `answer/http.rs` and for all of `answer/http/`.
fn door(file: &File) -> Option<&str> {
    let within = file.path.strip_prefix(PROGRAM)?.strip_prefix("answer/")?;
    let door = within.split('/').next()?.trim_end_matches(".rs");
    (door != "mod" && door != "tests").then_some(door)
}

fn other_doors(file: &File, doors: &[&str]) -> Vec<String> {
    let Some(own) = door(file) else { return Vec::new() };
    let others: Vec<&str> = doors.iter().copied().filter(|other| *other != own).collect();
    let uses = file.code().flat_map(|(at, line)| {
        let others = others.iter().copied();
        let named =
            others.filter(|other| ["answer", "super"].iter().any(|parent| names(line, &format!("{parent}::{other}"))));
        named.map(move |other| (at, other))
    });
    uses.map(|(at, other)| format!("{}:{at} names the answer {other}", file.path)).collect()
}

fn observed_answers(file: &File) -> Vec<String> {
    if !file.path.starts_with("crates/aforo-server/src/observe") {
        return Vec::new();
    }
    let uses = file.code().filter(|(_, line)| names(line, "answer"));
    uses.map(|(at, _)| format!("{}:{at} names an answer", file.path)).collect()
}
