//! The program on Redis: several of them as one, and what each rule does while Redis is gone.

use std::time::{Duration, Instant};

use aforo_testkit::servers::{RedisCluster, RedisServer};

use crate::stand::{Api, Folder, Program, Request, run, text, until};

/// A policy with a rule for each way of meeting a store that is down.
fn policy(server: &RedisServer) -> String {
    format!(
        "{}store: {{ url: \"{}\", share: 50%, timeout: 5s }}
rules:
  each: {{ quota: 10/h }}
routes:
  - match: GET /open
    rules: {{ each: {{ quota: 2/h, when_down: allow }} }}
  - match: GET /strict
    rules: {{ each: {{ quota: 10/h, when_down: deny }} }}
",
        Api::start().gateway(),
        server.url()
    )
}

fn status(program: &Program, path: &str) -> u16 {
    Request::get(path).to(program.gateway).status
}

/// The same once Redis is connected to: until then a store in the process stands in.
fn connected(program: Program) -> Program {
    until("redis answers", || (program.status()["store"]["state"] == "answering").then_some(()));
    program
}

fn down(program: &Program) -> bool {
    program.status()["store"]["breaker_open"] == true
}

#[test]
fn two_programs_on_one_redis_admit_one_quota() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    let file = folder.write("policy.yaml", &policy(&server));
    let programs = [connected(Program::under(&file)), connected(Program::under(&file))];
    let mut left = Vec::new();
    for _ in 0..5 {
        for program in &programs {
            let response = Request::get("/").to(program.gateway);
            assert_eq!(response.status, 200);
            left.push(response.field("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap());
        }
    }
    assert_eq!(left, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], "what is left falls by one, whoever is asked");
    for program in &programs {
        assert_eq!(status(program, "/"), 429);
    }
    // A process that comes later finds the counters as they are.
    assert_eq!(status(&connected(Program::under(&file)), "/"), 429);
}

#[test]
fn each_rule_does_what_it_says_while_redis_is_gone_and_goes_back_when_it_returns() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    let program = connected(Program::under(&folder.write("policy.yaml", &policy(&server))));
    assert_eq!(status(&program, "/"), 200);
    let before = Request::get("/readyz").to(program.admin());
    assert_eq!((before.status, before.body.as_str()), (200, "ready: policy 1, store redis answers\n"));

    server.kill();
    let started = Instant::now();
    let denied = Request::get("/strict").to(program.gateway);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!((denied.status, denied.field("retry-after")), (503, Some("1")));
    assert_eq!(denied.field("ratelimit"), None, "nobody knows what is left");
    assert!(denied.body.contains("LIMITER_UNAVAILABLE"), "{}", denied.body);
    for _ in 0..5 {
        let passed = Request::get("/open").to(program.gateway);
        assert_eq!((passed.status, passed.field("ratelimit")), (200, None));
    }
    // Half of the quota, by the counters of this process.
    let standing_in: Vec<u16> = (0..6).map(|_| status(&program, "/")).collect();
    assert_eq!(standing_in, [200, 200, 200, 200, 200, 429]);
    let shown = Request::get("/").to(program.gateway);
    assert_eq!(shown.field("x-ratelimit-limit"), Some("5"), "what is shown is what counts now");

    // Rules decided on eight requests so far, and nobody on six.
    let counted = serde_json::json!({
        "allowed": 6, "denied": 2, "exempt": 0, "store_down_allowed": 5, "store_down_denied": 1,
    });
    assert_eq!(program.status()["requests"], counted);

    until("it is known to be down", || down(&program).then_some(()));
    let meanwhile = Request::get("/readyz").to(program.admin());
    assert_eq!(meanwhile.status, 200);
    assert!(meanwhile.body.starts_with("degraded: policy 1, store redis is down for "), "{}", meanwhile.body);
    assert!(meanwhile.body.ends_with("; meanwhile rules fallback, allow, deny\n"), "{}", meanwhile.body);
    assert!(program.logs("the store is down").contains("WARN"));
    let page = Request::get("/").to(program.admin()).body;
    assert!(page.contains("Redis is down for"), "{page}");
    assert!(page.contains("while the store was down: 5 passed, 1 answered 503"), "{page}");

    server.restart();
    program.logs("the store answers again");
    let back = until("redis decides again", || {
        let response = Request::get("/strict").to(program.gateway);
        (response.status == 200).then_some(response)
    });
    assert_eq!(back.field("x-ratelimit-limit"), Some("10"));
    assert!(!down(&program));
}

