//! Why a token is nobody's.

use std::fmt;

/// Why a token does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    NotThreeParts,
    NoHead,
    Algorithm,
    Extension,
    NoKey,
    NamesNoKey,
    NoBody,
    Issuer,
    Audience,
    NoExpiry,
    Expired,
    NotYet,
    NoUser,
    Signature,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rejection::NotThreeParts => "it is not three parts with dots between them",
            Rejection::NoHead => "its header is not a JSON object in base64url, or its `kid` is not a text",
            Rejection::Algorithm => "its header names no algorithm that is known here",
            Rejection::Extension => "it demands an extension (`crit`)",
            Rejection::NoKey => "no key of the policy goes with its algorithm and the key that it names",
            Rejection::NamesNoKey => "it names no key, and more than eight go with its algorithm",
            Rejection::NoBody => "its claims are not a JSON object in base64url",
            Rejection::Issuer => "it is from another issuer",
            Rejection::Audience => "it is for another audience",
            Rejection::NoExpiry => "it never expires (`exp`)",
            Rejection::Expired => "it has expired",
            Rejection::NotYet => "it is not valid yet (`nbf`)",
            Rejection::NoUser => "the claim that names the user is no name",
            Rejection::Signature => "its signature is not by the key",
        })
    }
}
