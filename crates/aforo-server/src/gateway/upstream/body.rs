//! The body of a request on its way to the upstream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::super::incoming::{IncomingBody, IncomingError};
use super::pulse::{Fault, UpstreamPulse};

/// What the client sends, or nothing.
pub(in crate::gateway) struct UpstreamBody {
    /// The body as it comes.
    body: Option<IncomingBody>,
    /// The connection that it is sent over, once that is known.
    pulse: Option<Arc<UpstreamPulse>>,
}

// === impl UpstreamBody ===

impl UpstreamBody {
    pub(in crate::gateway) fn new(body: IncomingBody) -> Self {
        Self { body: Some(body).filter(|body| !body.is_end_stream()), pulse: None }
    }

    pub(in crate::gateway) fn empty() -> Self {
        Self { body: None, pulse: None }
    }

    /// Names the connection that the body is sent over.
    pub(in crate::gateway) fn send_over(&mut self, connection: &Arc<UpstreamPulse>) {
        if !self.is_empty() {
            self.pulse = Some(Arc::clone(connection));
        }
    }

    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.body.is_none()
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = IncomingError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, IncomingError>>> {
        let Self { body: Some(body), pulse } = &mut *self else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if let Some(pulse) = pulse {
            match &polled {
                Poll::Pending => pulse.await_client(),
                Poll::Ready(Some(Err(error))) if error.is_silent() => pulse.note(Fault::ClientSilent),
                Poll::Ready(Some(Err(_))) => pulse.note(Fault::ClientBroken),
                Poll::Ready(_) => pulse.client_moved(),
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}
