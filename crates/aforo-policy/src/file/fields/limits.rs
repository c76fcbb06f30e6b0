//! The table of rules and routes, and of how requests are read.

use super::super::field::Kind::{Choice, Count, Either, Flag, List, Map, Named};
use super::super::field::{Kind, Section, Text};
use super::{WARN_AT, WHEN_DOWN, field, required, text};

const ANY_COUNT: Kind = Count { least: 0, most: u32::MAX as u64 };

/// The names of rules, which clients are shown.
pub(super) const RULE_NAMES: &str = "^[ -~]{1,40}$";

pub(in crate::file) const ALGORITHMS: &[&str] = &["token-bucket", "sliding-window", "sliding-log", "fixed-window"];

pub(super) static RULE: Section = Section {
    what: "a rule",
    fields: &[
        field(
            "quota",
            text(Text::Quota),
            "",
            "How much: LIMIT/WINDOW, as 5/s, 300/min or `5 per 15 minutes`; `0/s` denies all, `unlimited` allows all. \
             Units are ms, s, min, h, d and w. A rule that overrides another may leave it out.",
        ),
        field(
            "per",
            Either(&[text(Text::Fact), List(&text(Text::Fact))]),
            "client",
            "What divides the quota: one or a list of `ip`, `user`, `client` (the verified user, else the address), \
             `plan`, `route`, `path`, `host`, `header:NAME`, `cookie:NAME`, `query:NAME`, `everyone`.",
        ),
        field(
            "burst",
            Count { least: 1, most: u32::MAX as u64 },
            "",
            "Of a token bucket: how much can be had at once; the limit if it is left out.",
        ),
        field(
            "algorithm",
            Choice(ALGORITHMS),
            "token-bucket",
            "How units are counted. At most burst + limit in any window by `token-bucket`, under twice the limit by \
             `sliding-window`, the limit exactly by `sliding-log`, twice the limit by `fixed-window`.",
        ),
        field("mode", Choice(&["enforce", "shadow"]), "enforce", "Whether a refusal counts, or is only reported."),
        field(
            "cost",
            ANY_COUNT,
            "",
            "What a request takes from this rule, whatever its route says; else the route's cost.",
        ),
        field("count_denied", Flag, "false", "Whether a refused request is charged all the same."),
        field(
            "when_missing",
            Choice(&["ip", "skip", "deny"]),
            "ip",
            "A fact of `per` is missing: the address stands in, the rule is skipped, or the request is refused with 403.",
        ),
        field(
            "warn_at",
            WARN_AT,
            "",
            "The share of the limit at which a client is warned; the file's if it is left out.",
        ),
        field(
            "when_down",
            WHEN_DOWN,
            "",
            "The store does not answer: the request passes, is turned away with 503, or a store in this process decides. The \
             store's if it is left out.",
        ),
        field(
            "share",
            text(Text::Percent),
            "",
            "The part of the quota that a fallback allows, rounded down and at least 1; the store's if it is left out.",
        ),
        field(
            "plans",
            Named { names: "^.{1,64}$", each: &Either(&[text(Text::Quota), Map(&PLAN)]) },
            "",
            "Other quotas for the users of plans, by the plans' names, in the same counter. They belong to the quota that they \
             stand beside: a route that says its own quota says its own plans.",
        ),
    ],
};

pub(super) static PLAN: Section = Section {
    what: "a plan",
    fields: &[
        required("quota", text(Text::Quota), "How much its users may have, as `quota` of a rule."),
        field(
            "burst",
            Count { least: 1, most: u32::MAX as u64 },
            "",
            "Of a token bucket: how much can be had at once; the limit if it is left out.",
        ),
    ],
};

pub(super) static ROUTE: Section = Section {
    what: "a route",
    fields: &[
        required(
            "match",
            text(Text::Match),
            "Methods and a path: `GET|POST /orders/{id}`. `*` is every method, `{name}` one segment, `{*rest}` one or \
             more. GET meets HEAD too.",
        ),
        field("host", text(Text::Host), "", "The one host that it is for; every host if it is left out."),
        field(
            "rules",
            Named { names: RULE_NAMES, each: &Map(&RULE) },
            "",
            "Limits of its own. One of the name of a rule above overrides it here, and counts apart.",
        ),
        field(
            "skip",
            Either(&[Choice(&["all"]), List(&text(Text::Any))]),
            "",
            "The rules above that are not met here; `all` for each of them.",
        ),
        field("cost", ANY_COUNT, "1", "What a request takes from each rule that does not say its own cost."),
    ],
};

pub(super) static PATH: Section = Section {
    what: "`path`",
    fields: &[
        field("case_insensitive", Flag, "false", "Whether /Login is /login."),
        field(
            "method_override",
            Either(&[Choice(&["false"]), text(Text::HeaderName)]),
            "false",
            "The name of a header by which the upstream lets a POST be another method.",
        ),
    ],
};
