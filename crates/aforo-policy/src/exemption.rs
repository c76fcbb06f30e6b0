//! Exemptions: requests that are under no rule, on purpose.

use std::fmt;
use std::net::IpAddr;

use subtle::{Choice, ConstantTimeEq as _};

use crate::digest::sha256;
use crate::{Describe, Networks, Template};

/// Requests that no rule meets: those to some paths, with a token or from some networks. All that is said must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exemption {
    /// What it is called.
    pub name: String,
    /// The paths; any if `None`.
    pub path: Option<Template>,
    /// What the request must show.
    pub pass: Option<Pass>,
    /// The networks that the client must be in.
    pub networks: Option<Networks>,
}

/// A header, and the secrets of which it must hold one.
///
/// They are kept as their SHA-256, so that they cannot be read here, and compared so that nobody can feel his way to one.
#[derive(Clone, PartialEq, Eq)]
pub struct Pass {
    header: Box<str>,
    digests: Vec<[u8; 32]>,
}

impl Exemption {
    /// An exemption that is called by its path.
    pub fn new(path: Template) -> Exemption {
        Exemption { name: path.to_string(), path: Some(path), pass: None, networks: None }
    }

    /// An exemption of whoever shows a token.
    pub fn with_pass(pass: Pass) -> Exemption {
        Exemption { name: "token".to_owned(), path: None, pass: Some(pass), networks: None }
    }

    /// An exemption of whoever is in one of these networks.
    pub fn within(name: impl Into<String>, networks: Networks) -> Exemption {
        Exemption { name: name.into(), path: None, pass: None, networks: Some(networks) }
    }

    /// Whether nothing but its path matters.
    pub(crate) fn is_for_everyone(&self) -> bool {
        self.pass.is_none() && self.networks.is_none()
    }

    /// Whether it is for whoever sends the request, apart from where to.
    pub(crate) fn admits(&self, request: &impl Describe) -> bool {
        let within = |networks: &Networks| request.address().is_some_and(|address: IpAddr| networks.contains(address));
        self.networks.as_ref().is_none_or(within) && self.pass.as_ref().is_none_or(|pass| pass.is_shown(request))
    }
}

impl Pass {
    /// A header, by its name in any case, and what it may hold. Spaces around that are no part of it, and nothing opens
    /// nothing.
    pub fn new(header: &str, secrets: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Pass {
        let digests = secrets.into_iter().map(|secret| sha256(secret.as_ref().trim_ascii())).collect();
        Pass { header: header.to_ascii_lowercase().into(), digests }
    }

    /// The header's name, in lower case.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Whether the header stands in one line and holds one of the secrets. Of several lines nobody knows which one counts.
    fn is_shown(&self, request: &impl Describe) -> bool {
        let mut lines = request.header(&self.header);
        let (Some(shown), None) = (lines.next(), lines.next()) else { return false };
        let shown = shown.trim_ascii();
        if shown.is_empty() {
            return false;
        }
        let shown = sha256(shown);
        let any = |any: Choice, digest: &[u8; 32]| any | digest.ct_eq(&shown);
        self.digests.iter().fold(Choice::from(0), any).into()
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pass({}: one of {})", self.header, self.digests.len())
    }
}
