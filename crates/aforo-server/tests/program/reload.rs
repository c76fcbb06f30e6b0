//! Reloading: by signal, by file, by request; counters go on, and a bad file changes nothing.

use crate::stand::{Api, Folder, Program, Request, until};

fn rules(quota: &str) -> String {
    format!("rules: {{ each: {{ quota: {quota} }} }}\n")
}

fn version(program: &Program) -> u64 {
    program.status()["policy"]["version"].as_u64().unwrap()
}

fn remaining(program: &Program) -> Option<String> {
    Request::get("/").to(program.gateway).field("x-ratelimit-remaining").map(str::to_owned)
}

#[test]
fn a_saved_file_takes_effect_and_counters_go_on() {
    let folder = Folder::new();
    let head = Api::start().gateway();
    let file = folder.write("policy.yaml", &(head.clone() + &rules("5/h")));
    let program = Program::under(&file);
    assert_eq!(remaining(&program).as_deref(), Some("4"));
    assert_eq!(remaining(&program).as_deref(), Some("3"));
    folder.write("policy.yaml", &(head + &rules("50/h")));
    until("the new policy is served", || (version(&program) == 2).then_some(()));
    assert_eq!(remaining(&program).as_deref(), Some("47"), "two of five are two of fifty");
}

#[test]
fn a_saved_file_that_the_policy_names_takes_effect() {
    let folder = Folder::new();
    let networks = folder.write("office.txt", "192.0.2.1\n");
    let head = Api::start().gateway();
    let rest = "exempt: [{ cidr: office.txt }]\n";
    let file = folder.write("policy.yaml", &(head + &rules("5/h") + rest));
    let program = Program::under(&file);
    assert_eq!(remaining(&program).as_deref(), Some("4"));
    folder.write("office.txt", "192.0.2.1\n127.0.0.1/33\n");
    program.logs("policy not reloaded");
    assert_eq!(remaining(&program).as_deref(), Some("3"), "the old list is obeyed");
    folder.write("office.txt", "192.0.2.1\n127.0.0.1\n");
    until("the mended list is obeyed", || (version(&program) == 2).then_some(()));
    assert_eq!(remaining(&program), None, "who is exempt is told nothing");
    // As an editor saves: the file is away for a moment.
    std::fs::remove_file(&networks).unwrap();
    folder.write("office.txt", "192.0.2.1\n");
    until("the next list is obeyed", || (version(&program) == 3).then_some(()));
    assert_eq!(remaining(&program).as_deref(), Some("2"));
}

#[test]
fn a_swapped_symbolic_link_is_seen() {
    let folder = Folder::new();
    let head = Api::start().gateway();
    for (name, quota) in [("v1", "5/h"), ("v2", "7/h")] {
        std::fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/policy.yaml"), &(head.clone() + &rules(quota)));
    }
    let data = folder.path("data");
    std::os::unix::fs::symlink("v1", &data).unwrap();
    let program = Program::under(&data.join("policy.yaml"));
    assert_eq!(remaining(&program).as_deref(), Some("4"));
    // As a volume of Kubernetes does it: a new link is moved into the old one's place.
    std::os::unix::fs::symlink("v2", folder.path("data_tmp")).unwrap();
    std::fs::rename(folder.path("data_tmp"), &data).unwrap();
    until("the new policy is served", || (version(&program) == 2).then_some(()));
    assert_eq!(remaining(&program).as_deref(), Some("5"));
}

#[test]
fn a_bad_file_changes_nothing_and_is_told() {
    let folder = Folder::new();
    let head = Api::start().gateway();
    let file = folder.write("policy.yaml", &(head.clone() + &rules("5/h")));
    let program = Program::under(&file);
    folder.write("policy.yaml", &(head.clone() + "rules: { each: { qouta: 5/h } }\n"));
    program.logs("policy not reloaded");
    let status = program.status();
    assert_eq!(status["policy"]["version"], 1);
    assert_eq!(status["policy"]["last_reload"]["ok"], false);
    assert_eq!(status["policy"]["last_reload"]["mistakes"][0]["line"], 3);
    assert_eq!(remaining(&program).as_deref(), Some("4"), "the old policy is served");
    folder.write("policy.yaml", &(head + &rules("6/h")));
    until("the mended file is served", || (version(&program) == 2).then_some(()));
    assert_eq!(program.status()["policy"]["last_reload"]["ok"], true);
}

