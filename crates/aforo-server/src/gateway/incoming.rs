//! The body of a request, as the service reads it, and what is left of it when the service does not.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use super::leftovers::Leftovers;

/// A request body that fails when the client is silent for too long while it is awaited.
// A request is moved from layer to layer. Most have no body, and what others have stays where it is.
#[derive(Debug)]
pub struct IncomingBody(Option<Box<Arriving>>);

/// A body that is not empty.
#[derive(Debug)]
pub(super) struct Arriving {
    incoming: Incoming,
    silence: Duration,
    patience: Patience,
    /// Where it goes when nobody reads it to its end; `None` if the client still waits to be told to send it.
    leftovers: Option<Leftovers>,
    /// The same, for when it is read after all.
    when_read: Option<Leftovers>,
}

/// Why a request body ended early.
#[derive(Debug)]
pub struct IncomingError(Cause);

#[derive(Debug)]
enum Cause {
    Silent,
    Broken(hyper::Error),
}

/// A timer that costs nothing until the body makes us wait, and is then used again and again.
#[derive(Debug)]
struct Patience {
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

// === impl IncomingBody ===

impl IncomingBody {
    /// A body whose rest goes to `leftovers`, unless its client awaits a `100 Continue` that it never got.
    pub(super) fn new(incoming: Incoming, silence: Duration, awaited: bool, leftovers: &Leftovers) -> Self {
        if incoming.is_end_stream() {
            return Self(None);
        }
        let leftovers = Some(leftovers.clone());
        let (leftovers, when_read) = if awaited { (None, leftovers) } else { (leftovers, None) };
        let patience = Patience { timer: None, waiting: false };
        Self(Some(Box::new(Arriving { incoming, silence, patience, leftovers, when_read })))
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = IncomingError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, IncomingError>>> {
        let Some(arriving) = self.0.as_deref_mut() else { return Poll::Ready(None) };
        if arriving.when_read.is_some() {
            arriving.leftovers = arriving.when_read.take();
        }
        let polled = arriving.poll(arriving.silence, cx);
        if !matches!(polled, Poll::Pending | Poll::Ready(Some(Ok(_)))) {
            // Nothing of it is left.
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|arriving| arriving.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or(SizeHint::with_exact(0), |arriving| arriving.incoming.size_hint())
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if let Some(mut arriving) = self.0.take()
            && let Some(leftovers) = arriving.leftovers.take()
            && !arriving.incoming.is_end_stream()
        {
            leftovers.add(arriving);
        }
    }
}

// === impl Arriving ===

impl Arriving {
    /// The next frame, or an error after so long a silence.
    pub(super) fn poll(
        &mut self,
        silence: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, IncomingError>>> {
        match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.patience.waiting = false;
                Poll::Ready(frame.map(|result| result.map_err(|error| IncomingError(Cause::Broken(error)))))
            }
            Poll::Pending if self.patience.is_over(silence, cx) => Poll::Ready(Some(Err(IncomingError(Cause::Silent)))),
            Poll::Pending => Poll::Pending,
        }
    }
}

// === impl Patience ===

impl Patience {
    fn is_over(&mut self, silence: Duration, cx: &mut Context<'_>) -> bool {
        let timer = self.timer.get_or_insert_with(|| {
            self.waiting = true;
            Box::pin(tokio::time::sleep(silence))
        });
        if !self.waiting {
            self.waiting = true;
            timer.as_mut().reset(Instant::now() + silence);
        }
        timer.as_mut().poll(cx).is_ready()
    }
}

// === impl IncomingError ===

impl IncomingError {
    /// The client stopped sending in the middle of its body.
    pub fn is_silent(&self) -> bool {
        matches!(self.0, Cause::Silent)
    }
}

impl fmt::Display for IncomingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Silent => f.write_str("the client stopped sending its request body"),
            Cause::Broken(error) => write!(f, "the request body is broken: {error}"),
        }
    }
}

impl std::error::Error for IncomingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Cause::Silent => None,
            Cause::Broken(error) => Some(error),
        }
    }
}
