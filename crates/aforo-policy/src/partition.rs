//! Partitions: which facts divide a rule's quota.

use std::fmt;
use std::str::FromStr;

use crate::Invalid;
use crate::names::{is_token, nearest};

/// One fact about a request that can divide a quota.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The client's address: IPv4 in full, IPv6 cut to its first 64 bits.
    Ip,
    /// The client: for now its address.
    Client,
    /// The route that the request matches.
    Route,
    /// The path in its normal form.
    Path,
    /// The host that was asked for.
    Host,
    /// The value of a header, whose name is in lower case.
    Header(Box<str>),
    /// Nothing: one counter for all.
    Everyone,
}

/// What each fact that stands alone is called.
pub(crate) const FACTS: [(&str, Fact); 6] = [
    ("ip", Fact::Ip),
    ("client", Fact::Client),
    ("route", Fact::Route),
    ("path", Fact::Path),
    ("host", Fact::Host),
    ("everyone", Fact::Everyone),
];

/// Facts of which this version knows only the name.
const LATER: [&str; 2] = ["user", "plan"];
/// Prefixes of facts of which this version knows only the name.
const LATER_NAMED: [&str; 2] = ["cookie", "query"];

impl FromStr for Fact {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Fact, Invalid> {
        if let Some((_, fact)) = FACTS.iter().find(|(name, _)| *name == text) {
            return Ok(fact.clone());
        }
        let (kind, name) = text.split_once(':').map_or((text, None), |(kind, name)| (kind, Some(name.trim())));
        if LATER.contains(&text) || (LATER_NAMED.contains(&kind) && name.is_some()) {
            return Err(Invalid::new(
                format!("`per: {text}` is not yet in this version"),
                "use one of ip, client, route, path, host, header:NAME, everyone",
            ));
        }
        match (kind, name) {
            ("header", Some(name)) if is_token(name) => Ok(Fact::Header(name.to_ascii_lowercase().into())),
            ("header", _) => Err(Invalid::new(
                format!("`{text}` does not name a header"),
                "write the header's name after the colon: header:x-api-key",
            )),
            _ => {
                let known = FACTS.iter().map(|(name, _)| *name).chain(["header"]);
                let meant = nearest(kind, known).map(|name| format!("did you mean `{name}`? "));
                Err(Invalid::new(
                    format!("`{text}` is no fact that a quota can be divided by"),
                    format!(
                        "{}facts are ip, client, route, path, host, header:NAME, everyone",
                        meant.unwrap_or_default()
                    ),
                ))
            }
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Header(name) => write!(f, "header:{name}"),
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
