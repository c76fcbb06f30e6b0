//! Finding the most specific of many patterns.
//!
//! A tree of path segments, walked from the left: a literal segment is tried first, then `{name}`, then `{*rest}`; where
//! a branch ends without a route that fits the method and the host, the walk goes back to the next best. So a route
//! that does not fit is no candidate. A node stands for one row of segments, so a path visits each node at most once.

use crate::route::{Match, Methods};
use crate::template::Segment;

/// Patterns by their segments.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// In the order of their text.
    literals: Vec<(String, Tree)>,
    name: Option<Box<Tree>>,
    /// The patterns that end here.
    ends: Vec<Leaf>,
    /// The patterns that take one or more segments from here on.
    rests: Vec<Leaf>,
}

/// A pattern at the end of its segments.
#[derive(Debug)]
struct Leaf {
    index: usize,
    methods: Methods,
    host: Option<String>,
}

impl Tree {
    /// Adds a pattern.
    ///
    /// # Errors
    ///
    /// The index of another one that is just as specific for some request.
    pub(crate) fn insert(&mut self, index: usize, pattern: &Match, case_insensitive: bool) -> Result<(), usize> {
        let mut node = self;
        let mut rest = false;
        for segment in pattern.template.segments() {
            match segment {
                Segment::Literal(literal) => {
                    let mut literal = literal.clone();
                    if case_insensitive {
                        literal.make_ascii_lowercase();
                    }
                    let place = node.literals.binary_search_by(|(known, _)| known.cmp(&literal));
                    let at = place.unwrap_or_else(|at| {
                        node.literals.insert(at, (literal, Tree::default()));
                        at
                    });
                    node = &mut node.literals[at].1;
                }
                Segment::Name(_) => node = node.name.get_or_insert_default(),
                Segment::Rest(_) => rest = true,
            }
        }
        let leaves = if rest { &mut node.rests } else { &mut node.ends };
        let leaf = Leaf { index, methods: pattern.methods.clone(), host: pattern.host().map(str::to_owned) };
        let rival = leaves.iter().find(|other| other.host == leaf.host && other.methods.overlap(&leaf.methods));
        let answer = rival.map_or(Ok(()), |rival| Err(rival.index));
        leaves.push(leaf);
        answer
    }

    /// The most specific pattern, by the index that it was inserted under.
    #[inline]
    pub(crate) fn find(&self, method: &str, host: Option<&str>, path: &str) -> Option<usize> {
        self.walk(method, host, path.strip_prefix('/')?)
    }

    fn walk(&self, method: &str, host: Option<&str>, path: &str) -> Option<usize> {
        if path.is_empty() {
            return best(&self.ends, method, host);
        }
        // Segments are short: looking at each byte takes less than setting up a search.
        let end = path.bytes().position(|byte| byte == b'/').unwrap_or(path.len());
        let (segment, rest) = path.split_at(end);
        let rest = rest.get(1..).unwrap_or_default();
        let literal = || {
            let at = self.literals.binary_search_by(|(known, _)| known.as_str().cmp(segment)).ok()?;
            self.literals.get(at)?.1.walk(method, host, rest)
        };
        let name = || self.name.as_ref().filter(|_| !segment.is_empty())?.walk(method, host, rest);
        literal().or_else(name).or_else(|| best(&self.rests, method, host))
    }
}

/// Among equal paths, a pattern that names the host comes before one that does not, then one that names the method.
fn best(leaves: &[Leaf], method: &str, host: Option<&str>) -> Option<usize> {
    let ranked = leaves.iter().filter_map(|leaf| Some((leaf.rank(method, host)?, leaf.index)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, index)| index)
}

impl Leaf {
    /// How well it fits, if it does. GET's HEAD lies between a HEAD that is named and every method.
    fn rank(&self, method: &str, host: Option<&str>) -> Option<(bool, u8)> {
        if self.host.is_some() && self.host.as_deref() != host {
            return None;
        }
        let names_method = match &self.methods {
            Methods::Any => 0,
            Methods::Only(names) if names.iter().any(|name| name == method) => 2,
            Methods::Only(names) if method == "HEAD" && names.iter().any(|name| name == "GET") => 1,
            Methods::Only(_) => return None,
        };
        Some((self.host.is_some(), names_method))
    }
}

#[cfg(test)]
mod tests;
