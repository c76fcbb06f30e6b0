//! How files look: their length, their documentation, what they may name, how tests wait.

use crate::tree::{File, assert_none, files, sources};

const CEILING: usize = 400;
const MEDIAN: usize = 150;

// In two halves, so that this file does not name what it looks for.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/wo", "rk"), concat!("/ro", "ot"), concat!("/ho", "me"), concat!("../sha", "red")];
const SLEEP: &str = concat!("::sle", "ep(");

/// Files that may be longer: (path, why it is a table).
const TABLES: &[(&str, &str)] = &[];

/// Where a test may sleep: (function, why that is not waiting for luck).
const SLEEPS: &[(&str, &str)] = &[
    ("eventually", "asks again, up to a deadline"),
    (
        "a_fast_upstream_waits_for_a_slow_client",
        "asks whether a count has come to rest: the time between is the question",
    ),
    ("bytes_that_trickle_do_not_prolong_a_header", "plays a slow client"),
    ("a_body_that_is_slow_but_steady_arrives", "plays a slow client"),
];

#[test]
fn a_file_is_one_concept_and_short() {
    assert_none(sources().iter().filter_map(too_long).collect());
}

#[test]
fn half_of_the_files_are_shorter_than_the_median_allows() {
    let sources = sources();
    let mut lengths: Vec<usize> = sources.iter().filter(|file| !file.is_test()).map(File::untested_lines).collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MEDIAN, "the median of the source files is {median} lines, and at most {MEDIAN} are wanted");
}

#[test]
fn every_table_that_may_be_long_still_is() {
    let sources = sources();
    let long = |path: &str| sources.iter().any(|file| file.path == path && file.untested_lines() > CEILING);
    let stale = TABLES.iter().filter(|(path, _)| !long(path));
    assert_none(stale.map(|(path, _)| format!("{path} is listed as a long table, and is none")).collect());
}

#[test]
fn every_library_denies_what_is_undocumented() {
    let roots = sources().into_iter().filter(|file| file.path.ends_with("/src/lib.rs"));
    let silent = roots.filter(|file| !file.text.lines().any(|line| line == "#![deny(missing_docs)]"));
    assert_none(silent.map(|file| format!("{} lacks #![deny(missing_docs)]", file.path)).collect());
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    assert_none(files("").iter().flat_map(machine_paths).collect());
}

#[test]
fn no_test_sleeps_to_wait() {
    assert_none(sources().iter().flat_map(sleeps).collect());
}

#[test]
fn a_breach_of_each_rule_is_found() {
    let long = File::sample("crates/a/src/long.rs", &"let x = 1;\n".repeat(CEILING + 1));
    assert!(too_long(&long).is_some());
    let tested = File::sample("crates/a/src/b.rs", &format!("#[cfg(test)]\n{}", "let x = 1;\n".repeat(CEILING)));
    assert!(too_long(&tested).is_none());

    let path = File::sample("docs/a.md", concat!("see /ro", "ot/notes and https://example/root/\n"));
    assert_eq!(machine_paths(&path), [concat!("docs/a.md:1 names /ro", "ot")]);

    let sleeping =
        format!("fn admits() {{\n    thread{SLEEP}SECOND);\n}}\nfn eventually() {{\n    thread{SLEEP}TICK);\n}}\n");
    assert_eq!(sleeps(&File::sample("crates/a/tests/b.rs", &sleeping)), ["crates/a/tests/b.rs:2 sleeps in admits()"]);
    let inside = format!("fn a() {{ thread{SLEEP}TICK) }}\n#[cfg(test)]\nmod tests {{\n{sleeping}}}\n");
    assert_eq!(sleeps(&File::sample("crates/a/src/b.rs", &inside)), ["crates/a/src/b.rs:5 sleeps in admits()"]);
}

fn too_long(file: &File) -> Option<String> {
    let lines = file.untested_lines();
    let table = TABLES.iter().any(|(path, _)| *path == file.path);
    (!file.is_test() && !table && lines > CEILING)
        .then(|| format!("{} has {lines} lines before its tests, and at most {CEILING} are wanted", file.path))
}

fn machine_paths(file: &File) -> Vec<String> {
    let part_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | ')');
    let lines = file.text.lines().enumerate();
    let named = lines.flat_map(|(at, line)| {
        let whole = move |path: &&str| {
            line.match_indices(*path).any(|(start, _)| {
                let after = line[start + path.len()..].chars().next();
                !line[..start].ends_with(part_of_a_name) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        };
        MACHINE_PATHS.into_iter().filter(whole).map(move |path| (at + 1, path))
    });
    named.map(|(at, path)| format!("{}:{at} names {path}", file.path)).collect()
}

fn sleeps(file: &File) -> Vec<String> {
    let mut in_tests = file.is_test();
    let mut function = "";
    let mut found = Vec::new();
    for (at, line) in file.code() {
        in_tests |= line == "#[cfg(test)]";
        if let Some((_, rest)) = line.split_once("fn ") {
            function = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        }
        let listed = SLEEPS.iter().any(|(name, _)| *name == function);
        if in_tests && !listed && line.contains(SLEEP) {
            found.push(format!("{}:{at} sleeps in {function}()", file.path));
        }
    }
    found
}
