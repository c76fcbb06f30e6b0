//! The limiter: a policy and a store.

use std::fmt;
use std::future::Ready;
use std::sync::Arc;

use aforo_core::{Decision, Hits, Op, Origin, Store, StoreError};
use arc_swap::{ArcSwap, ArcSwapOption};

use crate::answer::Asked;
use crate::fallback::Fallback;
use crate::{Answer, Asking, Describe, Permit, Policy};

/// A policy and the store that counts for it. Clones share both.
///
/// It always has an answer. What that is when the store has none is up to each rule beforehand:
/// [`WhenDown`](crate::WhenDown).
pub struct Limiter<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    policy: ArcSwap<Policy>,
    store: S,
    fallback: ArcSwapOption<Fallback>,
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
    /// A limiter that has nothing but its store.
    ///
    /// That is all that a store in memory needs, which never fails. Give one that can fail a stand-in by
    /// [`Limiter::with_fallback`]: without it, the rules that would fall back to it turn requests away while the store
    /// does not answer.
    pub fn new(policy: Policy, store: S) -> Limiter<S> {
        let policy = ArcSwap::from_pointee(policy);
        Limiter { shared: Arc::new(Shared { policy, store, fallback: ArcSwapOption::empty() }) }
    }

    /// The same limiter, in which another store stands in when the first does not answer: one in this process, which
    /// answers at once. It is asked about the rules that fall back and no others, for their share of the quota, and only
    /// when the first store fails: what that has denied is denied.
    ///
    /// Clones share it, those made before as well.
    #[must_use]
    pub fn with_fallback(self, store: impl Store<Deciding = Ready<Result<Decision, StoreError>>>) -> Limiter<S> {
        self.shared.fallback.store(Some(Arc::new(Fallback::new(store))));
        self
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

    /// Gives back what the request has taken by that decision, to the store that took it. The answer is a peek's.
    ///
    /// What was denied, or answered by nobody, has taken nothing: that gives nothing back. Where the policy has changed
    /// since, what is given back is what the request would take now. Ask for it once; [`Limiter::reserve`] sees to that.
    pub fn refund(&self, request: &impl Describe, taken: &Decision) -> Asking<S> {
        let op = Op::Refund { taken_at: taken.taken_at() };
        match taken.origin() {
            Origin::Store if taken.allowed() => self.ask(op, self.policy(), request),
            Origin::Fallback if taken.allowed() => {
                let mut hits = Hits::new();
                let asked = Asked::new(self.policy(), request, &mut hits);
                let hits = asked.reduced(&hits).collect();
                let decision = asked.without_store(op, &hits, self.fallback().as_deref());
                Asking::decided(asked, decision, None)
            }
            _ => self.peek(request),
        }
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
        if asked.asks() {
            Asking::of(self.store(), op, asked, hits, || self.fallback())
        } else {
            Asking::unasked(asked)
        }
    }

    /// The store that stands in.
    pub(crate) fn fallback(&self) -> Option<Arc<Fallback>> {
        self.shared.fallback.load_full()
    }
}
