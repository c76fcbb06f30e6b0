//! The reference page of the policy file, made from the table of fields.

use std::fmt::Write as _;

use super::field::{Field, Kind, Need, Section, Text};
use super::fields::FILE;

const HEAD: &str = "\
# The policy file

*This page is made from the table of fields in `aforo-policy`. Change it there.*

A policy file is YAML 1.2; JSON is YAML too. Unknown keys are mistakes. `${NAME}` and `${NAME:-default}` come from the
environment, in any value. Anchors, aliases, tags and merge keys are not read.
";

/// The reference page, as Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut waiting = vec![("the file".to_owned(), &FILE)];
    let mut written: Vec<*const Section> = Vec::new();
    while let Some((title, section)) = waiting.pop() {
        if written.iter().any(|known| std::ptr::eq(*known, section)) {
            continue;
        }
        written.push(section);
        write_section(&mut page, &title, section);
        // The last is taken first, so that the page is in the order of the table.
        for field in section.fields.iter().rev() {
            let title = if title == "the file" { field.name.to_owned() } else { format!("{title}.{}", field.name) };
            waiting.extend(inner(&field.kind).map(|section| (title, section)));
        }
    }
    let later = FILE.fields.iter().filter(|field| matches!(field.kind, Kind::Later(_)));
    page.push_str("\n## Not there yet\n\n");
    page.push_str("These names are kept for later versions, and refused by this one:\n");
    page.push_str(&later.map(|field| format!("`{}` ({})", field.name, field.about)).collect::<Vec<_>>().join(", "));
    page.push_str(".\n");
    page
}

fn write_section(page: &mut String, title: &str, section: &Section) {
    let _ = write!(page, "\n## {title}\n\n| key | value | default | |\n|---|---|---|---|\n");
    for Field { name, kind, default, need, about } in section.fields {
        if matches!(kind, Kind::Later(_)) {
            continue;
        }
        let default = match (*need, *default) {
            (Need::Required, _) => "required".to_owned(),
            (_, "") => String::new(),
            (_, default) => format!("`{default}`"),
        };
        let _ = writeln!(
            page,
            "| `{name}` | {} | {default} | {} |",
            words(kind).replace('|', "\\|"),
            about.replace('|', "\\|")
        );
    }
}

/// The section that describes a value further.
fn inner(kind: &Kind) -> Option<&'static Section> {
    match kind {
        Kind::Map(section) => Some(section),
        Kind::List(kind) | Kind::Named { each: kind, .. } => inner(kind),
        Kind::Either(kinds) => kinds.iter().find_map(inner),
        _ => None,
    }
}

pub(super) fn words(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Count { least, most } => format!("{least} to {most}"),
        Kind::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::Text(form) => form_of(*form).to_owned(),
        Kind::List(kind) => format!("list of: {}", words(kind)),
        Kind::Map(_) => "map".to_owned(),
        Kind::Named { .. } => "map of names".to_owned(),
        Kind::Either(kinds) => kinds.iter().map(words).collect::<Vec<_>>().join(" or "),
        Kind::Later(_) => String::new(),
    }
}

fn form_of(form: Text) -> &'static str {
    match form {
        Text::Any => "text",
        Text::Address => "address and port",
        Text::Deadline => "duration from `1ms` to `10s`",
        Text::Duration => "duration, as `50ms`, `10s`, `5min`, `1h`",
        Text::Fact => "fact",
        Text::File => "file",
        Text::HeaderName => "name of a header",
        Text::Host => "host",
        Text::Leeway => "duration up to `10min`",
        Text::Match => "methods and path",
        Text::Network => "CIDR, address, `loopback`, `private` or file",
        Text::Origin => "origin or `*`",
        Text::Path => "path",
        Text::Percent => "percentage",
        Text::Prefix => "printable ASCII without spaces and braces",
        Text::Quota => "quota, as `20/s`, `5 per 15 minutes`",
        Text::Secret => "secret",
        Text::Sha256 => "64 hexadecimal digits",
        Text::Store => "`memory` or URL of a store",
        Text::Url => "URL of an origin",
        Text::User => "1 to 256 bytes without control characters",
    }
}
