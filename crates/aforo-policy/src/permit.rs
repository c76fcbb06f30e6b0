//! Permits: what was taken on an estimate, to be corrected when the true cost is known.

use aforo_core::{Cost, Store};

use crate::{Answer, Limiter};

/// What a request has taken on an estimate.
///
/// It is settled or given back once. Dropped without either, the estimate stays charged.
#[must_use = "settle it when the true cost is known; dropped, the estimate stays charged"]
pub struct Permit<S> {
    limiter: Limiter<S>,
    answer: Answer,
}

impl<S: Store> Permit<S> {
    pub(crate) fn new(limiter: Limiter<S>, answer: Answer) -> Permit<S> {
        Permit { limiter, answer }
    }

    /// The answer that granted it.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Charges what the request did cost in place of the estimate, where no rule says its own cost. If that is more than
    /// is left, later requests wait for it.
    pub async fn settle(self, actual: Cost) {
        self.limiter.correct(&self.answer, actual).await;
    }

    /// Gives everything back.
    pub async fn refund(self) {
        self.limiter.refund(&self.answer).await;
    }
}
