//! The table of who is asking: addresses, proofs of identity, exemptions, and scripts of other origins.

use super::super::field::Kind::{Count, Either, Flag, List, Map};
use super::super::field::{Section, Text};
use super::{field, required, text};

pub(super) static CLIENT: Section = Section {
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

pub(super) static PROOF: Section = Section {
    what: "a proof of identity",
    fields: &[
        field("jwt", Map(&JWT), "", "A signed token in `Authorization: Bearer` (RFC 7519)."),
        field("api_key", Map(&API_KEYS), "", "A key in a header."),
        field("header", Map(&PROVEN_HEADER), "", "A header that a trusted proxy writes, with the user in it."),
    ],
};

pub(super) static JWT: Section = Section {
    what: "`jwt`",
    fields: &[
        field(
            "jwks_file",
            text(Text::File),
            "",
            "A set of keys, in JSON (RFC 7517). The key decides which algorithms are accepted.",
        ),
        field("secret", text(Text::Secret), "", "A secret of 32 bytes or more, for HS256, HS384 and HS512."),
        field("pem_file", text(Text::File), "", "A public key or a certificate, in PEM."),
        field("claim", text(Text::Any), "sub", "The claim that names the user."),
        field("plan", text(Text::Any), "", "The claim that names the user's plan."),
        field("issuer", text(Text::Any), "", "The only issuer that is accepted."),
        field("audience", text(Text::Any), "", "An audience that must be among the token's."),
        field("leeway", text(Text::Leeway), "60s", "How far clocks may differ, up to 10min."),
    ],
};

pub(super) static API_KEYS: Section = Section {
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
pub(in crate::file) static API_KEY: Section = Section {
    what: "an API key",
    fields: &[
        required("sha256", text(Text::Sha256), "The SHA-256 of the key, in hexadecimal."),
        required("user", text(Text::User), "Whose key it is."),
        field("plan", text(Text::User), "", "The user's plan."),
    ],
};

pub(super) static PROVEN_HEADER: Section = Section {
    what: "`header`",
    fields: &[required(
        "name",
        text(Text::HeaderName),
        "The header's name. It is believed from trusted proxies alone.",
    )],
};

pub(super) static EXEMPTION: Section = Section {
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

pub(super) static PASS: Section = Section {
    what: "`token`",
    fields: &[
        required("header", text(Text::HeaderName), "The header that the token is sent in."),
        required("values", List(&text(Text::Secret)), "The tokens that are accepted."),
    ],
};

pub(super) static CORS: Section = Section {
    what: "`cors`",
    fields: &[
        required("origins", List(&text(Text::Origin)), "The origins, as browsers write them; `*` for each."),
        field("credentials", Flag, "false", "Whether their scripts may send cookies and other credentials."),
    ],
};
