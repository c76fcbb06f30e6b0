//! What of an answer a client may see, and how it gets into a response.

use aforo_core::Mode;
use aforo_policy::Answer;
use http::HeaderMap;

use crate::fields::{self, Shown};

/// The rules of an answer that clients are told about: enforced, and not unlimited.
pub(crate) fn shown(answer: &Answer) -> impl Iterator<Item = Shown<'_>> + Clone {
    let origin = answer.decision().origin();
    answer
        .rules()
        .filter(|(_, verdict)| verdict.mode == Mode::Enforce)
        .filter_map(move |(rule, verdict)| Some(Shown { name: rule.name(), quota: rule.quota_by(origin)?, verdict }))
}

/// An allowed request's answer, kept until there is a response to write it into.
pub(crate) struct Outcome {
    answer: Answer,
}

impl Outcome {
    /// `None` if there is nothing to tell: no rule that a client may see was asked.
    pub(crate) fn of(answer: Answer) -> Option<Outcome> {
        let anything = shown(&answer).next().is_some();
        anything.then_some(Outcome { answer })
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
}