#[test]
fn a_program_starts_without_redis_and_uses_it_as_soon_as_it_is_there() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    server.kill();
    let program = Program::under(&folder.write("policy.yaml", &policy(&server)));
    assert_eq!(Request::get("/healthz").to(program.admin()).status, 200);
    assert_eq!(status(&program, "/"), 200, "the store in this process stands in");
    assert_eq!(status(&program, "/strict"), 503);
    server.restart();
    until("redis decides", || (status(&program, "/strict") == 200).then_some(()));
}

#[test]
fn where_every_rule_denies_without_redis_the_program_is_not_ready() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    let head = Api::start().gateway();
    let rules =
        format!("{head}store: {{ url: \"{}\", when_down: deny }}\nrules: {{ each: {{ quota: 5/s }} }}\n", server.url());
    server.kill();
    let program = Program::under(&folder.write("policy.yaml", &rules));
    let ready = Request::get("/readyz").to(program.admin());
    assert_eq!(ready.status, 503);
    assert!(ready.body.starts_with("not ready: policy 1"), "{}", ready.body);
    server.restart();
    until("it is ready", || (Request::get("/readyz").to(program.admin()).status == 200).then_some(()));
}

#[test]
fn a_redis_that_answers_and_will_not_write_is_told_as_trouble() {
    let (folder, server) = (Folder::new(), RedisServer::with(&["--maxmemory-policy", "noeviction"]));
    let program = connected(Program::under(&folder.write("policy.yaml", &policy(&server))));
    let denying = format!(
        "{}store: {{ url: \"{}\", when_down: deny }}\nrules: {{ each: {{ quota: 5/s }} }}\n",
        Api::start().gateway(),
        server.url()
    );
    let strict = connected(Program::under(&folder.write("strict.yaml", &denying)));
    server.set("maxmemory", "1");
    for program in [&program, &strict] {
        // It takes a request to find out.
        let _ = status(program, "/");
        until("it is hindered", || (program.status()["store"]["state"] == "hindered").then_some(()));
    }
    let shown = program.status();
    assert_eq!(shown["store"]["breaker_open"], false);
    assert!(shown["store"]["trouble"].as_str().unwrap().contains("OOM"), "{shown}");
    assert_eq!((&shown["store"]["errors"]["other"], &shown["store"]["errors"]["not_asked"]), (&1.into(), &0.into()));
    let degraded = Request::get("/readyz").to(program.admin());
    assert_eq!(degraded.status, 200);
    assert!(degraded.body.starts_with("degraded: policy 1, store redis is hindered for "), "{}", degraded.body);
    assert!(degraded.body.contains("OOM") && degraded.body.contains("; meanwhile rules "), "{}", degraded.body);
    let page = Request::get("/").to(program.admin()).body;
    assert!(page.contains("Redis is hindered for"), "{page}");
    assert_eq!(Request::get("/readyz").to(strict.admin()).status, 503);
    server.set("maxmemory", "0");
    for program in [&program, &strict] {
        until("it is ready", || Request::get("/readyz").to(program.admin()).body.starts_with("ready").then_some(()));
    }
}