#[test]
fn sighup_and_a_request_reload() {
    let folder = Folder::new();
    let file = folder.write("policy.yaml", &(Api::start().gateway() + &rules("5/h")));
    let program = Program::under(&file);
    program.signal("HUP");
    until("the signal is obeyed", || (version(&program) == 2).then_some(()));
    let reloaded = Request::post("/api/v1/reload").to(program.admin());
    assert_eq!(reloaded.status, 200);
    assert_eq!(reloaded.json()["policy"]["version"], 3);
    folder.write("policy.yaml", "rules: [ }");
    let refused = Request::post("/api/v1/reload").to(program.admin());
    assert_eq!(refused.status, 422);
    assert_eq!(refused.field("content-type"), Some("application/problem+json"));
    assert_eq!(refused.json()["mistakes"][0]["line"], 1);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(Request::post("/api/v1/reload").to(program.admin()).status, 422, "a file that is gone is told too");
    assert_eq!(Request::get("/").to(program.gateway).status, 200);
}

#[test]
fn what_takes_effect_only_after_a_restart_is_named() {
    let folder = Folder::new();
    let head = Api::start().gateway();
    let file = folder.write("policy.yaml", &(head.clone() + &rules("5/h")));
    let program = Program::under(&file);
    let changed = head.replace("workers: 1", "workers: 2, drain: 5s").replace("admin: {", "admin: { token: new,");
    folder.write("policy.yaml", &(changed + &rules("6/h") + "store: { url: memory, max_keys: 7 }\n"));
    let reloaded = Request::post("/api/v1/reload").to(program.admin());
    assert_eq!(reloaded.status, 200);
    let keys = serde_json::json!(["gateway.workers", "gateway.drain", "admin.token", "store"]);
    assert_eq!(reloaded.json()["needs_restart"], keys);
    assert_eq!(program.status()["policy"]["last_reload"]["needs_restart"], keys);
    program.logs("in effect only after a restart");
    assert_eq!(remaining(&program).as_deref(), Some("5"), "the rules are in effect");
}

#[test]
fn a_certificate_that_serve_would_refuse_is_refused() {
    let folder = Folder::new();
    let head = Api::start().gateway();
    let program = Program::under(&folder.write("policy.yaml", &(head.clone() + &rules("5/h"))));
    let with_tls = head.replace("workers: 1", "workers: 1, tls: { cert: /nope.pem, key: /nope.pem }");
    let file = folder.write("policy.yaml", &(with_tls + &rules("5/h")));
    let refused = Request::post("/api/v1/reload").to(program.admin());
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("/nope.pem"), "{}", refused.body);
    let checked = crate::stand::run(&["check", file.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(crate::stand::text(&checked.stderr).contains("/nope.pem"));
}

#[test]
fn what_the_call_says_in_place_of_the_file_holds_for_reloads_too() {
    let (api, folder) = (Api::start(), Folder::new());
    let head = "gateway: { listen: 127.0.0.1:1, upstream: https://not.spoken.yet }\nadmin: { listen: 127.0.0.1:0 }\n";
    let file = folder.write("policy.yaml", &(head.to_owned() + &rules("5/h")));
    let upstream = format!("http://{}", api.address);
    let program = Program::start(&[
        "serve",
        "--config",
        file.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
        "--upstream",
        &upstream,
    ]);
    let reloaded = Request::post("/api/v1/reload").to(program.admin());
    assert_eq!(reloaded.status, 200, "{}", reloaded.body);
}
