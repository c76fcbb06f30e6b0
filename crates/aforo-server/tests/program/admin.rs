//! The admin listener: probes, status, rules, its page, and who may come in.

use crate::stand::{Api, Folder, Program, Request};

fn guarded(folder: &Folder) -> Program {
    let policy = Api::start()
        .gateway()
        .replace("admin: { listen: 127.0.0.1:0 }", "admin: { listen: 127.0.0.1:0, token: s3cret }")
        + "rules: { each: { quota: 5/h, per: ip } }\n";
    Program::under(&folder.write("policy.yaml", &policy))
}

#[test]
fn probes_need_no_token_and_meet_no_rule() {
    let folder = Folder::new();
    let program = guarded(&folder);
    for _ in 0..20 {
        for probe in ["/healthz", "/readyz"] {
            assert_eq!(Request::get(probe).to(program.admin()).status, 200);
        }
    }
    assert!(Request::get("/readyz").to(program.admin()).body.contains("store memory"));
}

#[test]
fn everything_else_needs_the_token() {
    let folder = Folder::new();
    let program = guarded(&folder);
    for path in ["/", "/api/v1/status", "/api/v1/rules"] {
        let refused = Request::get(path).to(program.admin());
        assert_eq!((refused.status, refused.field("www-authenticate").is_some()), (401, true), "{path}");
        for wrong in ["Bearer s3cre", "Bearer s3cret1", "Basic s3cret", "s3cret"] {
            let field = format!("authorization: {wrong}");
            assert_eq!(Request::get(path).with(&field).to(program.admin()).status, 401, "{path}: {wrong}");
        }
        let admitted = Request::get(path).with("authorization: Bearer s3cret").to(program.admin());
        assert_eq!(admitted.status, 200, "{path}");
        assert!(!admitted.body.contains("s3cret"), "a secret is never shown");
    }
    assert_eq!(Request::post("/api/v1/reload").to(program.admin()).status, 401);
}

#[test]
fn another_site_can_neither_read_nor_change_anything() {
    let folder = Folder::new();
    let policy = Api::start().gateway() + "rules: { each: { quota: 5/h } }\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let admin = program.admin();
    assert_eq!(Request::get("/api/v1/status").with("host: evil.example").to(admin).status, 403, "a rebound name");
    for field in ["origin: http://evil.example", "origin: null", "sec-fetch-site: cross-site"] {
        assert_eq!(Request::post("/api/v1/reload").with(field).to(admin).status, 403, "{field}");
    }
    let same = format!("origin: http://{admin}");
    assert_eq!(Request::post("/api/v1/reload").with(&same).to(admin).status, 200);
    assert_eq!(Request::get("/api/v1/status").with("host: localhost:1").to(admin).status, 200);
}

#[test]
fn status_counts_what_was_answered() {
    let folder = Folder::new();
    let policy = Api::start().gateway() + "rules: { each: { quota: 2/h } }\nexempt: [ { path: /health } ]\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    for path in ["/", "/", "/", "/health"] {
        Request::get(path).to(program.gateway);
    }
    let status = program.status();
    let counted = serde_json::json!({
        "allowed": 2, "denied": 1, "exempt": 1, "store_down_allowed": 0, "store_down_denied": 0,
    });
    assert_eq!(status["requests"], counted);
    let page = Request::get("/").to(program.admin()).body;
    assert!(!page.contains("while the store was down"), "{page}");
    assert_eq!(status["store"]["keys"], 1);
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    let rules = Request::get("/api/v1/rules").to(program.admin()).json();
    assert_eq!(rules[0]["rule"], "each");
    assert_eq!(rules[0]["worst_case"], "at most 4 in any 3600 s");
}

#[test]
fn the_page_is_whole_escaped_and_strict() {
    let folder = Folder::new();
    let policy = Api::start().gateway() + "rules: { \"<b>&\": { quota: 2/h } }\n";
    let program = Program::under(&folder.write("policy.yaml", &policy));
    let page = Request::get("/").to(program.admin());
    assert_eq!(page.status, 200);
    assert!(page.field("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(page.body.contains("&lt;b&gt;&amp;") && !page.body.contains("<b>&"), "{}", page.body);
    assert_eq!(Request::get("/style.css").to(program.admin()).status, 200);
    assert_eq!(Request::get("/nothing").to(program.admin()).status, 404);
}
