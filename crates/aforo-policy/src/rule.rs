//! Rules: a name, a partition, what is allowed, and what a request costs.

use aforo_core::{Cost, Mode, Quota};

use crate::{Allowance, Invalid, Match, Partition, Percent, Scope};

/// The longest name of a rule.
const LONGEST_NAME: usize = 40;

/// What happens to a request that lacks a fact of a rule's partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenMissing {
    /// The client's address stands in for the fact. It is never taken for a real value.
    #[default]
    Ip,
    /// The rule does not meet the request.
    Skip,
    /// The request is refused, unless the rule only reports: then it does not meet the request.
    Deny,
}

/// One limit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    name: String,
    scope: Scope,
    /// Which facts divide the quota.
    pub partition: Partition,
    /// What is allowed.
    pub allowance: Allowance,
    /// What a request takes, whatever the request and its route say.
    pub cost: Option<Cost>,
    /// Whether a refusal counts.
    pub mode: Mode,
    /// Whether a request that is refused is charged all the same.
    pub count_denied: bool,
    /// What happens if a fact of the partition is missing.
    pub when_missing: WhenMissing,
    /// The shares of the limit at which a client is near it, in ascending order.
    pub warn_at: Vec<Percent>,
}

impl Rule {
    /// An enforced rule for each client.
    ///
    /// # Errors
    ///
    /// If the name is empty, longer than 40 characters, or not printable ASCII: clients are shown it in a header field.
    pub fn new(name: impl Into<String>, allowance: impl Into<Allowance>) -> Result<Rule, Invalid> {
        let name = name.into();
        let help = "take 1 to 40 printable ASCII characters: clients are shown the name in a header field";
        if name.trim().is_empty() {
            return Err(Invalid::new("the rule's name is empty", help));
        }
        if !name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(Invalid::new(
                format!("the rule's name `{}` is not printable ASCII", name.escape_debug()),
                help,
            ));
        }
        if name.len() > LONGEST_NAME {
            return Err(Invalid::new(format!("the rule's name `{name}` has {} characters", name.len()), help));
        }
        Ok(Rule {
            scope: Scope::of(name.clone()),
            name,
            partition: Partition::default(),
            allowance: allowance.into(),
            cost: None,
            mode: Mode::Enforce,
            count_denied: false,
            when_missing: WhenMissing::Ip,
            warn_at: Vec::new(),
        })
    }

    /// The same rule, counting apart from all others of its name on the route of that match.
    #[must_use]
    pub fn apart_on(mut self, route: &Match) -> Rule {
        self.scope = Scope::of(format!("{}@{route}", self.name));
        self
    }

    /// What the rule is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part of a key that names this rule.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The quota; `None` if the rule allows everything.
    #[inline]
    pub fn quota(&self) -> Option<&Quota> {
        match &self.allowance {
            Allowance::Quota(quota) => Some(quota),
            Allowance::Unlimited => None,
        }
    }
}
