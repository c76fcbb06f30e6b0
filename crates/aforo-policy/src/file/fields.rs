//! The table of fields: the one place that says what a policy file may hold.
//!
//! The reader refuses what is not in it, and the JSON Schema and the reference page are made from it.

use super::field::Kind::{Choice, Count, Either, Flag, Later, List, Map, Named};
use super::field::Need::{Optional, Required};
use super::field::{Field, Kind, Need, Section, Text};

const fn text(text: Text) -> Kind {
    Kind::Text(text)
}

const fn field(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Field {
    Field { name, kind, default, need: Optional, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, default: "", need: Required, about }
}

const fn later(name: &'static str, what: &'static str) -> Field {
    Field { name, kind: Later(what), default: "", need: Need::Optional, about: what }
}

const ANY_COUNT: Kind = Count { least: 0, most: u32::MAX as u64 };

pub(super) static FILE: Section = Section {
    what: "a policy file",
    fields: &[
        field("gateway", Map(&GATEWAY), "", "The proxy in front of an API."),
        field(
            "admin",
            Either(&[Choice(&["false"]), Map(&ADMIN)]),
            "{ listen: 127.0.0.1:9090 }",
            "The listener for people and monitoring; `false` for none.",
        ),
        field("store", Either(&[text(Text::Store), Map(&STORE)]), "memory", "Where counters are kept."),
        field(
            "rules",
            Named(&RULE),
            "",
            "The limits that every request meets, by their names: 1 to 40 printable ASCII characters, which clients are shown.",
        ),
        field("routes", List(&Map(&ROUTE)), "", "Requests with limits of their own. The most specific match wins."),
        field("exempt", List(&Map(&EXEMPTION)), "", "What is under no rule."),
        field("path", Map(&PATH), "", "How paths and methods are read before anything is matched."),
        field(
            "warn_at",
            WARN_AT,
            "90%",
            "The share of a rule's limit at which a client is warned, or a list of shares; `off` for none.",
        ),
        field("headers", Map(&HEADERS), "", "Which response fields clients are shown."),
        field("denied", Map(&DENIED), "", "The body of a refusal."),
        later("decisions", "the decision service"),
        later("client", "finding a client's address behind other proxies"),
        later("identity", "verifying who a client is"),
        later("preflight", "the rule for CORS preflights"),
        later("cors", "showing the response fields to scripts of other origins"),
        later("alerts", "alerts"),
        later("domains", "rules for Envoy's descriptors"),
        later("envoy_config", "reading Envoy's rate limit files"),
    ],
};

static GATEWAY: Section = Section {
    what: "`gateway`",
    fields: &[
        field("listen", text(Text::Address), "127.0.0.1:8080", "The address that clients connect to."),
        required(
            "upstream",
            Either(&[text(Text::Url), List(&text(Text::Url))]),
            "The API behind the gateway: a URL, or a list that is used in turn.",
        ),
        field(
            "workers",
            Count { least: 1, most: 1024 },
            "",
            "Threads that serve clients; one a core if it is left out.",
        ),
        field("tls", Map(&TLS), "", "The certificate that clients are shown; without it they connect in plain text."),
        field("timeouts", Map(&TIMEOUTS), "", "How long the gateway waits."),
        field(
            "drain",
            text(Text::Duration),
            "30s",
            "How long requests in flight may take to end when the gateway stops.",
        ),
        later("proxy_protocol", "the PROXY protocol"),
    ],
};

static TLS: Section = Section {
    what: "`tls`",
    fields: &[
        required("cert", text(Text::File), "The file of the certificate chain, in PEM."),
        required("key", text(Text::File), "The file of its private key, in PEM."),
    ],
};

static TIMEOUTS: Section = Section {
    what: "`timeouts`",
    fields: &[
        field(
            "header",
            text(Text::Duration),
            "10s",
            "From the first byte of a request's head to its end; on a new connection, from its start.",
        ),
        field("body", text(Text::Duration), "60s", "The longest silence within a body."),
        field("connect", text(Text::Duration), "2s", "Until the upstream accepts a connection."),
        field("upstream", text(Text::Duration), "60s", "The longest silence of the upstream."),
        field("idle", text(Text::Duration), "75s", "A connection without a request."),
    ],
};

static ADMIN: Section = Section {
    what: "`admin`",
    fields: &[
        field(
            "listen",
            text(Text::Address),
            "127.0.0.1:9090",
            "Its address. Where it is not given and the port is taken, a free one is.",
        ),
        field(
            "token",
            text(Text::Secret),
            "",
            "What callers must show. Required as soon as the address is not loopback.",
        ),
    ],
};

static STORE: Section = Section {
    what: "`store`",
    fields: &[
        field(
            "url",
            text(Text::Store),
            "memory",
            "Where it is: `memory`, or for many processes redis://USER:PASSWORD@HOST:PORT/DB, and likewise `rediss` (with TLS), \
             `redis-cluster`, `rediss-cluster`, `redis-sentinel` and `rediss-sentinel`, with hosts separated by commas.",
        ),
        field(
            "timeout",
            text(Text::Deadline),
            "50ms",
            "How long a request may wait for the store, 1ms to 10s. Then the store does not answer.",
        ),
        field(
            "when_down",
            WHEN_DOWN,
            "fallback",
            "What happens when the store does not answer, of rules that do not say.",
        ),
        field(
            "share",
            text(Text::Percent),
            "100%",
            "The part of each quota that a fallback allows, of rules that do not say.",
        ),
        field("prefix", text(Text::Prefix), "aforo", "What every key begins with: 1 to 64 characters."),
        field("connections", Count { least: 1, most: 64 }, "2", "Connections to each server."),
        field(
            "max_keys",
            Count { least: 1, most: u32::MAX as u64 },
            "1000000",
            "The most counters that are kept in memory; of a store elsewhere, by the one that stands in for it.",
        ),
    ],
};

const WHEN_DOWN: Kind = Choice(&["allow", "deny", "fallback"]);

const WARN_AT: Kind = Either(&[Choice(&["off"]), text(Text::Percent), List(&text(Text::Percent))]);

pub(super) const ALGORITHMS: &[&str] = &["token-bucket", "sliding-window", "sliding-log", "fixed-window"];

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
            "What divides the quota: one or a list of `ip`, `client`, `route`, `path`, `host`, `header:NAME`, `everyone`.",
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
        later("plans", "quotas for plans"),
    ],
};

static ROUTE: Section = Section {
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
            Named(&RULE),
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

static EXEMPTION: Section = Section {
    what: "an exemption",
    fields: &[
        required("path", text(Text::Path), "The path, or a template as in `match`."),
        field("name", text(Text::Any), "", "What it is called; its path if it is left out."),
        later("token", "exemptions by token"),
        later("cidr", "exemptions by address"),
    ],
};

static PATH: Section = Section {
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

pub(super) const STANDARDS: &[&str] = &["draft-11", "draft-7", "draft-6", "off"];
pub(super) const LEGACY_RESETS: &[&str] = &["epoch", "delta", "iso8601"];

static HEADERS: Section = Section {
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

static DENIED: Section = Section {
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
