//! A real browser: what a script of another origin can read.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::stand::{Api, Folder, Program, text};

/// Asks twice, with a field that makes the browser send a preflight first, and shows what a script gets to see.
const SCRIPT: &str = r#"
const ask = async () => {
  try {
    const response = await fetch(new URLSearchParams(location.search).get("api"), { headers: { "x-custom": "1" } });
    const field = (name) => response.headers.get(name);
    return {
      status: response.status, retry_after: field("retry-after"), ratelimit: field("ratelimit"),
      body: await response.text(),
    };
  } catch (error) {
    return { error: error.name };
  }
};
const seen = [await ask(), await ask()];
document.body.textContent = JSON.stringify(seen);
"#;

/// What the script saw on its page, which is of that origin.
fn visit(page: &str, api: &str) -> Value {
    let folder = Folder::new();
    let output = Command::new("timeout")
        .args([
            "-k",
            "1",
            "60",
            "chromium",
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        // The page is dumped when its script has waited for nothing any more.
        .args(["--virtual-time-budget=20000", "--dump-dom", &format!("{page}/?api={api}")])
        .stdin(Stdio::null())
        .output()
        .expect("coreutils are installed");
    let shown = text(&output.stdout);
    let seen = shown.split_once("<body>").and_then(|(_, rest)| rest.split_once("</body>"));
    let (seen, _) = seen.unwrap_or_else(|| {
        panic!(
            "no page; install it with: apt-get install -y chromium\n{shown}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    serde_json::from_str(seen.trim()).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

fn policy(api: &Api, cors: &str) -> String {
    format!("{}rules: {{ each: {{ quota: 1/h, algorithm: sliding-log }} }}\n{cors}", api.gateway())
}

#[test]
fn a_script_of_another_origin_can_read_why_it_is_refused() {
    let page = Api::saying(
        "content-type: text/html\r\n",
        &format!("<!doctype html><title>t</title><body></body><script type=module>{SCRIPT}</script>"),
    );
    let origin = format!("http://{}", page.address);
    let allows = format!("access-control-allow-origin: {origin}\r\naccess-control-allow-headers: x-custom\r\n");
    let (api, folder) = (Api::saying(&allows, "passed\n"), Folder::new());

    let open = folder.write("open.yaml", &policy(&api, &format!("cors: {{ origins: [\"{origin}\"] }}\n")));
    let program = Program::under(&open);
    let seen = visit(&origin, &program.url("/orders"));
    assert_eq!(seen[0]["status"], 200, "{seen}");
    assert_eq!(seen[0]["ratelimit"].as_str().map(|field| field.starts_with("\"each\";r=0")), Some(true), "{seen}");
    assert_eq!(seen[1]["status"], 429, "{seen}");
    let wait: u32 = seen[1]["retry_after"].as_str().unwrap().parse().unwrap();
    assert!((3500..=3600).contains(&wait), "{seen}");
    let problem: Value = serde_json::from_str(seen[1]["body"].as_str().unwrap()).unwrap();
    assert_eq!((&problem["code"], &problem["retry_after"]), (&json!("RATE_LIMITED"), &json!(wait)), "{seen}");

    // Without the origin in the policy the browser shows the script a broken network, and no field of ours.
    let closed = folder.write("closed.yaml", &policy(&api, ""));
    let program = Program::under(&closed);
    let seen = visit(&origin, &program.url("/orders"));
    assert_eq!((&seen[0]["status"], &seen[0]["ratelimit"]), (&json!(200), &Value::Null), "{seen}");
    assert_eq!(seen[1], json!({ "error": "TypeError" }));
}
