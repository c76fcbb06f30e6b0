//! The body of a refusal.

use crate::Invalid;
use crate::names::nearest;

/// The names that a template can hold, as `{{rule}}`.
pub const PLACEHOLDERS: [&str; 6] = ["rule", "limit", "burst", "window", "retry_after", "detail"];

/// The body of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Denied {
    /// `application/problem+json` (RFC 9457).
    #[default]
    Problem,
    /// Any other.
    Template {
        /// Its media type.
        content_type: String,
        /// Its text, in which `{{rule}}`, `{{limit}}`, `{{burst}}`, `{{window}}`, `{{retry_after}}` and `{{detail}}`
        /// stand for what they name, escaped for a JSON string.
        template: String,
    },
}

impl Denied {
    /// A body of that media type, filled in from a template.
    ///
    /// # Errors
    ///
    /// If the media type is none, or a placeholder is unknown or does not end.
    pub fn template(content_type: &str, template: &str) -> Result<Denied, Invalid> {
        let parts = content_type.split(';').next().unwrap_or_default().trim().split_once('/');
        let is_media_type =
            parts.is_some_and(|(kind, name)| crate::names::is_token(kind) && crate::names::is_token(name));
        if !is_media_type || content_type.bytes().any(|byte| !matches!(byte, b' '..=b'~')) {
            return Err(Invalid::new(
                format!("`{}` is no media type", content_type.escape_debug()),
                "write for example application/json",
            ));
        }
        let places = format!("placeholders are {{{{{}}}}}", PLACEHOLDERS.join("}} {{"));
        let mut rest = template;
        while let Some((_, place)) = rest.split_once("{{") {
            let Some((name, after)) = place.split_once("}}") else {
                return Err(Invalid::new(
                    "a placeholder of the template does not end",
                    format!("close it with }}}}; {places}"),
                ));
            };
            if !PLACEHOLDERS.contains(&name.trim()) {
                let meant = nearest(name.trim(), PLACEHOLDERS).map(|name| format!("did you mean {{{{{name}}}}}? "));
                return Err(Invalid::new(
                    format!("`{{{{{name}}}}}` is no placeholder"),
                    format!("{}{places}", meant.unwrap_or_default()),
                ));
            }
            rest = after;
        }
        Ok(Denied::Template { content_type: content_type.to_owned(), template: template.to_owned() })
    }
}
