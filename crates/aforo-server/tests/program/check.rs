//! `check` and `schema`: what they print and how they end.

use serde_json::json;

use crate::stand::{Folder, aforo, run, text};

const GOOD: &str = "rules:
  short: { quota: 5/s, per: client }
  long:  { quota: 100/min, algorithm: fixed-window, mode: shadow }
routes:
  - match: POST /auth/login
    rules: { short: { quota: 5/min, algorithm: sliding-log } }
exempt: [ { path: /health } ]
";

#[test]
fn a_good_policy_is_told_by_its_worst_cases() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", GOOD);
    let checked = run(&["check", file.to_str().unwrap()]);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{said}");
    for part in [
        "at most 10 in any 1 s",
        "at most 200 in any 60 s",
        "at most 5 in any 60 s",
        "POST /auth/login",
        "(shadow)",
        "exempt: /health",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
}

#[test]
fn a_good_policy_as_json() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", GOOD);
    let checked = run(&["check", "--json", file.to_str().unwrap()]);
    let answer: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["mistakes"], json!([]));
    assert_eq!(answer["rules"][0], json!({ "rule": "short", "route": null, "worst_case": "at most 10 in any 1 s" }));
    assert_eq!(checked.status.code(), Some(0));
}

#[test]
fn plans_and_exemptions_are_told_with_their_conditions_and_no_secret() {
    let folder = Folder::new();
    folder.write("office.txt", "# Where we sit.\n198.51.100.0/24\n");
    let file = folder.write(
        "policy.yaml",
        "rules: { each: { quota: 5/s, plans: { pro: { quota: 50/s, burst: 80 }, partner: unlimited } } }
exempt:
  - { name: office, cidr: office.txt }
  - { path: /hook, cidr: 192.0.2.1, token: { header: x-hook, values: [hunter2] } }
",
    );
    let said = text(&run(&["check", file.to_str().unwrap()]).stdout);
    for part in [
        "each, plan pro      everywhere  50/s, burst 80  token-bucket per client  at most 130 in any 1 s",
        "each, plan partner  everywhere  unlimited",
        "exempt: office (198.51.100.0/24)",
        "exempt: /hook (/hook, and a token in x-hook, and 192.0.2.1/32)",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    let as_json = run(&["check", "--json", file.to_str().unwrap()]);
    let answer: serde_json::Value = serde_json::from_slice(&as_json.stdout).unwrap();
    let pro = json!({ "rule": "each", "route": null, "plan": "pro", "worst_case": "at most 130 in any 1 s" });
    assert_eq!(answer["rules"][1], pro);
}

#[test]
fn a_mistake_in_a_file_that_the_policy_names_has_its_place_there() {
    let folder = Folder::new();
    folder.write("proxies.txt", "10.0.0.0/8\n10.0.0.0/33\n");
    let file =
        folder.write("policy.yaml", "client: { trusted_proxies: proxies.txt }\nrules: { each: { quota: 5/s } }\n");
    let said = text(&run(&["check", file.to_str().unwrap()]).stderr);
    assert!(said.contains("proxies.txt:2:1: `10.0.0.0/33` has no number from 0 to 32"), "{said}");
    let as_json = run(&["check", "--json", file.to_str().unwrap()]);
    let answer: serde_json::Value = serde_json::from_slice(&as_json.stdout).unwrap();
    assert_eq!((&answer["mistakes"][0]["file"], &answer["mistakes"][0]["line"]), (&"proxies.txt".into(), &2.into()));
}

#[test]
fn all_mistakes_are_listed_in_one_run_and_it_ends_with_1() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", "rules:\n  a: { qouta: 5/s }\n  b: { quota: 5/fortnight }\nroute: []\n");
    let checked = run(&["check", file.to_str().unwrap()]);
    let said = text(&checked.stderr);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(text(&checked.stdout), "");
    for place in ["policy.yaml:2:", "policy.yaml:3:", "policy.yaml:4:"] {
        assert!(said.contains(place), "{place} is not in:\n{said}");
    }
    let as_json = run(&["check", "--json", file.to_str().unwrap()]);
    assert_eq!(as_json.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&as_json.stdout).unwrap();
    assert_eq!(answer["ok"], false);
    assert!(answer["mistakes"].as_array().unwrap().len() >= 3);
    assert_eq!(answer["mistakes"][0]["line"], 2);
    assert!(answer["mistakes"][0]["help"].as_str().unwrap().contains("quota"));
}

