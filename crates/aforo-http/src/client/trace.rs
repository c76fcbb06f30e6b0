//! A walk that tells of its steps, for people who ask why.

use std::fmt;
use std::net::IpAddr;

use aforo_policy::Clients;

use super::walk::{Place, Walk, observed};

/// A walk and its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// Where it led.
    pub walk: Walk,
    /// The steps, from the peer on.
    pub steps: Vec<Step>,
}

/// One step of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// What was looked at: `peer` and its address, or an element of the header, printable and cut short.
    pub at: String,
    /// What was found there.
    pub finding: Finding,
}

/// What was found at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finding {
    /// A proxy that is believed: the walk goes on.
    Trusted,
    /// An address that is not trusted: the client's.
    Untrusted,
    /// `unknown`: the proxy does not know who asked it.
    Unknown,
    /// A name such as `_hidden` in place of an address.
    Hidden,
    /// Something that is no address.
    NoAddress,
    /// An element of `Forwarded` without `for`.
    Silent,
    /// An element that breaks the grammar of `Forwarded`.
    Malformed,
    /// One element more than are read.
    TooMany,
}

/// The walk of [`walk`](super::walk()), with its steps. It allocates; requests are not served with it.
pub fn trace<'h, L>(peer: Option<IpAddr>, lines: L, clients: &Clients) -> Trace
where
    L: IntoIterator<Item = &'h [u8], IntoIter: DoubleEndedIterator>,
{
    let mut steps = Vec::new();
    let walk = observed(peer, lines.into_iter(), clients, |place, finding| {
        let at = match place {
            Place::Peer(address) => format!("peer {address}"),
            Place::Element(element) => printable(element),
        };
        steps.push(Step { at, finding });
    });
    Trace { walk, steps }
}

/// What may come from a client must not move the cursor of a terminal.
fn printable(element: &[u8]) -> String {
    const ROOM: usize = 80;
    let text = element.trim_ascii();
    let shown = text.get(..ROOM).unwrap_or(text).escape_ascii().to_string().replace("\\\"", "\"");
    if text.len() > ROOM { shown + "…" } else { shown }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at, self.finding)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Finding::Trusted => "is trusted",
            Finding::Untrusted => "is not trusted",
            Finding::Unknown => "is for who is not known",
            Finding::Hidden => "hides an address",
            Finding::NoAddress => "is no address",
            Finding::Silent => "has no `for`",
            Finding::Malformed => "breaks the grammar of the field, of which nothing is believed then",
            Finding::TooMany => "is one element too many",
        })
    }
}
