//! What of an answer a client may see, and how it gets into a response.

use aforo_core::Mode;
use aforo_policy::Answer;
use http::HeaderMap;

use crate::cors;
use crate::fields::{self, Shown};

/// The rules of an answer that clients are told about: enforced, and not unlimited.
pub(crate) fn shown(answer: &Answer) -> impl Iterator<Item = Shown<'_>> + Clone {
    let asked = answer.rules().zip(answer.quotas());
    let enforced = asked.filter(|((_, verdict), _)| verdict.mode == Mode::Enforce);
    enforced.map(|((rule, verdict), quota)| Shown { name: rule.name(), quota, verdict })
}

/// An allowed request's answer, kept until there is a response to write it into.
pub(crate) struct Outcome {
    answer: Answer,
    /// Whether a script of another origin shall be able to read it.
    exposed: bool,
}

impl Outcome {
    /// `None` if there is nothing to tell: no rule that a client may see was asked.
    pub(crate) fn of(answer: Answer, exposed: bool) -> Option<Outcome> {
        let anything = shown(&answer).next().is_some();
        anything.then_some(Outcome { answer, exposed })
    }
}

/// Tells the client of an allowed request where it stands.
pub(crate) fn finish(outcome: &Outcome, map: &mut HeaderMap) {
    let answer = &outcome.answer;
    let settings = fields::beside_upstream(answer.policy().headers(), map);
    fields::write(shown(answer), answer.decision().taken_at(), &settings, map);
    if answer.near() {
        fields::warn(&settings, map);
    }
    if outcome.exposed {
        cors::expose(map);
    }
}
