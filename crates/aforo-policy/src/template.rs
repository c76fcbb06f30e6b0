//! Path templates: `/orders/{id}`, `/files/{*rest}`.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::Invalid;
use crate::names::is_identifier;

/// A pattern of paths: literal segments, `{name}` for one segment and, at the end, `{*rest}` for one or more.
///
/// It is kept in the normal form that paths are matched in: one slash at the end is ignored, and a character that
/// cannot stand in a path is percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template(Vec<Segment>);

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Segment {
    Literal(String),
    Name(String),
    Rest(String),
}

impl Template {
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether it stands for more than one path.
    pub(crate) fn has_names(&self) -> bool {
        self.0.iter().any(|segment| !matches!(segment, Segment::Literal(_)))
    }
}

/// The most segments of a template.
const LONGEST: usize = 64;
const HELP: &str = "a template is like /orders/{id} or /files/{*rest}";

impl FromStr for Template {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Template, Invalid> {
        let Some(path) = text.strip_prefix('/') else {
            return Err(Invalid::new(format!("the path `{text}` does not begin with a slash"), HELP));
        };
        let path = path.strip_suffix('/').filter(|stripped| !stripped.is_empty()).unwrap_or(path);
        let mut template = Template(Vec::new());
        if path.is_empty() {
            return Ok(template);
        }
        let mut names = Vec::new();
        let mut segments = path.split('/').peekable();
        while let Some(segment) = segments.next() {
            if template.0.len() == LONGEST {
                let message = format!("a path of more than {LONGEST} segments");
                return Err(Invalid::new(message, "end the template earlier, with {*rest}"));
            }
            let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                template.0.push(Segment::Literal(literal(segment, text)?));
                continue;
            };
            let rest = name.strip_prefix('*');
            let name = rest.unwrap_or(name);
            if !is_identifier(name) {
                return Err(Invalid::new(
                    format!("`{segment}` in `{text}` is no name of a segment"),
                    "a name has letters, digits and underscores: {order_id}, {*rest}",
                ));
            }
            if rest.is_some() && segments.peek().is_some() {
                return Err(Invalid::new(
                    format!("`{segment}` in `{text}` is not at the end"),
                    "{*rest} takes all that follows: end the template there, or write {name} for one segment",
                ));
            }
            if names.contains(&name) {
                return Err(Invalid::new(
                    format!("the name `{name}` stands twice in `{text}`"),
                    "give each segment its own name",
                ));
            }
            names.push(name);
            let name = name.to_owned();
            template.0.push(if rest.is_some() { Segment::Rest(name) } else { Segment::Name(name) });
        }
        Ok(template)
    }
}

/// A literal segment in its normal form.
fn literal(segment: &str, text: &str) -> Result<String, Invalid> {
    let wrong = |message: String, help: &str| Err(Invalid::new(message, help));
    match segment {
        "" => {
            let help = "paths are matched with their slashes collapsed: write one slash";
            return wrong(format!("the path `{text}` has an empty segment"), help);
        }
        "." | ".." => {
            let help = "paths are matched with their dot segments resolved: write the path that is meant";
            return wrong(format!("the path `{text}` has a dot segment"), help);
        }
        _ => {}
    }
    let mut normal = String::with_capacity(segment.len());
    let mut letters = segment.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '{' | '}' => {
                let help = "a name stands for a whole segment: /files/{name}, not /files/{name}.json";
                return wrong(format!("`{segment}` in `{text}` has a brace that is no whole segment"), help);
            }
            '*' => {
                let help = "write {name} for one segment, {*rest} for all that follow";
                return wrong(format!("`{segment}` in `{text}` has a `*`"), help);
            }
            '?' | '#' => {
                let help = "a route matches the path alone: leave the rest out";
                return wrong(format!("the path `{text}` has a `{letter}`"), help);
            }
            ';' => {
                let help = "paths are matched without their ;parameters: leave them out";
                return wrong(format!("the path `{text}` has a `;`"), help);
            }
            '%' => {
                let Some(byte) = segment.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok()) else {
                    let message = format!("the path `{text}` has a `%` without two hexadecimal digits");
                    return wrong(message, "write %25 for a percent sign");
                };
                if stands_for_itself(byte) || byte == b'/' {
                    let message = format!("the path `{text}` encodes `{}`", char::from(byte));
                    return wrong(message, "paths are matched with that character decoded: write it as it is");
                }
                letters.nth(1);
                let _ = write!(normal, "%{byte:02X}");
            }
            _ if u8::try_from(letter).is_ok_and(stands_for_itself) => normal.push(letter),
            _ => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(normal, "%{byte:02X}");
                }
            }
        }
    }
    Ok(normal)
}

/// Whether a byte stands for itself in the normal form of a path, however it was sent. Every other byte is
/// percent-encoded there, with capital digits: what a template has a meaning for, what would change the structure of the
/// path, and what cannot be printed.
pub const fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && !matches!(byte, b'%' | b'/' | b'\\' | b';' | b'?' | b'#' | b'{' | b'}' | b'*')
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            match segment {
                Segment::Literal(literal) => write!(f, "/{literal}")?,
                Segment::Name(name) => write!(f, "/{{{name}}}")?,
                Segment::Rest(name) => write!(f, "/{{*{name}}}")?,
            }
        }
        if self.0.is_empty() { f.write_str("/") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_brought_into_the_normal_form_of_paths() {
        for (text, normal) in [
            ("/", "/"),
            ("/a", "/a"),
            ("/a/", "/a"),
            ("/a/{id}/b", "/a/{id}/b"),
            ("/{*rest}", "/{*rest}"),
            ("/café", "/caf%C3%A9"),
            ("/a%20b", "/a%20b"),
            ("/a b", "/a%20b"),
            ("/a%c3%a9", "/a%C3%A9"),
        ] {
            assert_eq!(text.parse::<Template>().unwrap().to_string(), normal);
        }
    }

    #[test]
    fn a_template_that_could_never_match_is_refused() {
        for text in [
            "",
            "a",
            "a/b",
            "//",
            "/a//b",
            "/./a",
            "/a/..",
            "/a?b",
            "/a#b",
            "/a;b",
            "/%61",
            "/%2F",
            "/%",
            "/%2",
            "/%zz",
            "/{}",
            "/{*}",
            "/{a}/{a}",
            "/{*a}/b",
            "/{a}.json",
            "/x{a}",
            "/*",
            "/a*",
            "/{a-b}",
            "/{1}",
            "/%é",
        ] {
            assert!(text.parse::<Template>().is_err(), "{text}");
        }
    }
}
