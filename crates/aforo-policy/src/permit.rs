//! Permits: what was taken on an estimate, to be corrected when the true cost is known.

use aforo_core::{Cost, Hit, Hits, Op, Origin, Store};

use crate::{Answer, Limiter};

/// What a request has taken on an estimate.
///
/// It is settled or given back once. Dropped without either, the estimate stays charged.
#[must_use = "settle it when the true cost is known; dropped, the estimate stays charged"]
pub struct Permit<S> {
    limiter: Limiter<S>,
    answer: Answer,
    hits: Hits,
}

impl<S: Store> Permit<S> {
    /// A permit by an answer; `hits` is what the store was asked.
    pub(crate) fn new(limiter: Limiter<S>, answer: Answer, hits: Hits) -> Permit<S> {
        let hits = match answer.decision().origin() {
            Origin::Fallback => answer.reduced(&hits),
            Origin::Store | Origin::Unanswered => hits,
        };
        Permit { limiter, answer, hits }
    }

    /// The answer that granted it.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Charges what the request did cost in place of the estimate, where no rule says its own cost. If that is more than
    /// is left, later requests wait for it.
    pub async fn settle(self, actual: Cost) {
        let (mut back, mut more) = (Hits::new(), Hits::new());
        for ((rule, _), hit) in self.answer.met().zip(self.hits.iter()) {
            let difference = Cost::new(hit.cost.units().abs_diff(actual.units()));
            if rule.cost.is_some() || difference == Cost::new(0) {
                continue;
            }
            // What was used was used: it is counted also where it is more than was left.
            let correction = Hit { cost: difference, count_denied: true, ..*hit };
            let _ = if actual < hit.cost { back.push(correction) } else { more.push(correction) };
        }
        self.put(Op::Refund { taken_at: self.answer.decision().taken_at() }, &back).await;
        self.put(Op::Take, &more).await;
    }

    /// Gives everything back.
    pub async fn refund(self) {
        self.put(Op::Refund { taken_at: self.answer.decision().taken_at() }, &self.hits).await;
    }

    /// Puts a correction to the store that was charged. If it does not answer, the estimate stays charged.
    async fn put(&self, op: Op, hits: &Hits) {
        if hits.is_empty() {
            return;
        }
        match self.answer.decision().origin() {
            Origin::Store => drop(self.limiter.store().decide(op, hits).await),
            Origin::Fallback => drop(self.limiter.fallback().map(|fallback| fallback.decide(op, hits))),
            Origin::Unanswered => {}
        }
    }
}
