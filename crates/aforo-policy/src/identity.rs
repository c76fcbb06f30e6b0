//! Who is it? What a policy says about proof, and what is known once it is given.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Who a request is from, verified.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The user. Not a secret: it may stand in keys, in logs and on the dashboard.
    pub user: Arc<str>,
    /// The user's plan, if one is told.
    pub plan: Option<Arc<str>>,
    /// What verified it: `jwt`, `api_key` or `header`.
    pub by: &'static str,
}

/// A way of proving who one is.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// A signed token in `Authorization: Bearer` (RFC 7519).
    Jwt(Jwt),
    /// A key in a header, known by its SHA-256.
    ApiKey(ApiKeys),
    /// A header that a trusted proxy writes; its name in lower case.
    Header(Box<str>),
}

/// How a token is verified.
#[derive(Clone, PartialEq, Eq)]
pub struct Jwt {
    /// The key. It decides which algorithms are accepted.
    pub key: JwtKey,
    /// The claim that names the user.
    pub claim: String,
    /// The claim that names the plan.
    pub plan: Option<String>,
    /// The only issuer that is accepted, if one is said.
    pub issuer: Option<String>,
    /// The audience that must be among the token's, if one is said.
    pub audience: Option<String>,
    /// How far clocks may differ.
    pub leeway: std::time::Duration,
}

/// What tokens are verified with, as it was read.
#[derive(Clone, PartialEq, Eq)]
pub enum JwtKey {
    /// A secret, for HS256, HS384 and HS512.
    Secret(Vec<u8>),
    /// A public key or a certificate, in PEM.
    Pem(Vec<u8>),
    /// A set of keys (RFC 7517), in JSON.
    Jwks(Vec<u8>),
}

/// The keys that are known.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeys {
    /// The header that they are sent in, its name in lower case.
    pub header: Box<str>,
    /// Each key's SHA-256, and whose it is.
    pub keys: Vec<ApiKey>,
}

/// One key.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The SHA-256 of the key.
    pub sha256: [u8; 32],
    /// Whose it is.
    pub user: String,
    /// The plan that goes with it.
    pub plan: Option<String>,
}

/// What finds out who a request is from. The HTTP layer makes it from a policy's [`Proof`]s, and the policy carries it, so
/// that both are swapped together.
pub trait Identify: fmt::Debug + Send + Sync {
    /// Who it is, by the first proof that verifies. `address` is the client's, and `from_trusted_proxy` says whether the
    /// peer is one. What does not verify is nobody.
    fn identify(&self, line: &OnlyLine<'_>, address: Option<IpAddr>, from_trusted_proxy: bool) -> Option<Identity>;

    /// What becomes of each proof in turn, for people: up to the first that verifies. Nothing secret is in it.
    fn steps(&self, line: &OnlyLine<'_>, from_trusted_proxy: bool) -> Vec<String>;
}

/// The value of the header of that name (in lower case), if it stands in exactly one line. Of several lines nobody
/// knows which one the upstream believes.
pub type OnlyLine<'r> = dyn Fn(&str) -> Option<&'r [u8]> + 'r;

/// What is wrong with a proof, and what would be right. Nothing secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProof {
    /// The proof's place among the proofs, from 0.
    pub proof: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for InvalidProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "proof {}: {}: {}", self.proof + 1, self.message, self.help)
    }
}

impl std::error::Error for InvalidProof {}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({} by {})", self.user, self.by)
    }
}

impl fmt::Debug for Proof {
    /// Without anything secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Jwt(jwt) => write!(f, "Jwt(claim {})", jwt.claim),
            Proof::ApiKey(keys) => write!(f, "ApiKey(header {}, {} keys)", keys.header, keys.keys.len()),
            Proof::Header(name) => write!(f, "Header({name})"),
        }
    }
}
