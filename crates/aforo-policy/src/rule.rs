//! Rules: a name, a partition, what is allowed, and what a request costs.

use aforo_core::{Algorithm, Cost, InvalidQuota, Mode, Origin, Quota};

use crate::plan::Entitled;
use crate::{Allowance, Fact, Invalid, Match, Partition, Percent, Plan, Plans, Scope};

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

/// What happens to a request when the store does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenDown {
    /// The rule lets it pass, and tells nobody a number that it does not know.
    Allow,
    /// The rule turns it away, with 503 and never with 429, unless it only reports.
    Deny,
    /// The store that stands in decides, by the rule's share of the quota: see [`Limiter::with_fallback`].
    ///
    /// [`Limiter::with_fallback`]: crate::Limiter::with_fallback
    #[default]
    Fallback,
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
    /// What is allowed in its place to those whose identity names a plan.
    pub plans: Plans,
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
    /// What happens when the store does not answer.
    pub when_down: WhenDown,
    /// The part of the quota that the store that stands in allows. Where several processes share a store, each of them
    /// has one that stands in for it, and these know nothing of each other.
    pub share: Percent,
    /// That part of each allowance, everyone's first, once it is known to be a quota.
    reduced: Vec<Option<Quota>>,
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
        Ok(Rule::named(name, allowance.into()))
    }

    /// The rule for preflights unless the policy has another: 600 a minute from each address.
    ///
    /// Browsers send them by themselves, and they should pass; yet they cost something, and no more can be had by calling
    /// a request one. Its scope is that of no other rule, whatever names these have.
    pub fn preflight() -> Rule {
        let mut rule = Rule::named("preflight".to_owned(), Quota::per_minute(600).into());
        rule.partition = Fact::Ip.into();
        rule.for_preflights()
    }

    /// The same rule, counting apart from all others of its name.
    pub(crate) fn for_preflights(mut self) -> Rule {
        self.scope = Scope::of(format!("{}@*", self.name));
        self
    }

    fn named(name: String, allowance: Allowance) -> Rule {
        Rule {
            scope: Scope::of(name.clone()),
            name,
            partition: Partition::default(),
            allowance,
            plans: Plans::default(),
            cost: None,
            mode: Mode::Enforce,
            count_denied: false,
            when_missing: WhenMissing::Ip,
            warn_at: Vec::new(),
            when_down: WhenDown::Fallback,
            share: Percent::WHOLE,
            reduced: Vec::new(),
        }
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

    /// The quota of everyone who has no plan of the rule's; `None` if the rule allows them everything.
    #[inline]
    pub fn quota(&self) -> Option<&Quota> {
        self.allowance.quota()
    }

    /// The quota by which someone of that plan is answered, if an answer of that origin is given: of one by the store that
    /// stands in, the rule's share. `None` if the rule allows everything.
    pub fn quota_by(&self, plan: Option<&str>, origin: Origin) -> Option<&Quota> {
        self.quota_of(self.plans.entitled(plan), origin)
    }

    #[inline]
    pub(crate) fn quota_of(&self, entitled: Entitled, origin: Origin) -> Option<&Quota> {
        let quota = self.plans.of(entitled).map_or(&self.allowance, |plan| &plan.allowance).quota();
        match origin {
            Origin::Fallback => self.reduced.get(entitled.place()).and_then(Option::as_ref).or(quota),
            Origin::Store | Origin::Unanswered => quota,
        }
    }

    /// All that the rule allows: everyone, then each plan.
    pub(crate) fn allowances(&self) -> impl Iterator<Item = (Option<&Plan>, &Allowance)> {
        std::iter::once((None, &self.allowance)).chain(self.plans.iter().map(|plan| (Some(plan), &plan.allowance)))
    }

    /// The quotas among all that the rule allows.
    pub(crate) fn quotas(&self) -> impl Iterator<Item = &Quota> {
        self.allowances().filter_map(|(_, allowance)| allowance.quota())
    }

    /// Works out the rule's share of each quota.
    ///
    /// # Errors
    ///
    /// If so little cannot be counted exactly; with the plan whose quota it is.
    pub(crate) fn reduce(&mut self) -> Result<(), (Option<String>, InvalidQuota)> {
        self.reduced = if self.when_down == WhenDown::Fallback {
            let share = |(plan, allowance): (Option<&Plan>, &Allowance)| {
                let share = allowance.quota().map(|quota| share_of(quota, self.share)).transpose();
                share.map_err(|reason| (plan.map(|plan| plan.name.clone()), reason))
            };
            self.allowances().map(share).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        Ok(())
    }

    /// The share nearest to the rule's that can be counted exactly.
    pub(crate) fn nearest_share(&self) -> Option<Percent> {
        let exact = |share: &Percent| self.quotas().all(|quota| share_of(quota, *share).is_ok());
        let shares = (1..=100).filter_map(Percent::new).filter(exact);
        shares.min_by_key(|share| share.hundredths().abs_diff(self.share.hundredths()))
    }
}

/// A quota of which limit and burst are a share of another's.
fn share_of(quota: &Quota, share: Percent) -> Result<Quota, InvalidQuota> {
    if quota.limit() == 0 {
        return Ok(*quota);
    }
    let algorithm = match quota.algorithm() {
        Algorithm::TokenBucket { burst } => Algorithm::TokenBucket { burst: share.of(burst) },
        windowed => windowed,
    };
    Quota::counted_by(algorithm, share.of(quota.limit()), quota.window())
}
