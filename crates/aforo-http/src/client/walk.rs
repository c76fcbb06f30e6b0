//! The walk from the peer to the client.

use std::net::IpAddr;

use aforo_policy::{ClientHeader, Clients};

use super::address::canonical;
use super::{Finding, Told, forwarded, list};

/// The most elements that are read, empty ones too: a request that has come through as many proxies has come in a circle.
const MOST: usize = 64;

/// Whose address a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Walk {
    /// The client's address, an IPv4 address never within IPv6. `None` if not even the peer's is known.
    pub address: Option<IpAddr>,
    /// What told it.
    pub from: Source,
    /// Whether the peer is a proxy that is believed.
    pub trusted_peer: bool,
}

/// What told an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The connection: it is the address at its other end.
    Peer,
    /// The header that the policy names.
    Header,
}

/// Finds the client's address from the peer's and from the lines of the policy's header, in their order.
///
/// The header is believed only if the peer is trusted. All its lines are one list, walked from the right: the first
/// address that is not trusted is the client's. If all are trusted, it is the leftmost. What is no address ends the walk
/// at the last that was one, and so does a list of more than 64 elements. A `Forwarded` element that breaks the grammar
/// discredits the whole field, and the address is the peer's.
pub fn walk<'h, L>(peer: Option<IpAddr>, lines: L, clients: &Clients) -> Walk
where
    L: IntoIterator<Item = &'h [u8], IntoIter: DoubleEndedIterator>,
{
    observed(peer, lines.into_iter(), clients, |_, _| ())
}

/// Where a step is.
pub(super) enum Place<'h> {
    Peer(IpAddr),
    Element(&'h [u8]),
}

/// The walk, every step of which is shown, with what was found there.
pub(super) fn observed<'h>(
    peer: Option<IpAddr>,
    lines: impl DoubleEndedIterator<Item = &'h [u8]>,
    clients: &Clients,
    mut step: impl FnMut(Place<'h>, Finding),
) -> Walk {
    let mut walk =
        Walk { address: peer.map(|peer| canonical(peer, clients.nat64)), from: Source::Peer, trusted_peer: false };
    let Some(peer) = walk.address else { return walk };
    walk.trusted_peer = clients.trusted.contains(peer);
    if !walk.trusted_peer {
        step(Place::Peer(peer), Finding::Untrusted);
        return walk;
    }
    step(Place::Peer(peer), Finding::Trusted);
    let grammar = Grammar::of(&clients.header);
    let elements = Elements { lines: lines.rev(), rest: None, grammar };
    for (read, element) in elements.enumerate() {
        let told = if read < MOST { grammar.read(element) } else { Told::Other(Finding::TooMany) };
        match told {
            Told::Nothing => {}
            Told::Address(address) => {
                let address = canonical(address, clients.nat64);
                (walk.address, walk.from) = (Some(address), Source::Header);
                if !clients.trusted.contains(address) {
                    step(Place::Element(element), Finding::Untrusted);
                    break;
                }
                step(Place::Element(element), Finding::Trusted);
            }
            Told::Other(finding) => {
                if finding == Finding::Malformed {
                    (walk.address, walk.from) = (Some(peer), Source::Peer);
                }
                step(Place::Element(element), finding);
                break;
            }
        }
    }
    walk
}

/// How elements are written.
#[derive(Clone, Copy)]
enum Grammar {
    List,
    Forwarded,
}

impl Grammar {
    fn of(header: &ClientHeader) -> Grammar {
        match header {
            ClientHeader::Forwarded => Grammar::Forwarded,
            ClientHeader::XForwardedFor | ClientHeader::Named(_) => Grammar::List,
        }
    }

    fn split_last(self, line: &[u8]) -> (Option<&[u8]>, &[u8]) {
        match self {
            Grammar::List => list::split_last(line),
            Grammar::Forwarded => forwarded::split_last(line),
        }
    }

    #[inline]
    fn read(self, element: &[u8]) -> Told {
        match self {
            Grammar::List => list::read(element),
            Grammar::Forwarded => forwarded::read(element),
        }
    }
}

/// The elements of all lines, the nearest proxy's first. None is taken off before it is asked for.
struct Elements<'h, L> {
    /// The lines, the last one first.
    lines: L,
    /// What is left of a line.
    rest: Option<&'h [u8]>,
    grammar: Grammar,
}

impl<'h, L: Iterator<Item = &'h [u8]>> Iterator for Elements<'h, L> {
    type Item = &'h [u8];

    fn next(&mut self) -> Option<&'h [u8]> {
        let line = self.rest.take().or_else(|| self.lines.next())?;
        let (rest, element) = self.grammar.split_last(line);
        self.rest = rest;
        Some(element)
    }
}
