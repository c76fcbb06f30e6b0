//! The status page: what is served, by which rules, and how often it was refused, for people with a browser.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};

use super::Watched;
use super::status::Status;
use crate::totals::Counted;

/// Nothing from elsewhere, no script, no frame around it.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("style.css")).into_response()
}

pub(super) async fn page(State(watched): State<Arc<Watched>>) -> Response {
    let fields = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ];
    (fields, html(&watched)).into_response()
}

fn html(watched: &Watched) -> String {
    let status = Status::of(watched);
    let mut page = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=refresh content=5><title>aforo</title><link rel=stylesheet href=/style.css>\
         <header><h1>aforo</h1>",
    );
    let gateway = status.gateway.as_deref().unwrap_or("off");
    let uptime = humantime::format_duration(std::time::Duration::from_secs(status.uptime_s));
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<p>version {} · gateway {} · up {uptime}</p></header><main>",
        escape(status.version),
        escape(gateway)
    );
    let Counted { allowed, denied, exempt, store_down_allowed, store_down_denied } = status.requests;
    let keys = if status.store.redis.is_some() { "Keys of the stand-in" } else { "Keys in the store" };
    let _ = write!(
        page,
        "<section aria-label=Requests><dl class=figures>\
         <div><dt>Requests passed</dt><dd>{allowed}</dd></div>\
         <div><dt>Requests refused</dt><dd class=denied>{denied}</dd></div>\
         <div><dt>Requests exempt</dt><dd>{exempt}</dd></div>\
         <div><dt>{keys}</dt><dd>{} <small>of at most {}</small></dd></div></dl>",
        status.store.keys, status.store.max_keys
    );
    if store_down_allowed + store_down_denied > 0 {
        let _ = write!(
            page,
            "<p class=bad>Requests that nobody counted while the store was down: {store_down_allowed} passed, \
             {store_down_denied} answered 503.</p>"
        );
    }
    page.push_str("</section>");
    store(&mut page, &status);
    reload(&mut page, &status);
    rules(&mut page, watched);
    page.push_str(
        "</main><footer>This page looks again every 5 seconds. The same as JSON: \
        <a href=/api/v1/status>status</a>, <a href=/api/v1/rules>rules</a>.</footer></html>",
    );
    page
}

/// How Redis is, if that is where counters are kept.
fn store(page: &mut String, status: &Status) {
    let Some(redis) = &status.store.redis else { return };
    page.push_str("<section><h2>Store</h2>");
    match (&redis.trouble, redis.down_s.or(redis.hindered_s)) {
        (Some(trouble), Some(seconds)) => {
            let since = humantime::format_duration(std::time::Duration::from_secs(seconds));
            let trouble = escape(trouble);
            let _ = write!(
                page,
                "<p class=bad role=alert>Redis is {} for {since}: {trouble}. Where a take fails, each rule does what \
                 its <code>when_down</code> says.</p>",
                redis.state
            );
        }
        _ => {
            let _ = write!(page, "<p>Redis: {}.</p>", redis.state);
        }
    }
    page.push_str("<div class=wide><table><thead><tr><th scope=col>Server<th scope=col>State<th scope=col>Unanswered");
    page.push_str("</thead><tbody>");
    for server in &redis.servers {
        let text = |name: &str| escape(server.get(name).and_then(|value| value.as_str()).unwrap_or_default());
        let unanswered = server.get("unanswered").map(|value| value.to_string()).unwrap_or_default();
        let _ = write!(page, "<tr><th scope=row><code>{}</code><td>{}<td>{unanswered}", text("server"), text("state"));
    }
    page.push_str("</tbody></table></div>");
    let failed = |kind: &str| redis.errors.get(kind).map(|value| value.to_string()).unwrap_or_default();
    let _ = write!(
        page,
        "<p>Failed calls: {} late, {} lost or not connected, {} by the script, {} others. Questions not put \
         while it was down: {}. Refusals that cost no call: {}.</p></section>",
        failed("timeout"),
        failed("connection"),
        failed("script"),
        failed("other"),
        failed("not_asked"),
        redis.remembered
    );
}

fn reload(page: &mut String, status: &Status) {
    let policy = &status.policy;
    let _ = write!(
        page,
        "<section><h2>Policy</h2><p>Version {} from <code>{}</code>, last read at {}.</p>",
        policy.version,
        escape(&policy.source),
        escape(&policy.last_reload.at)
    );
    if !policy.last_reload.needs_restart.is_empty() {
        let keys = escape(&policy.last_reload.needs_restart.join(", "));
        let _ = write!(page, "<p class=bad>Changed, and in effect only after a restart: <code>{keys}</code></p>");
    }
    if !policy.last_reload.ok {
        page.push_str("<p class=bad role=alert>The last reload was refused; the last good policy is served.</p><ul>");
        for mistake in policy.last_reload.mistakes.as_array().into_iter().flatten() {
            let text = |name: &str| mistake.get(name).map(|value| value.to_string()).unwrap_or_default();
            let message = mistake.get("message").and_then(|message| message.as_str()).unwrap_or_default();
            let _ = write!(page, "<li>line {}, column {}: {}", text("line"), text("column"), escape(message));
        }
        page.push_str("</ul>");
    }
    page.push_str("</section>");
}

fn rules(page: &mut String, watched: &Watched) {
    page.push_str(
        "<section><h2>Rules</h2><div class=wide><table><thead><tr><th scope=col>Rule<th scope=col>Route\
         <th scope=col>Quota<th scope=col>Algorithm<th scope=col>Per<th scope=col>Mode<th scope=col>Worst case\
         </thead><tbody>",
    );
    for rule in crate::command::rules_json(&watched.reloading.limiter().policy()) {
        let cell = |name: &str| escape(rule.get(name).and_then(|value| value.as_str()).unwrap_or("all"));
        let _ = write!(
            page,
            "<tr><th scope=row>{}<td><code>{}</code><td>{}<td>{}<td>{}<td>{}<td>{}",
            cell("rule"),
            cell("route"),
            cell("quota"),
            cell("algorithm"),
            cell("per"),
            cell("mode"),
            cell("worst_case")
        );
    }
    page.push_str("</tbody></table></div></section>");
}

/// Text as it may stand in HTML, between tags and in quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
