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
        field("client", Map(&CLIENT), "", "Whose address is it? How a client's address is found behind other proxies."),
        field(
            "identity",
            List(&Map(&PROOF)),
            "",
            "Who is it? Ways of proving it, tried in order: the first that verifies holds, and without any a client is \
             anonymous.",
        ),
        field("store", Either(&[text(Text::Store), Map(&STORE)]), "memory", "Where counters are kept."),
        field(
            "rules",
            Named { names: RULE_NAMES, each: &Map(&RULE) },
            "",
            "The limits that every request meets, by their names: 1 to 40 printable ASCII characters, which clients are shown.",
        ),
        field(
            "preflight",
            Map(&RULE),
            "{ quota: 600/min, per: ip }",
            "The one rule that a CORS preflight meets, and nothing else does.",
        ),
        field("routes", List(&Map(&ROUTE)), "", "Requests with limits of their own. The most specific match wins."),
        field(
            "exempt",
            List(&Map(&EXEMPTION)),
            "",
            "What is under no rule: a path, a token, networks, or several of these that must all hold.",
        ),
        field("path", Map(&PATH), "", "How paths and methods are read before anything is matched."),
        field(
            "warn_at",
            WARN_AT,
            "90%",
            "The share of a rule's limit at which a client is warned, or a list of shares; `off` for none.",
        ),
        field("headers", Map(&HEADERS), "", "Which response fields clients are shown."),
        field("denied", Map(&DENIED), "", "The body of a refusal."),
        field("cors", Map(&CORS), "", "The origins whose scripts may read what clients are shown."),
        later("decisions", "the decision service"),
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
        field(
            "proxy_protocol",
            Flag,
            "false",
            "Whether every connection begins with a header of the PROXY protocol, version 1 or 2, that says whose it is. Only \
             for listeners that nobody but such a proxy can reach.",
        ),
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

static CLIENT: Section = Section {
    what: "`client`",
    fields: &[
        field(
            "trusted_proxies",
            Either(&[text(Text::Network), List(&text(Text::Network))]),
            "[]",
            "The proxies that are believed: addresses, CIDRs, `loopback` (127.0.0.0/8, ::1), `private` (10.0.0.0/8, \
             172.16.0.0/12, 192.168.0.0/16, fc00::/7), and files with a CIDR a line.",
        ),
        field(
            "header",
            text(Text::HeaderName),
            "x-forwarded-for",
            "The one header that they tell the address in: `x-forwarded-for`, `forwarded`, `x-real-ip`, `cf-connecting-ip`, \
             `true-client-ip` or another. What others say, and what other headers say, is ignored.",
        ),
        // The longest blocks that one party was ever given: with fewer bits, whole continents would be one client.
        field(
            "ipv4_prefix",
            Count { least: 8, most: 32 },
            "32",
            "The bits of an IPv4 address that tell clients apart.",
        ),
        // A provider has a /32 or more: with fewer bits, several providers would be one client.
        field(
            "ipv6_prefix",
            Count { least: 32, most: 128 },
            "64",
            "The bits of an IPv6 address that tell clients apart. A client has a /64 at least, often a /56 or a /48.",
        ),
        field("nat64", Flag, "false", "Whether an address in 64:ff9b::/96 is the IPv4 address inside (RFC 6052)."),
    ],
};

static PROOF: Section = Section {
    what: "a proof of identity",
    fields: &[
        field("jwt", Map(&JWT), "", "A signed token in `Authorization: Bearer` (RFC 7519)."),
        field("api_key", Map(&API_KEYS), "", "A key in a header."),
        field("header", Map(&PROVEN_HEADER), "", "A header that a trusted proxy writes, with the user in it."),
    ],
};

static JWT: Section = Section {
    what: "`jwt`",
    fields: &[
        field(
            "jwks_file",
            text(Text::File),
            "",
            "A set of public keys, in JSON (RFC 7517). The key decides which algorithms are accepted.",
        ),
        field("secret", text(Text::Secret), "", "A secret, for HS256, HS384 and HS512."),
        field("pem_file", text(Text::File), "", "A public key or a certificate, in PEM."),
        field("claim", text(Text::Any), "sub", "The claim that names the user."),
        field("plan", text(Text::Any), "", "The claim that names the user's plan."),
        field("issuer", text(Text::Any), "", "The only issuer that is accepted."),
        field("audience", text(Text::Any), "", "An audience that must be among the token's."),
        field("leeway", text(Text::Leeway), "60s", "How far clocks may differ, up to 10min."),
    ],
};

static API_KEYS: Section = Section {
    what: "`api_key`",
    fields: &[
        field("header", text(Text::HeaderName), "x-api-key", "The header that keys are sent in."),
        required(
            "keys_file",
            text(Text::File),
            "A file with a list of `{ sha256: HEX, user: NAME, plan: NAME }`; `plan` may be left out.",
        ),
    ],
};

/// A key in the file that `keys_file` names.
pub(super) static API_KEY: Section = Section {
    what: "an API key",
    fields: &[
        required("sha256", text(Text::Sha256), "The SHA-256 of the key, in hexadecimal."),
        required("user", text(Text::User), "Whose key it is."),
        field("plan", text(Text::User), "", "The user's plan."),
    ],
};

static PROVEN_HEADER: Section = Section {
    what: "`header`",
    fields: &[required(
        "name",
        text(Text::HeaderName),
        "The header's name. It is believed from trusted proxies alone.",
    )],
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

/// The names of rules, which clients are shown.
const RULE_NAMES: &str = "^[ -~]{1,40}$";

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

static PLAN: Section = Section {
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

static EXEMPTION: Section = Section {
    what: "an exemption",
    fields: &[
        field("path", text(Text::Path), "", "The path, or a template as in `match`."),
        field("token", Map(&PASS), "", "What the request must show."),
        field(
            "cidr",
            Either(&[text(Text::Network), List(&text(Text::Network))]),
            "",
            "The networks that the client's address must be in, written as in `trusted_proxies`.",
        ),
        field("name", text(Text::Any), "", "What it is called; else its path, `token` or its networks."),
    ],
};

static PASS: Section = Section {
    what: "`token`",
    fields: &[
        required("header", text(Text::HeaderName), "The header that the token is sent in."),
        required("values", List(&text(Text::Secret)), "The tokens that are accepted."),
    ],
};

static CORS: Section = Section {
    what: "`cors`",
    fields: &[
        required("origins", List(&text(Text::Origin)), "The origins, as browsers write them; `*` for each."),
        field("credentials", Flag, "false", "Whether their scripts may send cookies and other credentials."),
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
