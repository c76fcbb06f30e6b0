//! The request's answer: every verdict, all or nothing.

use crate::algorithm::token_bucket::{Debt, debt_standing, weigh_debt};
use crate::{Hit, Hits, MAX_HITS, Mode, Moment, Standing, Verdict, Wait, Weighed, standing};

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Take the costs, all or none.
    Take,
    /// Only look. Nothing is written.
    Peek,
    /// Give back what was taken at that moment. Where its window is gone, nothing changes. The answer is a peek's.
    Refund {
        /// [`Decision::taken_at`] of the take.
        taken_at: Moment,
    },
}

/// Who gave the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The store.
    #[default]
    Store,
    /// The store in this process that stands in for one that does not answer.
    Fallback,
    /// Nobody: the store did not answer and nothing stands in for it.
    Unanswered,
}

/// The answer to a request.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    length: usize,
    verdicts: [Option<Verdict>; MAX_HITS],
    allowed: bool,
    taken_at: Moment,
    origin: Origin,
}

impl Decision {
    /// An answer from its verdicts, at most [`MAX_HITS`], in the order of the hits.
    #[inline]
    pub fn new(verdicts: impl IntoIterator<Item = Verdict>, taken_at: Moment, origin: Origin) -> Decision {
        let mut decision = Decision::empty(taken_at, origin);
        for verdict in verdicts {
            decision.push(verdict);
        }
        decision
    }

    /// An answer that is a single verdict.
    #[inline]
    pub const fn one(verdict: Verdict, taken_at: Moment, origin: Origin) -> Decision {
        let mut decision = Decision::empty(taken_at, origin);
        decision.verdicts[0] = Some(verdict);
        decision.length = 1;
        decision.allowed = !verdict.refuses();
        decision
    }

    #[inline]
    const fn empty(taken_at: Moment, origin: Origin) -> Decision {
        Decision { length: 0, verdicts: [None; MAX_HITS], allowed: true, taken_at, origin }
    }

    /// The answer when nobody gave one: no verdict, only what the failure mode chose.
    pub fn unanswered(allowed: bool) -> Decision {
        Decision { allowed, ..Decision::new([], Moment::EPOCH, Origin::Unanswered) }
    }

    #[inline]
    fn push(&mut self, verdict: Verdict) {
        if let Some(slot) = self.verdicts.get_mut(self.length) {
            *slot = Some(verdict);
            self.length += 1;
            self.allowed &= !verdict.refuses();
        }
    }

    /// Whether the request may pass: every enforced verdict allows it.
    #[inline]
    pub const fn allowed(&self) -> bool {
        self.allowed
    }

    /// The verdicts, in the order of the hits. Empty if nobody answered.
    #[inline]
    pub fn verdicts(&self) -> impl ExactSizeIterator<Item = &Verdict> + Clone {
        // Exactly `length` slots are filled, from the front.
        self.verdicts[..self.length].iter().map(|slot| match slot {
            Some(verdict) => verdict,
            None => &Verdict::NOTHING,
        })
    }

    /// When it was decided, by the store's clock: what a refund names.
    #[inline]
    pub const fn taken_at(&self) -> Moment {
        self.taken_at
    }

    /// Who answered.
    #[inline]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// The same answer, from another origin.
    pub const fn from_origin(self, origin: Origin) -> Decision {
        Decision { origin, ..self }
    }

    /// The longest wait of the verdicts that refuse; [`Wait::NONE`] if none does.
    pub fn wait(&self) -> Wait {
        let refusing = self.verdicts().filter(|verdict| verdict.refuses());
        refusing.map(|verdict| verdict.wait).max().unwrap_or(Wait::NONE)
    }
}

impl Verdict {
    const NOTHING: Verdict = Verdict { mode: Mode::Shadow, limit: 0, remaining: 0, wait: Wait::NONE, reset_micros: 0 };
}

/// A store's counters for the hits of one request, held while it is decided.
pub trait Ledger {
    /// Weighs the hit at `index` against its counter.
    fn weigh(&mut self, index: usize, hit: &Hit, now: Moment) -> Weighed;

    /// Writes the cost down.
    fn charge(&mut self, index: usize, hit: &Hit, weighed: &Weighed);

