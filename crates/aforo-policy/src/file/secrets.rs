//! What of a policy file may be shown: its lines up to the first secret in them.
//!
//! This looks at the text alone, for a line may be shown because it is no YAML. Where it is not sure, it shows less.

use super::mistake::lines;

/// Keys whose values are secrets.
const SECRETS: [&str; 4] = ["token", "secret", "values", "sha256"];
/// Keys whose values are URLs. In one that is misspelt a password may be anything before the last `@`.
const URLS: [&str; 3] = ["url", "upstream", "webhook"];
/// The key whose value is a URL, or a map with one.
const STORE: &str = "store";

/// What may be shown of the line of that number, from one.
pub(super) fn shown(text: &str, number: usize) -> Option<String> {
    let mut above: Vec<&str> = lines(text).take(number).collect();
    let line = above.pop().filter(|_| above.len() + 1 == number)?;
    let is_hidden = goes_on_with_a_secret(line, &above) || goes_on_with_a_url(line, &above);
    (!is_hidden).then(|| without_secrets(line))
}

/// A text that may be a URL, without what may be a password.
pub(super) fn printable(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, after)) => format!("…@{after}"),
        None => text.to_owned(),
    }
}

fn has_key(line: &str) -> bool {
    line.contains(": ") || line.trim_end().ends_with(':')
}

/// Whether a line has no key and belongs to one above that names a secret: an item of a list, or a text of several lines.
fn goes_on_with_a_secret(line: &str, above: &[&str]) -> bool {
    let owner = above.iter().rev().find(|line| has_key(line));
    !has_key(line) && owner.is_some_and(|line| secret_value(&line.to_ascii_lowercase()).is_some())
}

/// Whether a line may hold a user of a URL whose key stands above.
fn goes_on_with_a_url(line: &str, above: &[&str]) -> bool {
    let names_url = |line: &str| url_value(&line.to_ascii_lowercase()).is_some();
    if !line.contains('@') || names_url(line) {
        return false;
    }
    let nearest_key = above.iter().rev().find(|line| has_key(line));
    let mut indent = indentation(line);
    let mut owners = above.iter().rev().filter(|line| {
        let is_owner = !line.trim().is_empty() && indentation(line) < indent;
        if is_owner {
            indent = indentation(line);
        }
        is_owner
    });
    nearest_key.is_some_and(|line| names_url(line)) || owners.any(|line| names_url(line))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line up to the first secret in it: the value of a key that names one, or a URL's user or password parameter.
fn without_secrets(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let user = || first_user(&lower);
    let parameter = || Some(lower.find("password=")? + "password=".len());
    let secret = [secret_value(&lower), user(), parameter()].into_iter().flatten().min();
    match secret.and_then(|at| line.get(..at)) {
        Some(before) => format!("{before}…"),
        None => line.replace('\t', " "),
    }
}

/// Where the value of a key that names a secret begins in a line.
fn secret_value(lower: &str) -> Option<usize> {
    let value = |name: &str| {
        let key = lower.find(name)?;
        Some(key + lower.get(key..)?.find(':')? + 2)
    };
    SECRETS.into_iter().filter_map(value).min()
}

/// Where the value of a key that takes a URL begins in a line.
fn url_value(lower: &str) -> Option<usize> {
    let value = |name: &str| {
        lower.match_indices(name).find_map(|(key, _)| {
            let begins = lower.get(..key)?.chars().next_back().is_none_or(|before| " \t{[,\"'".contains(before));
            let rest = lower
                .get(key + name.len()..)
                .filter(|_| begins)?
                .trim_start_matches(['"', '\'', ' '])
                .strip_prefix(':')?;
            Some(lower.len() - rest.trim_start().len())
        })
    };
    URLS.into_iter().filter_map(value).min().or_else(|| value(STORE))
}

/// Where a user of a URL may begin in a line. A password may hold what ends a user elsewhere: a slash, a comma, a quotation
/// mark.
fn first_user(lower: &str) -> Option<usize> {
    let last = lower.rfind('@')?;
    let after_scheme = lower.find("://").map(|at| at + 3).filter(|at| *at <= last);
    let Some(value) = url_value(lower).filter(|at| *at <= last) else { return after_scheme };
    let begins_with_scheme = after_scheme.is_some_and(|after| {
        let scheme = lower.get(value..after).unwrap_or_default().trim_start_matches(['"', '\'', '[']);
        scheme
            .strip_suffix("://")
            .is_some_and(|scheme| scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
    });
    if begins_with_scheme { after_scheme } else { Some(value.min(after_scheme.unwrap_or(value))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> Option<String> {
        shown(text, lines(text).count())
    }

    #[test]
    fn a_url_is_shown_up_to_its_user_and_one_that_is_misspelt_not_at_all() {
        for (line, expected) in [
            ("store: redis://a:6379 # mine", "store: redis://a:6379 # mine"),
            ("store: redis://:hunter2@a", "store: redis://…"),
            ("store: { url: \"redis://hun://ter2@a\" }", "store: { url: \"redis://…"),
            ("store: { url: \"redis//:hunter2@a\", timeout: 1s }", "store: { url: …"),
            ("store: { url: redis:/:hunter2@a }", "store: { url: …"),
            ("store: { timeout: 0s, url: ':hunter2@a' }", "store: { timeout: 0s, url: …"),
            ("store: { url: \"redis//:hun://ter2@a\" }", "store: { url: …"),
            ("store: hunter2@a", "store: …"),
            ("store: redis//:url:hunter2@a", "store: …"),
            ("{\"store\":{\"url\":\"redis//:hunter2@a\"}}", "{\"store\":{\"url\":…"),
            ("{\"store\" : \"hunter2@a\"}", "{\"store\" : …"),
            ("gateway: { upstream: [http://a, user:hunter2@b] }", "gateway: { upstream: [http://…"),
            ("gateway: { upstream: [a, http://user:hunter2@b] }", "gateway: { upstream: …"),
            ("  - { match: GET /@{name}/a, cost: x }", "  - { match: GET /@{name}/a, cost: x }"),
        ] {
            assert_eq!(last(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_line_that_goes_on_with_a_url_is_not_shown_if_it_may_have_a_user() {
        for hidden in [
            "store:\n  redis//:hunter2@a",
            "store:\n  redis//:hun: ter2@a",
            "store: {\nurl:\n\"redis//:hunter2@a\" }",
            "store:\n  url:\n    hunter2@a",
            "gateway:\n  upstream:\n  - http://a\n  - user:hunter2@b",
            "gateway:\n  upstream:\n\n    - { user: hunter2@b }",
        ] {
            assert_eq!(last(hidden), None, "{hidden}");
        }
        assert_eq!(last("store:\n  url: redis://a\n  timeout: 0s").as_deref(), Some("  timeout: 0s"));
        assert_eq!(last("store: redis://a\nroutes:\n  - match: /@{name}").as_deref(), Some("  - match: /@{name}"));
    }

    #[test]
    fn the_value_of_a_secret_is_not_shown() {
        assert_eq!(last("admin: { token: hunter2 }").as_deref(), Some("admin: { token: …"));
        assert_eq!(last("exempt:\n  - token:\n      values:\n        - hunter2"), None);
        assert_eq!(
            last("store: redis-sentinel://a/s?sentinel_password=hunter2").as_deref(),
            Some("store: redis-sentinel://a/s?sentinel_password=…")
        );
        assert_eq!(shown("a: b\n", 2), None, "there is no such line");
    }
}
