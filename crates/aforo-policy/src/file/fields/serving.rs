//! The table of what a server obeys: where it listens, and where counters are kept.

use super::super::field::Kind::{Count, Either, Flag, List, Map};
use super::super::field::{Section, Text};
use super::{WHEN_DOWN, field, required, text};

pub(super) static GATEWAY: Section = Section {
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

pub(super) static TLS: Section = Section {
    what: "`tls`",
    fields: &[
        required("cert", text(Text::File), "The file of the certificate chain, in PEM."),
        required("key", text(Text::File), "The file of its private key, in PEM."),
    ],
};

pub(super) static TIMEOUTS: Section = Section {
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

pub(super) static ADMIN: Section = Section {
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

pub(super) static STORE: Section = Section {
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
