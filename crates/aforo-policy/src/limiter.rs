//! The limiter: a policy and a store.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use aforo_core::{Decision, Hits, Moment, Op, Origin, Store};
use arc_swap::ArcSwap;
use pin_project_lite::pin_project;

use crate::answer::Asked;
use crate::{Answer, Describe, Permit, Policy};

/// A policy and the store that counts for it. Clones share both.
pub struct Limiter<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    policy: ArcSwap<Policy>,
    store: S,
}

impl<S> Clone for Limiter<S> {
    fn clone(&self) -> Limiter<S> {
        Limiter { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Limiter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("policy", &self.shared.policy).finish_non_exhaustive()
    }
}

impl<S: Store> Limiter<S> {
    /// A limiter.
    pub fn new(policy: Policy, store: S) -> Limiter<S> {
        Limiter { shared: Arc::new(Shared { policy: ArcSwap::from_pointee(policy), store }) }
    }

    /// Puts another policy in place. Requests that are being decided finish under the old one. Counters go on: they
    /// lie in the store, under keys that stay the same.
    pub fn replace(&self, policy: Policy) {
        self.shared.policy.store(Arc::new(policy));
    }

    /// The policy in force.
    #[inline]
    pub fn policy(&self) -> Arc<Policy> {
        self.shared.policy.load_full()
    }

    /// A number that clones share, and no other limiter that lives at the same time.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// The store.
    #[inline]
    pub fn store(&self) -> &S {
        &self.shared.store
    }

    /// Takes what the request costs, from every rule that it meets or from none.
    #[inline]
    pub fn take(&self, request: &impl Describe) -> Asking<S> {
        self.take_under(self.policy(), request)
    }

    /// Takes under a policy that was in force a moment ago: the one by which the request was described. So both are
    /// read under the same, whatever is put in place meanwhile.
    #[inline]
    pub fn take_under(&self, policy: Arc<Policy>, request: &impl Describe) -> Asking<S> {
        self.ask(Op::Take, policy, request)
    }

    /// Looks what [`Limiter::take`] would answer. Nothing is written.
    #[inline]
    pub fn peek(&self, request: &impl Describe) -> Asking<S> {
        self.ask(Op::Peek, self.policy(), request)
    }

    /// Gives back what the request has taken at that moment, which its answer's decision names. The answer is a
    /// peek's. Where the policy has changed since, or nothing was taken, what is given back is what it would take now:
    /// ask for it once, and only after a take that was allowed. [`Limiter::reserve`] sees to both.
    #[inline]
    pub fn refund(&self, request: &impl Describe, taken_at: Moment) -> Asking<S> {
        self.ask(Op::Refund { taken_at }, self.policy(), request)
    }

    /// Takes what the request is estimated to cost, until [`Permit::settle`] says what it did cost.
    ///
    /// # Errors
    ///
    /// The answer, if it is a refusal.
    pub async fn reserve(&self, request: &impl Describe) -> Result<Permit<S>, Box<Answer>> {
        let mut hits = Hits::new();
        let asked = Asked::new(self.policy(), request, &mut hits);
        let answer = self.decide(Op::Take, asked, &hits).await;
        if answer.allowed() { Ok(Permit::new(self.clone(), answer, hits)) } else { Err(Box::new(answer)) }
    }

    #[inline]
    fn ask(&self, op: Op, policy: Arc<Policy>, request: &impl Describe) -> Asking<S> {
        let mut hits = Hits::new();
        let asked = Asked::new(policy, request, &mut hits);
        self.decide(op, asked, &hits)
    }

    #[inline]
    fn decide(&self, op: Op, asked: Asked, hits: &Hits) -> Asking<S> {
        Asking { deciding: asked.asks().then(|| self.shared.store.decide(op, hits)), asked: Some(asked) }
    }
}

pin_project! {
    /// An answer that is on its way.
    #[must_use = "nothing is known until it is awaited"]
    pub struct Asking<S: Store> {
        #[pin]
        deciding: Option<S::Deciding>,
        asked: Option<Asked>,
    }
}

impl<S: Store> Future for Asking<S> {
    type Output = Answer;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let this = self.project();
        let decision = match this.deciding.as_pin_mut() {
            // A store that fails says nothing about the quota.
            Some(deciding) => ready!(deciding.poll(context)).unwrap_or_else(|_| Decision::unanswered(true)),
            None => Decision::new([], Moment::EPOCH, Origin::Store),
        };
        match this.asked.take() {
            Some(asked) => Poll::Ready(asked.answered(decision)),
            // It was polled after it was done, which promises nothing.
            None => Poll::Pending,
        }
    }
}
