//! Partitions: which facts divide a rule's quota.

use std::fmt;
use std::str::FromStr;

use crate::Invalid;
use crate::names::{is_token, nearest};

/// One fact about a request that can divide a quota.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The client's address, as far as it tells clients apart: see [`Clients`](crate::Clients).
    Ip,
    /// The user, if one is verified; else the address.
    Client,
    /// The user, if one is verified.
    User,
    /// The plan of the verified user, if one is told.
    Plan,
    /// The route that the request matches.
    Route,
    /// The path in its normal form. All paths that match no route are one.
    Path,
    /// The host that was asked for.
    Host,
    /// The value of a header, whose name is in lower case. Keys hold its digest.
    Header(Box<str>),
    /// The value of a cookie. Keys hold its digest.
    Cookie(Box<str>),
    /// The value of a parameter of the query. Keys hold its digest.
    Query(Box<str>),
    /// Nothing: one counter for all.
    Everyone,
}

/// What each fact that stands alone is called.
const FACTS: [(&str, Fact); 8] = [
    ("ip", Fact::Ip),
    ("client", Fact::Client),
    ("user", Fact::User),
    ("plan", Fact::Plan),
    ("route", Fact::Route),
    ("path", Fact::Path),
    ("host", Fact::Host),
    ("everyone", Fact::Everyone),
];

/// The facts as people write them.
const WRITTEN: &str = "ip, client, user, plan, route, path, host, header:NAME, cookie:NAME, query:NAME, everyone";

impl Fact {
    /// Whether a client can choose its value at will, and so have as many counters as it likes.
    pub(crate) fn is_chosen(&self) -> bool {
        matches!(self, Fact::Path | Fact::Host | Fact::Header(_) | Fact::Cookie(_) | Fact::Query(_))
    }
}

impl FromStr for Fact {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Fact, Invalid> {
        if let Some((_, fact)) = FACTS.iter().find(|(name, _)| *name == text) {
            return Ok(fact.clone());
        }
        let (kind, name) = text.split_once(':').map_or((text, ""), |(kind, name)| (kind, name.trim()));
        match kind {
            "header" if is_token(name) => Ok(Fact::Header(name.to_ascii_lowercase().into())),
            "cookie" if is_token(name) => Ok(Fact::Cookie(name.into())),
            "query" if !name.is_empty() => Ok(Fact::Query(name.into())),
            "header" | "cookie" | "query" => {
                let (what, example) = match kind {
                    "header" => ("header", "header:x-api-key"),
                    "cookie" => ("cookie", "cookie:session"),
                    _ => ("parameter", "query:api_key"),
                };
                Err(Invalid::new(
                    format!("`{text}` does not name a {what}"),
                    format!("write the {what}'s name after the colon: {example}"),
                ))
            }
            _ => {
                let known = FACTS.iter().map(|(name, _)| *name).chain(["header", "cookie", "query"]);
                let meant = nearest(kind, known).map(|name| format!("did you mean `{name}`? "));
                Err(Invalid::new(
                    format!("`{text}` is no fact that a quota can be divided by"),
                    format!("{}facts are {WRITTEN}", meant.unwrap_or_default()),
                ))
            }
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Header(name) => write!(f, "header:{name}"),
            Fact::Cookie(name) => write!(f, "cookie:{name}"),
            Fact::Query(name) => write!(f, "query:{name}"),
            fact => f.write_str(FACTS.iter().find(|(_, known)| known == fact).map_or("", |(name, _)| name)),
        }
    }
}

/// The facts that divide a quota, in order. Requests share a counter if they agree in all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition(Vec<Fact>);

impl Partition {
    /// A partition by these facts.
    ///
    /// # Errors
    ///
    /// If there is none, if one stands there twice, or if `everyone` has company.
    pub fn new(facts: impl IntoIterator<Item = Fact>) -> Result<Partition, Invalid> {
        let facts: Vec<Fact> = facts.into_iter().collect();
        if facts.is_empty() {
            return Err(Invalid::new("the list of facts is empty", "write `everyone` for one counter that all share"));
        }
        if let Some(twice) = facts.iter().enumerate().find(|(at, fact)| facts[..*at].contains(fact)) {
            return Err(Invalid::new(format!("`{}` stands there twice", twice.1), "name each fact once"));
        }
        if facts.len() > 1 && facts.contains(&Fact::Everyone) {
            return Err(Invalid::new("`everyone` stands beside other facts", "it stands alone, or not at all"));
        }
        Ok(Partition(facts))
    }

    /// The facts.
    #[inline]
    pub fn facts(&self) -> &[Fact] {
        &self.0
    }
}

impl Default for Partition {
    /// Each client by itself.
    fn default() -> Partition {
        Partition(vec![Fact::Client])
    }
}

impl From<Fact> for Partition {
    fn from(fact: Fact) -> Partition {
        Partition(vec![fact])
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fact) in self.0.iter().enumerate() {
            write!(f, "{}{fact}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