    /// Writes down a cost that was refused: see [`crate::overcharge`].
    fn overcharge(&mut self, index: usize, hit: &Hit, weighed: &Weighed);

    /// Gives back a cost: see [`crate::refund`].
    fn refund(&mut self, index: usize, hit: &Hit, weighed: &Weighed, taken_at: Moment);
}

/// Decides a request in two passes over the counters that `ledger` holds: weigh every one, then write all or nothing.
///
/// A request is admitted if every enforced hit fits. Then each hit that fits is charged. A hit with `count_denied`
/// is charged also when it or the request is refused.
pub fn decide(op: Op, hits: &Hits, now: Moment, ledger: &mut impl Ledger) -> Decision {
    if let Some(hit) = hits.only() {
        return Decision::one(decide_one(op, hit, now, ledger), now, Origin::Store);
    }
    let mut all = [None; MAX_HITS];
    let mut admitted = true;
    for ((index, hit), slot) in hits.iter().enumerate().zip(&mut all) {
        let weighed = ledger.weigh(index, hit, now);
        admitted &= weighed.allowed() || hit.mode == Mode::Shadow;
        *slot = Some(weighed);
    }
    let all = hits.iter().enumerate().zip(all.iter().flatten());
    let verdicts = all.map(|((index, hit), weighed)| settle(op, index, hit, weighed, admitted, now, ledger));
    Decision::new(verdicts, now, Origin::Store)
}

/// Decides a request with a single hit, as [`decide`] does.
pub fn decide_one(op: Op, hit: &Hit, now: Moment, ledger: &mut impl Ledger) -> Verdict {
    let weighed = ledger.weigh(0, hit, now);
    let admitted = weighed.allowed() || hit.mode == Mode::Shadow;
    settle(op, 0, hit, &weighed, admitted, now, ledger)
}

/// Decides a request whose only hit takes from a token bucket, as [`decide`] does, but on two numbers.
///
/// Most requests are like that. A store that has the debt at hand, counted in the quota's own grain, answers them in a
/// fraction of the time. `charge` writes down what is owed then; it is not called if nothing is taken. The hit's
/// `count_denied` is not heeded.
#[inline(always)]
pub fn decide_debt(hit: &Hit, burst: u32, debt: Debt, now: Moment, charge: impl FnOnce(Debt)) -> Verdict {
    let weight = weigh_debt(&hit.quota, burst, debt, hit.cost, now);
    if matches!(weight.wait, Wait::NONE) && hit.cost.units() > 0 {
        charge(weight.after);
    }
    let Standing { remaining, reset_micros } = debt_standing(&hit.quota, burst, weight.after, now);
    Verdict { mode: hit.mode, limit: burst, remaining, wait: weight.wait, reset_micros }
}

/// Carries out `op` for one hit, now that it is known whether the request is admitted.
fn settle(
    op: Op,
    index: usize,
    hit: &Hit,
    weighed: &Weighed,
    admitted: bool,
    now: Moment,
    ledger: &mut impl Ledger,
) -> Verdict {
    let takes = hit.cost.units() > 0;
    match op {
        Op::Take if admitted && weighed.allowed() => {
            if takes {
                ledger.charge(index, hit, weighed);
            }
            verdict(hit, weighed, true)
        }
        Op::Take if hit.count_denied && takes => {
            ledger.overcharge(index, hit, weighed);
            // A hit that fitted while another refused is told so, but stands where the charge has left it.
            let again = ledger.weigh(index, hit, now);
            let wait = if weighed.allowed() { Wait::NONE } else { again.wait };
            Verdict { wait, ..verdict(hit, &again, false) }
        }
        Op::Take | Op::Peek => verdict(hit, weighed, false),
        Op::Refund { taken_at } => {
            ledger.refund(index, hit, weighed, taken_at);
            verdict(hit, &ledger.weigh(index, hit, now), false)
        }
    }
}

fn verdict(hit: &Hit, weighed: &Weighed, charged: bool) -> Verdict {
    let state = if charged { &weighed.after } else { &weighed.before };
    let stands = standing(&hit.quota, state, weighed.from);
    Verdict {
        mode: hit.mode,
        limit: hit.quota.at_once(),
        remaining: stands.remaining,
        wait: weighed.wait,
        reset_micros: stands.reset_micros,
    }
}
