//! The most that each rule lets through.

use std::fmt;
use std::net::IpAddr;

use crate::{Allowance, Describe, Plan, Policy, Route, Rule};

/// The most that a rule lets through in one place.
#[derive(Clone, Copy, Debug)]
pub struct WorstCase<'p> {
    /// The rule.
    pub rule: &'p Rule,
    /// The route that it stands on; `None` if it stands above the routes.
    pub route: Option<&'p Route>,
    /// The plan whose users it lets through so much; `None` for everyone else.
    pub plan: Option<&'p Plan>,
}

impl<'p> WorstCase<'p> {
    /// What is allowed.
    pub fn allowance(&self) -> &'p Allowance {
        self.plan.map_or(&self.rule.allowance, |plan| &plan.allowance)
    }

    /// What a request takes from the rule there.
    pub fn cost(&self) -> u32 {
        self.rule.cost.or(self.route.map(|route| route.cost)).unwrap_or_default().units()
    }
}

impl fmt::Display for WorstCase<'_> {
    /// "at most 200 in any 60 s".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.allowance() {
            Allowance::Unlimited => f.write_str("unlimited"),
            Allowance::Quota(quota) if quota.limit() == 0 => f.write_str("nothing"),
            Allowance::Quota(quota) if self.cost() > quota.at_once() => {
                write!(f, "nothing: a cost of {} never fits {}", self.cost(), quota.at_once())
            }
            Allowance::Quota(quota) => {
                let (most, millis) = (quota.worst_case(), quota.window().as_millis());
                match millis % 1000 {
                    0 => write!(f, "at most {most} in any {} s", millis / 1000),
                    _ => write!(f, "at most {most} in any {millis} ms"),
                }
            }
        }
    }
}

impl Policy {
    /// Whether a rule of a route is one that stands above the routes.
    pub(crate) fn has_above(&self, rule: &Rule) -> bool {
        self.rules().iter().any(|above| above.scope() == rule.scope())
    }

    /// Each rule that counts by itself, with the most that it lets through: those above the routes first, then those of
    /// each route. A rule with plans is told for everyone, then for each plan.
    pub fn worst_cases(&self) -> impl Iterator<Item = WorstCase<'_>> {
        let above = self.rules().iter().map(|rule| (rule, None));
        let on_routes = self.routes().iter().flat_map(|route| {
            let apart = |rule: &&Rule| !self.has_above(rule);
            route.rules.iter().filter(apart).map(move |rule| (rule, Some(route)))
        });
        above
            .chain(on_routes)
            .flat_map(|(rule, route)| rule.allowances().map(move |(plan, _)| WorstCase { rule, route, plan }))
    }
}

/// A GET of a path, by nobody.
pub(crate) struct Probe<'a>(pub(crate) &'a str);

impl Describe for Probe<'_> {
    fn method(&self) -> &str {
        "GET"
    }

    fn path(&self) -> &str {
        self.0
    }

    fn host(&self) -> Option<&str> {
        None
    }

    fn address(&self) -> Option<IpAddr> {
        None
    }

    fn header<'a>(&'a self, _: &'a str) -> impl Iterator<Item = &'a [u8]> {
        std::iter::empty()
    }
}
