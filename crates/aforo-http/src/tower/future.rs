//! The response that is on its way.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use aforo_core::Store;
use aforo_policy::{Answer, Asking};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::layer::Observe;
use crate::body::MaybeRefused;
use crate::cors::Admitted;
use crate::refusal::{Dialect, refuse};
use crate::{Outcome, finish};

/// A request whose decision is awaited, and the service that was ready for it.
pub(super) struct Asked<Inner, S: Store, O, Sent> {
    pub(super) asking: Asking<S>,
    pub(super) request: Request<Sent>,
    pub(super) ready: Inner,
    pub(super) observer: O,
}

pin_project! {
    /// The response of a service behind the limiter.
    pub struct ResponseFuture<Inner: Service<Request<Sent>>, S: Store, O, Sent> {
        #[pin]
        stage: Stage<Inner::Future, Inner, S, O, Sent>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<F, Inner, S: Store, O, Sent> {
        /// The store is asked.
        Asking {
            #[pin]
            asking: Asking<S>,
            // The request, the service and who looks on, until the answer is there.
            waiting: Option<(Request<Sent>, Inner, O)>,
        },
        /// The service works on an allowed request.
        Allowed { #[pin] response: F, outcome: Option<Outcome> },
        /// The service works on a request that this limiter has not been asked about.
        Passing { #[pin] response: F },
        /// The request is refused.
        Refused { response: Option<Response<Bytes>> },
    }
}

impl<Inner: Service<Request<Sent>>, S: Store, O, Sent> ResponseFuture<Inner, S, O, Sent> {
    pub(super) fn passing(response: Inner::Future) -> Self {
        ResponseFuture { stage: Stage::Passing { response } }
    }

    pub(super) fn asking(asked: Asked<Inner, S, O, Sent>) -> Self {
        let Asked { asking, request, ready, observer } = asked;
        ResponseFuture { stage: Stage::Asking { asking, waiting: Some((request, ready, observer)) } }
    }

    pub(super) fn answered(answer: Answer, request: Request<Sent>, inner: &mut Inner) -> Self {
        ResponseFuture { stage: Stage::after(answer, request, inner) }
    }
}

impl<F, Inner, S, O, Sent> Stage<F, Inner, S, O, Sent>
where
    Inner: Service<Request<Sent>, Future = F>,
    S: Store,
{
    fn after(answer: Answer, request: Request<Sent>, inner: &mut Inner) -> Self {
        let script = Admitted::of(answer.policy().cors(), request.headers());
        match refuse(&answer, Dialect::of(request.headers())) {
            Some(mut response) => {
                if let Some(script) = script {
                    script.open(response.headers_mut());
                }
                Stage::Refused { response: Some(response) }
            }
            None => {
                let exposed = script.is_some();
                Stage::Allowed { response: inner.call(request), outcome: Outcome::of(answer, exposed) }
            }
        }
    }
}

impl<Inner, S, O, Sent, Received> Future for ResponseFuture<Inner, S, O, Sent>
where
    Inner: Service<Request<Sent>, Response = Response<Received>>,
    Received: Body<Data = Bytes>,
    S: Store,
    O: Observe,
{
    type Output = Result<Response<MaybeRefused<Received>>, Inner::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().stage;
        loop {
            let next = match stage.as_mut().project() {
                StageProjection::Asking { asking, waiting } => {
                    let answer = ready!(asking.poll(context));
                    let Some((request, mut inner, observer)) = waiting.take() else {
                        // Polled again after it was done, which no executor does.
                        return Poll::Pending;
                    };
                    observer.answered(&answer);
                    Stage::after(answer, request, &mut inner)
                }
                StageProjection::Allowed { response, outcome } => {
                    let mut response = ready!(response.poll(context))?;
                    if let Some(outcome) = outcome.take() {
                        finish(&outcome, response.headers_mut());
                    }
                    return Poll::Ready(Ok(response.map(MaybeRefused::passed)));
                }
                StageProjection::Passing { response } => {
                    let response = ready!(response.poll(context))?;
                    return Poll::Ready(Ok(response.map(MaybeRefused::passed)));
                }
                StageProjection::Refused { response } => {
                    return match response.take() {
                        Some(response) => Poll::Ready(Ok(response.map(MaybeRefused::refused))),
                        None => Poll::Pending,
                    };
                }
            };
            stage.set(next);
        }
    }
}
