//! The body of a request on its way to the upstream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::super::incoming::{IncomingBody, IncomingError};
use super::pulse::{Fault, UpstreamPulse};

/// What the client sends, or nothing.
pub(in crate::gateway) enum UpstreamBody {
    /// None.
    Empty,
    /// What the client sends.
    Client {
        /// The body as it comes.
        body: IncomingBody,
        /// The connection that it is sent over, once that is known.
        pulse: Option<Arc<UpstreamPulse>>,
    },
}

// === impl UpstreamBody ===

impl UpstreamBody {
    pub(in crate::gateway) fn new(body: IncomingBody) -> Self {
        match body.is_end_stream() {
            true => Self::Empty,
            false => Self::Client { body, pulse: None },
        }
    }

    /// Names the connection that the body is sent over.
    pub(in crate::gateway) fn send_over(&mut self, connection: &Arc<UpstreamPulse>) {
        if let Self::Client { pulse, .. } = self {
            *pulse = Some(Arc::clone(connection));
        }
    }

    pub(in crate::gateway) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = IncomingError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, IncomingError>>> {
        let Self::Client { body, pulse } = &mut *self else { return Poll::Ready(None) };
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
        match self {
            Self::Empty => true,
            Self::Client { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Client { body, .. } => body.size_hint(),
        }
    }
}
