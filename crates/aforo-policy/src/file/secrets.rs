//! What of a policy file may be shown: its lines up to the first secret in them, and where secrets stand, keys alone.
//!
//! This looks at the text alone, for a line may be shown because it is no YAML. Where it is not sure, it shows less.

use super::fields::FILE;
use super::masked::masked;
use super::mistake::{Place, lines};
use crate::names::{is_identifier, nearest};

/// Keys whose values are secrets.
pub(super) const SECRETS: [&str; 4] = ["token", "secret", "values", "sha256"];
/// Keys whose values are URLs. In one that is misspelt a password may be anything before the last `@`.
const URLS: [&str; 3] = ["url", "upstream", "webhook"];

/// Sections in which a secret may stand. A key that is misspelt there is still followed by one.
const SECTIONS: [&str; 5] = ["identity", "exempt", "admin", "decisions", "store"];

/// What may be shown of the line that a place is in, and where in that the place is. Of a text that `is_no_yaml` nobody
/// knows which section a line is in.
pub(super) fn shown(text: &str, place: Place, is_no_yaml: bool) -> Option<(String, Place)> {
    let mut above: Vec<&str> = lines(text).take(place.line).collect();
    let line = above.pop().filter(|_| above.len() + 1 == place.line)?;
    let goes_on = goes_on_with_a_secret(line, &above);
    if is_within_section(line, &above, text) || (is_no_yaml && names_section(text)) {
        return Some(masked(line, place, if goes_on { "values" } else { "" }));
    }
    let is_hidden = goes_on || goes_on_with_a_url(line, &above);
    (!is_hidden).then(|| (without_secrets(line), place))
}

/// A key as it may be shown. Where a colon is wrong or a space is missing, what follows is a value, and may be a secret.
pub(super) fn printable(key: &str) -> String {
    match (key.rsplit_once('@'), key.find([':', ' '])) {
        (Some((_, after)), _) => format!("…@{after}"),
        (None, Some(end)) => format!("{}…", key.get(..=end).unwrap_or_default()),
        (None, None) => key.to_owned(),
    }
}

/// Whether a line is in a section in which secrets may stand, by the nearest key that begins a section.
fn is_within_section(line: &str, above: &[&str], text: &str) -> bool {
    let says = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = above.iter().chain([&line]).find(says).copied().unwrap_or_default();
    let outermost = indentation(first);
    let outer = above.iter().chain([&line]).rev().filter(|line| indentation(line) <= outermost);
    // Of a map in braces the keys stand anywhere.
    let section = outer.filter(|_| !first.trim_start().starts_with('{')).find_map(|line| begun_section(line));
    match section {
        // What is like no section may be a part of one that is broken.
        Some(name) => {
            nearest(name, FILE.fields.iter().map(|field| field.name)).is_none_or(|name| SECTIONS.contains(&name))
        }
        None => names_section(text),
    }
}

/// The key that a line begins with.
fn begun_section(line: &str) -> Option<&str> {
    let (key, value) = match line.trim_start().strip_prefix("? ") {
        Some(key) => (key, ""),
        None => line.split_once(':')?,
    };
    let key = key.trim().trim_matches(['"', '\'']);
    (is_identifier(key) && (value.is_empty() || value.starts_with(char::is_whitespace))).then_some(key)
}

/// Whether a text has a section in which secrets may stand.
fn names_section(text: &str) -> bool {
    let follows = |(at, name): (usize, &str)| {
        let rest = text.get(at + name.len()..).unwrap_or_default();
        rest.trim_start_matches(['"', '\'', ' ']).starts_with(':')
    };
    SECTIONS.into_iter().any(|name| text.match_indices(name).any(follows))
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
    URLS.into_iter().filter_map(value).min()
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
        let place = Place { line: lines(text).count(), column: 1, width: 1 };
        shown(text, place, false).map(|(line, _)| line)
    }

    #[test]
    fn a_url_is_shown_up_to_its_user_and_one_that_is_misspelt_not_at_all() {
        for (line, expected) in [
            ("gateway: { upstream: http://a:80 } # mine", "gateway: { upstream: http://a:80 } # mine"),
            ("gateway: { upstream: \"http://hun://ter2@a\" }", "gateway: { upstream: \"http://…"),
            ("gateway: { upstream: \"http//:hunter2@a\", drain: 1s }", "gateway: { upstream: …"),
            ("gateway: { drain: 0s, upstream: ':hunter2@a' }", "gateway: { drain: 0s, upstream: …"),
            ("gateway: { upstream: [http://a, user:hunter2@b] }", "gateway: { upstream: [http://…"),
            ("gateway: { upstream: [a, http://user:hunter2@b] }", "gateway: { upstream: …"),
            ("rules: { a: 1 }\n\"gateway\" : { \"upstream\":\"hunter2@a\"}", "\"gateway\" : { \"upstream\":…"),
            ("routes:\n  - { match: GET /@{name}/a, cost: x }", "  - { match: GET /@{name}/a, cost: x }"),
        ] {
            assert_eq!(last(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_line_that_goes_on_with_a_url_is_not_shown_if_it_may_have_a_user() {
        for hidden in [
            "gateway:\n  upstream:\n  - http://a\n  - user:hunter2@b",
            "gateway:\n  upstream:\n\n    - { user: hunter2@b }",
        ] {
            assert_eq!(last(hidden), None, "{hidden}");
        }
        assert_eq!(last("store: redis://a\nroutes:\n  - match: /@{name}").as_deref(), Some("  - match: /@{name}"));
    }

    #[test]
    fn of_a_section_with_secrets_keys_alone_are_shown() {
        for (text, expected) in [
            ("admin: { token: hunter2 }", "admin: { token: … }"),
            ("exempt:\n  - token:\n      values:\n        - 1234", "        - …"),
            ("exempt:\n  - token:\n      values:\n- hunter2", "- …"),
            ("  admin:\n    tokn: hunter2", "    tokn: …"),
            ("admn:\n  tokn: hunter2", "  tokn: …"),
            ("rules: {}\n? admin\n: { tokn: hunter2 }", ": { tokn: … }"),
            ("# rules:\nadmin:\n  tokn: hunter2", "  tokn: …"),
            ("store: { url: \"redis//:hun\"ter2@a\" }", "store: { url: …… }"),
            ("store:\n  redis//:hun: ter2@a", "  …: …"),
            ("store:\n  url: redis://a\n  timeout: 0s", "  timeout: 0s"),
            ("{\"store\":{\"url\":\"redis//:hunter2@a\"}}", "{\"store\":{\"url\":…}}"),
            ("{\"admin\" : {\n\"rules\":\"hunter2\"}}", "\"rules\":…}}"),
            ("admin: { token: a }\nrules: { each: 5/x }", "rules: { each: 5/x }"),
        ] {
            assert_eq!(last(text).as_deref(), Some(expected), "{text}");
        }
        let beyond = Place { line: 2, column: 1, width: 1 };
        assert_eq!(shown("a: b\n", beyond, false), None, "there is no such line");
    }

    #[test]
    fn of_what_is_no_yaml_keys_alone_are_shown_if_there_is_a_section_with_secrets() {
        let last_of_broken = |text: &str| {
            let place = Place { line: lines(text).count(), column: 1, width: 1 };
            shown(text, place, true).map(|(line, _)| line)
        };
        assert_eq!(last_of_broken("admin: {\nrules: hunter2").as_deref(), Some("rules: …"));
        assert_eq!(last_of_broken("rules: hunter").as_deref(), Some("rules: hunter"));
    }
}
