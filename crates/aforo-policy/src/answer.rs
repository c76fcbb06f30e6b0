//! Answers: a decision, and what it was about.

use std::sync::Arc;

use aforo_core::{Decision, Hit, Hits, Mode, Origin, Quota, StoreErrorKind, Verdict};

use crate::meeting::{Lack, Met, Numbers};
use crate::plan::Entitled;
use crate::{Describe, Exemption, Fact, Meeting, Policy, Route, Rule, WhenDown};

/// What a request meets and what is asked about it, before there is a decision.
#[derive(Debug)]
pub(crate) struct Asked {
    policy: Arc<Policy>,
    met: Met,
    numbers: Result<Numbers, Lack>,
}

impl Asked {
    /// Fills in what a store is to be asked.
    #[inline]
    pub(crate) fn new(policy: Arc<Policy>, request: &impl Describe, hits: &mut Hits) -> Asked {
        let met = policy.find(request);
        let numbers = Meeting { policy: &policy, met }.ask(request, hits);
        Asked { policy, met, numbers }
    }

    /// Whether there is anything to ask a store.
    #[inline]
    pub(crate) fn asks(&self) -> bool {
        self.numbers.as_ref().is_ok_and(|numbers| !numbers.is_empty())
    }

    #[inline]
    fn meeting(&self) -> Meeting<'_> {
        Meeting { policy: &self.policy, met: self.met }
    }

    /// The rules that a store is to be asked about, each with which of its allowances holds.
    #[inline]
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&Rule, Entitled)> + Clone {
        self.numbers.unwrap_or_default().rules(self.meeting())
    }

    /// Of the questions to the store, those that the store which stands in is asked: for the rules' share of the quota.
    pub(crate) fn reduced(&self, hits: &Hits) -> impl Iterator<Item = Hit> {
        let falling_back = self.rules().zip(hits.iter()).filter(|((rule, _), _)| rule.when_down == WhenDown::Fallback);
        falling_back.filter_map(|((rule, entitled), hit)| {
            Some(Hit { quota: *rule.quota_of(entitled, Origin::Fallback)?, ..*hit })
        })
    }

    #[inline]
    pub(crate) fn answered(self, decision: Decision, error: Option<StoreErrorKind>) -> Answer {
        let refused = Decision::unanswered(false).from_origin(Origin::Store);
        Answer { decision: if self.numbers.is_ok() { decision } else { refused }, asked: self, error }
    }
}

/// The answer to a request.
#[must_use]
#[derive(Debug)]
pub struct Answer {
    asked: Asked,
    decision: Decision,
    error: Option<StoreErrorKind>,
}

/// What became of a request, in the words of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Every rule that it met allowed it.
    Allowed,
    /// A rule refused it, or a fact is missing that a rule insists on.
    Denied,
    /// It met no rule.
    Exempt,
    /// The store did not answer, and it was let through.
    StoreDownAllowed,
    /// The store did not answer, and it was turned away.
    StoreDownDenied,
    /// The store did not answer, and its stand-in allowed it.
    FallbackAllowed,
    /// The store did not answer, and its stand-in refused it.
    FallbackDenied,
}

impl Outcome {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Allowed => "allowed",
            Outcome::Denied => "denied",
            Outcome::Exempt => "exempt",
            Outcome::StoreDownAllowed => "store_down_allowed",
            Outcome::StoreDownDenied => "store_down_denied",
            Outcome::FallbackAllowed => "fallback_allowed",
            Outcome::FallbackDenied => "fallback_denied",
        }
    }
}

impl Answer {
    /// Whether the request may pass.
    #[inline]
    pub fn allowed(&self) -> bool {
        self.decision.allowed()
    }

    /// The decision. Its verdicts are in the order of [`Answer::rules`].
    #[inline]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The rules that were asked about, each with its verdict. If a store stands in, those that fall back to it; if
    /// nobody answered, none.
    #[inline]
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, &Verdict)> + Clone {
        self.met().map(|(rule, _)| rule).zip(self.decision.verdicts())
    }

    /// The quota of each of [`Answer::rules`], as it was asked about: that of the user's plan; if a store stands in, the
    /// rule's share of it.
    #[inline]
    pub fn quotas(&self) -> impl Iterator<Item = &Quota> + Clone {
        let origin = self.decision.origin();
        let quotas = self.met().zip(self.decision.verdicts());
        quotas.filter_map(move |((rule, entitled), _)| rule.quota_of(entitled, origin))
    }

    /// The rules that whoever answered was asked about, each with which of its allowances holds.
    #[inline]
    pub(crate) fn met(&self) -> impl Iterator<Item = (&Rule, Entitled)> + Clone {
        let stood_in = self.decision.origin() == Origin::Fallback;
        self.asked.rules().filter(move |(rule, _)| !stood_in || rule.when_down == WhenDown::Fallback)
    }

    /// What the store that stands in was asked, if `hits` was the question to the first.
    pub(crate) fn reduced(&self, hits: &Hits) -> Hits {
        self.asked.reduced(hits).collect()
    }

    /// Why the store did not answer, if it was asked and did not.
    #[inline]
    pub fn store_error(&self) -> Option<StoreErrorKind> {
        self.error
    }

    /// The policy that the answer was given under.
    #[inline]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.asked.policy
    }

    /// What the request met.
    #[inline]
    pub fn meeting(&self) -> Meeting<'_> {
        self.asked.meeting()
    }

    /// The route that the request matched.
    #[inline]
    pub fn route(&self) -> Option<&Route> {
        self.meeting().route()
    }

    /// What exempted the request from every rule.
    #[inline]
    pub fn exempt(&self) -> Option<&Exemption> {
        self.meeting().exempt()
    }

    /// The fact that the request lacks and a rule insists on: that is why it is refused, and waiting does not help.
    pub fn missing(&self) -> Option<&Fact> {
        self.meeting().missing(self.asked.numbers.err()?)
    }

    /// Whether the request is allowed and has brought its client near the limit of a rule that is enforced.
    pub fn near(&self) -> bool {
        self.allowed() && self.rules().any(|(rule, verdict)| near(rule, verdict))
    }

    /// What became of the request.
    pub fn outcome(&self) -> Outcome {
        match (self.decision.origin(), self.allowed()) {
            (Origin::Store, true) if !self.asked.asks() => Outcome::Exempt,
            (Origin::Store, true) => Outcome::Allowed,
            (Origin::Store, false) => Outcome::Denied,
            (Origin::Fallback, true) => Outcome::FallbackAllowed,
            (Origin::Fallback, false) => Outcome::FallbackDenied,
            (Origin::Unanswered, true) => Outcome::StoreDownAllowed,
            (Origin::Unanswered, false) => Outcome::StoreDownDenied,
        }
    }
}

/// Whether an enforced rule allows, with at least the lowest of its warning shares used.
pub(crate) fn near(rule: &Rule, verdict: &Verdict) -> bool {
    let used = verdict.limit.saturating_sub(verdict.remaining);
    verdict.mode == Mode::Enforce
        && verdict.allowed()
        && rule.warn_at.first().is_some_and(|lowest| lowest.reached(used, verdict.limit))
}
