//! Who answers when the store does not.

use std::future::Ready;

use aforo_core::{Decision, Hits, Mode, Op, Origin, Store, StoreError};

use crate::WhenDown;
use crate::answer::Asked;

/// The store that stands in for one that does not answer. It lies in this process and answers at once.
pub(crate) struct Fallback(Box<StandIn>);

type StandIn = dyn Store<Deciding = Ready<Result<Decision, StoreError>>>;

impl Fallback {
    pub(crate) fn new(store: impl Store<Deciding = Ready<Result<Decision, StoreError>>>) -> Fallback {
        Fallback(Box::new(store))
    }

    /// Its decision; `None` if it fails as well.
    pub(crate) fn decide(&self, op: Op, hits: &Hits) -> Option<Decision> {
        let decision = self.0.decide(op, hits).into_inner().ok()?;
        Some(decision.from_origin(Origin::Fallback))
    }
}

/// What the store that stands in is to do where the first has failed to do `op`. What the first has taken is not given
/// back by another: that one only says where its own counters stand.
pub(crate) const fn in_place_of(op: Op) -> Op {
    match op {
        Op::Take => Op::Take,
        Op::Peek | Op::Refund { .. } => Op::Peek,
    }
}

impl Asked {
    /// The decision without the store, as the rules that are met have chosen it beforehand. `hits` are the questions of
    /// those that fall back: [`Asked::reduced`].
    pub(crate) fn without_store(&self, op: Op, hits: &Hits, fallback: Option<&Fallback>) -> Decision {
        if self.rules().any(|(rule, _)| rule.mode == Mode::Enforce && rule.when_down == WhenDown::Deny) {
            return Decision::unanswered(false);
        }
        if hits.is_empty() {
            return Decision::unanswered(true);
        }
        fallback.and_then(|fallback| fallback.decide(op, hits)).unwrap_or_else(|| {
            // Nobody stands in. To let pass is a choice, and these rules have not made it.
            Decision::unanswered(hits.iter().all(|hit| hit.mode == Mode::Shadow))
        })
    }
}