#[test]
fn a_cluster_without_one_of_its_primaries_is_degraded_and_names_it() {
    let (folder, cluster) = (Folder::new(), RedisCluster::with(3, &["--cluster-require-full-coverage", "no"]));
    let rules = format!(
        "{}store: {{ url: \"{}\", when_down: deny }}\nrules: {{ each: {{ quota: 5/s }} }}\n",
        Api::start().gateway(),
        cluster.url()
    );
    let program = connected(Program::under(&folder.write("policy.yaml", &rules)));
    let gone = &cluster.nodes()[1];
    gone.kill();
    let ready = until("it is noticed", || {
        let ready = Request::get("/readyz").to(program.admin());
        ready.body.starts_with("degraded").then_some(ready)
    });
    assert_eq!(ready.status, 200, "two of three go on");
    assert!(ready.body.contains(&format!("127.0.0.1:{} is down: ", gone.port())), "{}", ready.body);
    for node in cluster.nodes() {
        node.kill();
    }
    until("none is left", || (Request::get("/readyz").to(program.admin()).status == 503).then_some(()));
}

#[test]
fn a_store_named_in_the_call_takes_the_place_of_the_files() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    // On the file's terms: its timeout is long enough for a busy machine.
    let terms = "store: { url: redis://127.0.0.1:1, timeout: 5s }\nrules: { each: { quota: 2/h } }\n";
    let file = folder.write("policy.yaml", &(Api::start().gateway() + terms));
    let program = connected(Program::start(&["serve", "--config", file.to_str().unwrap(), "--store", &server.url()]));
    assert_eq!(status(&program, "/"), 200);
    let names: Vec<String> = server.keys("*").into_iter().map(|key| key.name).collect();
    assert!(names.iter().any(|name| name == "aforo:{ip:127.0.0.1}:each"), "{names:?}");
    let output = run(&["serve", "--upstream", "http://127.0.0.1:1", "--store", "rediss//localhost"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--store: `rediss//localhost` is no store"), "{}", text(&output.stderr));
}

#[test]
fn a_changed_quota_takes_effect_in_redis_and_gives_nobody_a_fresh_one() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    let head = format!("{}store: {{ url: \"{}\", timeout: 5s }}\n", Api::start().gateway(), server.url());
    let rules = |quota: &str| format!("{head}rules: {{ each: {{ quota: {quota} }} }}\n");
    let program = connected(Program::under(&folder.write("policy.yaml", &rules("2/h"))));
    let served: Vec<u16> = (0..3).map(|_| status(&program, "/")).collect();
    assert_eq!(served, [200, 200, 429]);
    folder.write("policy.yaml", &rules("20/h"));
    until("the new policy is served", || (program.status()["policy"]["version"] == 2).then_some(()));
    assert_eq!(Request::get("/").to(program.gateway).field("x-ratelimit-remaining"), Some("17"));
    folder.write("policy.yaml", &rules("2/h"));
    until("the old policy is served again", || (program.status()["policy"]["version"] == 3).then_some(()));
    assert_eq!(status(&program, "/"), 429);
}

#[test]
fn explain_looks_at_the_live_counters_and_takes_nothing() {
    let (folder, server) = (Folder::new(), RedisServer::start());
    let file = folder.write("policy.yaml", &policy(&server));
    let program = connected(Program::under(&file));
    for _ in 0..3 {
        assert_eq!(status(&program, "/"), 200);
    }
    let explain = |form: &str| {
        let config = file.to_str().unwrap();
        run(&["explain", "GET", "/", "--live", "--peer", "127.0.0.1", "--config", config, form])
    };
    for _ in 0..2 {
        let output = run(&["explain", "GET", "/", "--live", "--config", file.to_str().unwrap()]);
        assert!(text(&output.stdout).contains("now 7 of 10 left: it would pass"), "{}", text(&output.stdout));
    }
    let json: serde_json::Value = serde_json::from_slice(&explain("--json").stdout).unwrap();
    assert_eq!(json["rules"][0]["live"]["remaining"], 7);
    for _ in 3..10 {
        assert_eq!(status(&program, "/"), 200);
    }
    let output = run(&["explain", "GET", "/", "--live", "--config", file.to_str().unwrap()]);
    let said = text(&output.stdout);
    // Six minutes each, as a person reads it.
    assert!(said.contains("now 0 of 10 left: it fits in ") && said.contains("m ") && !said.contains(" ms"), "{said}");
    server.kill();
    let output = explain("--json");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("Connection refused"), "{}", text(&output.stderr));
}