#[test]
fn a_store_that_cannot_be_opened_is_told_with_its_place_beside_the_other_mistakes() {
    let folder = Folder::new();
    for (store, column, help) in [
        ("store: redis://127.0.0.1/abc", 8, "a database is a whole number"),
        ("store: { prefix: shop, url: \"redis-cluster://:hunter2@a/1\" }", 29, "a cluster has database 0 alone"),
        ("store: { url: \"redis://hunter2@a\" }", 15, "write USER:PASSWORD@"),
    ] {
        let file = folder.write("policy.yaml", &format!("{store}\nrules: {{ each: {{ quota: 5/x }} }}\n"));
        let checked = run(&["check", "--json", file.to_str().unwrap()]);
        let answer: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
        let [first, second] = answer["mistakes"].as_array().unwrap().as_slice() else { panic!("{answer:#}") };
        assert_eq!((&first["line"], &first["column"]), (&json!(1), &json!(column)), "{answer:#}");
        assert!(first["message"].as_str().unwrap().ends_with("` cannot be used"), "{answer:#}");
        assert!(first["help"].as_str().unwrap().starts_with(help), "{answer:#}");
        assert_eq!(second["line"], 2, "{answer:#}");
        let said = run(&["check", file.to_str().unwrap()]);
        assert!(!format!("{said:?}{answer}").contains("hunter2"), "{said:?}");
    }
    // What the form of a text shows is told once.
    for store in
        ["{ url: redis://a, prefix: \"\" }", "{ max_keys: 0 }", "{ url: redis://a, max_keys: 0, connections: 0 }"]
    {
        let file = folder.write("policy.yaml", &format!("store: {store}\nrules: {{ each: {{ quota: 5/s }} }}\n"));
        let checked = run(&["check", "--json", file.to_str().unwrap()]);
        let answer: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
        let faults = store.matches(" 0").count().max(1);
        assert_eq!(answer["mistakes"].as_array().unwrap().len(), faults, "{answer:#}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let checked = run(&["check", "no-such-file.yaml"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stderr).contains("no-such-file.yaml"));
    let as_json = run(&["check", "--json", "no-such-file.yaml"]);
    assert_eq!(as_json.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&as_json.stdout).unwrap();
    assert!(answer["mistakes"][0]["message"].as_str().unwrap().contains("no-such-file.yaml"));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    for command in ["schema", "check --help"] {
        let shell = format!("'{}' {command} | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_aforo"));
        let output = std::process::Command::new("bash").args(["-c", &shell]).output().unwrap();
        assert_eq!(text(&output.stderr), "", "{command}");
    }
    let full = format!("'{}' schema > /dev/full", env!("CARGO_BIN_EXE_aforo"));
    let output = std::process::Command::new("bash").args(["-c", &full]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot be written"), "{}", text(&output.stderr));
}

#[test]
fn without_a_file_the_usual_one_is_read_or_asked_for() {
    let folder = Folder::new();
    let here = folder.path("");
    let none = aforo().arg("check").current_dir(&here).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("aforo.yaml"));
    folder.write("aforo.yaml", GOOD);
    let found = aforo().arg("check").current_dir(&here).output().unwrap();
    assert_eq!(found.status.code(), Some(0));
}

#[test]
fn the_schema_is_json_that_names_every_section() {
    let schema: serde_json::Value = serde_json::from_slice(&run(&["schema"]).stdout).unwrap();
    for section in ["gateway", "admin", "store", "rules", "routes", "exempt", "path", "warn_at", "headers", "denied"] {
        assert!(schema["properties"].get(section).is_some(), "{section}");
    }
}

#[test]
fn every_command_helps_with_an_example() {
    for command in ["demo", "serve", "check", "explain", "schema"] {
        let help = run(&[command, "--help"]);
        assert_eq!(help.status.code(), Some(0));
        assert!(text(&help.stdout).contains("Example: aforo "), "{command}");
    }
    assert_eq!(run(&["serv"]).status.code(), Some(2));
    assert_eq!(run(&["serve", "--listen", "nowhere"]).status.code(), Some(2));
}
