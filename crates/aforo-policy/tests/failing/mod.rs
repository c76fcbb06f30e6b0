//! A store that fails when it is told to, and that counts how often it is asked.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use aforo_core::{Clock, Decision, Hits, ManualClock, Moment, Op, Store, StoreError, StoreErrorKind};
use aforo_policy::Limiter;
use aforo_testkit::PlainStore;

/// A clock that all stores of a test read.
#[derive(Clone, Default)]
pub(crate) struct Shared(pub(crate) Arc<ManualClock>);

impl Clock for Shared {
    fn now(&self) -> Moment {
        self.0.now()
    }
}

/// A store and its switch; clones share both.
#[derive(Clone)]
pub(crate) struct Failing {
    inner: Arc<PlainStore<Shared>>,
    mood: Arc<Mutex<Mood>>,
    calls: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Default)]
struct Mood {
    error: Option<StoreErrorKind>,
    /// How often one looks in vain for an answer.
    waits: usize,
}

impl Failing {
    pub(crate) fn new(clock: &Shared) -> Failing {
        Failing { inner: Arc::new(PlainStore::new(clock.clone())), mood: Arc::default(), calls: Arc::default() }
    }

    pub(crate) fn fail(&self, kind: StoreErrorKind) {
        self.mood().error = Some(kind);
    }

    pub(crate) fn recover(&self) {
        self.mood().error = None;
    }

    pub(crate) fn answer_late(&self) {
        self.mood().waits = 3;
    }

    /// How often it was asked.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn mood(&self) -> MutexGuard<'_, Mood> {
        self.mood.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer for which one may have to wait.
pub(crate) struct Later {
    answer: Result<Decision, StoreError>,
    waits: usize,
}

impl Future for Later {
    type Output = Result<Decision, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.waits > 0 {
            self.waits -= 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.answer)
    }
}

impl Store for Failing {
    type Deciding = Later;

    fn decide(&self, op: Op, hits: &Hits) -> Later {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let Mood { error, waits } = *self.mood();
        let answer = match error {
            Some(kind) => Err(StoreError::new(kind)),
            None => self.inner.decide(op, hits).into_inner(),
        };
        Later { answer, waits }
    }
}

/// A store that stands in. It is also asked behind the limiter's back.
#[derive(Clone)]
pub(crate) struct StandIn {
    inner: Arc<PlainStore<Shared>>,
    calls: Arc<AtomicUsize>,
}

impl StandIn {
    pub(crate) fn new(clock: &Shared) -> StandIn {
        StandIn { inner: Arc::new(PlainStore::new(clock.clone())), calls: Arc::default() }
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Store for StandIn {
    type Deciding = std::future::Ready<Result<Decision, StoreError>>;

    fn decide(&self, op: Op, hits: &Hits) -> Self::Deciding {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.decide(op, hits)
    }
}

/// A limiter whose store can fail, with its stand-in.
pub(crate) struct Stand {
    pub(crate) limiter: Limiter<Failing>,
    pub(crate) store: Failing,
    pub(crate) stand_in: StandIn,
    pub(crate) clock: Shared,
}

impl Stand {
    pub(crate) fn of(policy: aforo_policy::Policy) -> Stand {
        let clock = Shared(Arc::new(ManualClock::at(Moment::from_millis(1_780_000_000_000))));
        let (store, stand_in) = (Failing::new(&clock), StandIn::new(&clock));
        let limiter = Limiter::new(policy, store.clone()).with_fallback(stand_in.clone());
        Stand { limiter, store, stand_in, clock }
    }
}
