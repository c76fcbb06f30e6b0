//! The table of fields: the one place that says what a policy file may hold.
//!
//! The reader refuses what is not in it, and the JSON Schema and the reference page are made from it.

mod answers;
mod limits;
mod senders;
mod serving;

use super::field::Kind::{Choice, Either, Later, List, Map, Named};
use super::field::Need::{Optional, Required};
use super::field::{Field, Kind, Need, Section, Text};
use answers::{DENIED, HEADERS};
pub(super) use limits::ALGORITHMS;
use limits::{PATH, ROUTE, RULE, RULE_NAMES};
pub(super) use senders::API_KEY;
use senders::{CLIENT, CORS, EXEMPTION, PROOF};
use serving::{ADMIN, GATEWAY, STORE};

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

/// What both the store and a rule may say.
const WHEN_DOWN: Kind = Choice(&["allow", "deny", "fallback"]);
/// What both the file and a rule may say.
const WARN_AT: Kind = Either(&[Choice(&["off"]), text(Text::Percent), List(&text(Text::Percent))]);

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
