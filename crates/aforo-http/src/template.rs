//! The body of a refusal as the policy writes it.

use crate::fields::Shown;
use crate::words;

/// Fills the places of a template; every value is escaped for a JSON string.
pub(crate) fn fill(template: &str, rule: &Shown<'_>, detail: &str, retry_after: Option<u64>) -> String {
    let mut filled = String::with_capacity(template.len() + 128);
    let mut rest = template;
    while let Some((before, place)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, after)) = place.split_once("}}") else {
            rest = &rest[before.len()..];
            break;
        };
        escape(&value(name.trim(), rule, detail, retry_after), &mut filled);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn value(name: &str, rule: &Shown<'_>, detail: &str, retry_after: Option<u64>) -> String {
    match name {
        "rule" => rule.name.to_owned(),
        "limit" => rule.quota.limit().to_string(),
        "burst" => rule.quota.at_once().to_string(),
        "window" => words::window(rule.quota.window()),
        "retry_after" => retry_after.map_or_else(|| "null".to_owned(), |seconds| seconds.to_string()),
        "detail" => detail.to_owned(),
        // Other names are refused with the policy.
        _ => String::new(),
    }
}

/// Text as it stands between the quotes of a JSON string.
fn escape(text: &str, into: &mut String) {
    let quoted = serde_json::Value::from(text).to_string();
    into.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
}
