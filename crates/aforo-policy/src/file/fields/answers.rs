//! The table of what clients are shown.

use super::super::field::Kind::Choice;
use super::super::field::{Section, Text};
use super::{field, text};

const STANDARDS: &[&str] = &["draft-11", "draft-7", "draft-6", "off"];
const LEGACY_RESETS: &[&str] = &["epoch", "delta", "iso8601"];

pub(super) static HEADERS: Section = Section {
    what: "`headers`",
    fields: &[
        field("standard", Choice(STANDARDS), "draft-11", "The `RateLimit` fields, by the version of their draft."),
        field("legacy", Choice(&["x-ratelimit", "off"]), "x-ratelimit", "The `X-RateLimit-*` fields."),
        field(
            "legacy_reset",
            Choice(LEGACY_RESETS),
            "epoch",
            "What X-RateLimit-Reset says: a Unix time, seconds from now, or a date.",
        ),
        field(
            "upstream",
            Choice(&["replace", "keep"]),
            "replace",
            "What becomes of fields of the same names that the upstream sends.",
        ),
    ],
};

pub(super) static DENIED: Section = Section {
    what: "`denied`",
    fields: &[
        field("body", Choice(&["problem"]), "problem", "`problem` is application/problem+json."),
        field("content_type", text(Text::Any), "application/json", "The media type of the template."),
        field(
            "template",
            text(Text::Any),
            "",
            "Any other body, with {{rule}} {{limit}} {{burst}} {{window}} {{retry_after}} {{detail}}, escaped for JSON.",
        ),
    ],
};
