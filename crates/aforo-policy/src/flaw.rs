//! Why some rules and routes make no policy.

use std::fmt;

use aforo_core::{InvalidQuota, MAX_HITS};

use crate::Percent;

/// Every reason why some rules and routes make no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaws(pub Vec<Flaw>);

impl fmt::Display for Flaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, flaw) in self.0.iter().enumerate() {
            write!(f, "{}{flaw}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Flaws {}

/// Why some rules and routes make no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A plan is counted by another algorithm than the rule's, and would not find what the same user has taken before.
    OtherAlgorithm {
        /// The place of the route on which the rule stands; `None` for one that stands above the routes.
        route: Option<usize>,
        /// The rule's name.
        rule: String,
        /// The plan's name.
        plan: String,
    },
    /// Neither of two routes, by their places, is more specific.
    Ambiguous {
        /// The first of them.
        earlier: usize,
        /// The second.
        later: usize,
    },
    /// Two exemptions, by their places, are for the same paths.
    ExemptTwice {
        /// The first of them.
        earlier: usize,
        /// The second.
        later: usize,
    },
    /// A request would meet more than eight rules.
    TooManyRules {
        /// The route's place; `None` for the requests that match no route.
        route: Option<usize>,
        /// How many it would meet.
        met: usize,
    },
    /// Two different rules would share their counters.
    SameScope {
        /// The place of the route on which the rule stands; `None` for one that stands above the routes.
        route: Option<usize>,
        /// The rule's name.
        rule: String,
        /// The other's name.
        other: String,
    },
    /// A rule's share of its quota is no quota.
    NoShare {
        /// The place of the route on which the rule stands; `None` for one that stands above the routes.
        route: Option<usize>,
        /// The rule's name.
        rule: String,
        /// The plan whose quota it is; `None` for the quota of everyone else.
        plan: Option<String>,
        /// The share.
        share: Percent,
        /// What is wrong with so much of the quota.
        reason: InvalidQuota,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Ambiguous { earlier, later } => {
                write!(f, "routes {} and {} match the same requests", earlier + 1, later + 1)
            }
            Flaw::ExemptTwice { earlier, later } => {
                write!(f, "exemptions {} and {} are for the same paths", earlier + 1, later + 1)
            }
            Flaw::TooManyRules { route: Some(route), met } => {
                write!(f, "a request on route {} would meet {met} rules, and {MAX_HITS} are the most", route + 1)
            }
            Flaw::TooManyRules { route: None, met } => {
                write!(f, "every request would meet {met} rules, and {MAX_HITS} are the most")
            }
            Flaw::SameScope { rule, other, .. } => {
                write!(f, "the rules `{rule}` and `{other}` are different and would share their counters")
            }
            Flaw::NoShare { rule, plan, share, reason, .. } => {
                write!(f, "{share} of what the rule `{rule}` allows")?;
                plan.iter().try_for_each(|plan| write!(f, " the plan `{plan}`"))?;
                write!(f, " is no quota: {reason}")
            }
            Flaw::OtherAlgorithm { rule, plan, .. } => {
                write!(f, "the rule `{rule}` counts the plan `{plan}` by another algorithm than the others")
            }
        }
    }
}
