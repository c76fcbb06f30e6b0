//! Answers that are on their way.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use aforo_core::{Decision, Hit, Hits, Moment, Op, Origin, Store, StoreErrorKind};

use crate::Answer;
use crate::answer::Asked;
use crate::fallback::{Fallback, in_place_of};

/// An answer that is on its way. The store has been asked, whether or not this is awaited.
#[must_use = "nothing is known until it is awaited"]
pub struct Asking<S: Store> {
    /// The store's decision, unless there was nothing to ask, or it is kept.
    deciding: Option<S::Deciding>,
    /// What the answer is about, until it is handed out.
    asked: Option<Asked>,
    /// For a store that may fail. It lies apart, so that the answers of others, which have no need of it, stay small.
    kept: Option<Box<Kept>>,
}

#[allow(clippy::large_enum_variant, reason = "it lies in a box of its own")]
enum Kept {
    /// The decision is there already; if it is not the store's, because of that error.
    Decision(Decision, Option<StoreErrorKind>),
    /// Should the store fail, this is put to the one that stands in.
    Question { op: Op, hits: Box<[Hit]>, fallback: Option<Arc<Fallback>> },
}

impl<S: Store> Asking<S> {
    /// Asks the store. `fallback` is looked up unless the store decides at once.
    #[inline]
    pub(crate) fn of(
        store: &S,
        op: Op,
        asked: Asked,
        hits: &Hits,
        fallback: impl FnOnce() -> Option<Arc<Fallback>>,
    ) -> Asking<S> {
        if store.always_answers() {
            return Asking { deciding: Some(store.decide(op, hits)), asked: Some(asked), kept: None };
        }
        let mut deciding = store.decide(op, hits);
        match Pin::new(&mut deciding).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(decision)) => Asking::decided(asked, decision, None),
            Poll::Ready(Err(error)) => {
                let hits = asked.reduced(hits).collect();
                let decision = asked.without_store(in_place_of(op), &hits, fallback().as_deref());
                Asking::decided(asked, decision, Some(error.kind()))
            }
            Poll::Pending => {
                let hits: Box<[Hit]> = asked.reduced(hits).collect();
                let fallback = if hits.is_empty() { None } else { fallback() };
                let question = Kept::Question { op: in_place_of(op), hits, fallback };
                Asking { deciding: Some(deciding), asked: Some(asked), kept: Some(Box::new(question)) }
            }
        }
    }

    /// An answer that needs no store.
    #[inline]
    pub(crate) fn unasked(asked: Asked) -> Asking<S> {
        Asking { deciding: None, asked: Some(asked), kept: None }
    }

    /// An answer that is there already.
    pub(crate) fn decided(asked: Asked, decision: Decision, error: Option<StoreErrorKind>) -> Asking<S> {
        Asking { deciding: None, asked: Some(asked), kept: Some(Box::new(Kept::Decision(decision, error))) }
    }

    /// The answer, if it was there as soon as the store was asked. It is handed out once.
    #[inline]
    pub fn at_once(&mut self) -> Option<Answer> {
        if self.deciding.is_some() && self.kept.is_some() {
            return None;
        }
        match self.look(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }

    #[inline]
    fn look(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        if self.asked.is_none() {
            // It was polled after it was done, which promises nothing.
            return Poll::Pending;
        }
        let mut error = None;
        let decision = match &mut self.deciding {
            Some(deciding) => ready!(Pin::new(deciding).poll(context)).unwrap_or_else(|failure| {
                error = Some(failure.kind());
                without_store(self.asked.as_ref(), self.kept.as_deref())
            }),
            None => match self.kept.as_deref() {
                Some(Kept::Decision(decision, failure)) => {
                    error = *failure;
                    *decision
                }
                _ => Decision::new([], Moment::EPOCH, Origin::Store),
            },
        };
        let answer = self.asked.take().map(|asked| asked.answered(decision, error));
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

/// The decision after the store has failed. It is inlined so that nothing of it is left where no store fails: a call would
/// have the answer that is on its way lie in memory.
#[inline]
fn without_store(asked: Option<&Asked>, kept: Option<&Kept>) -> Decision {
    match (asked, kept) {
        (Some(asked), Some(Kept::Question { op, hits, fallback })) => {
            asked.without_store(*op, &hits.iter().copied().collect(), fallback.as_deref())
        }
        // A store that always answers has broken its word, and nothing was chosen for that.
        _ => Decision::unanswered(false),
    }
}

impl<S: Store> Future for Asking<S> {
    type Output = Answer;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        self.get_mut().look(context)
    }
}
