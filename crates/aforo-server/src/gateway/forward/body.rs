//! The body of a response on its way from the upstream.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::super::lease::Lease;

/// The body of a forwarded response. It returns the upstream connection when it has ended.
pub struct ForwardBody(Content);

enum Content {
    Upstream { incoming: Incoming, lease: Option<Lease> },
    Own(Option<Bytes>),
}

impl ForwardBody {
    /// The gateway's own words.
    pub(super) fn own(bytes: Bytes) -> Self {
        Self(Content::Own(Some(bytes)))
    }

    pub(super) fn empty() -> Self {
        Self(Content::Own(None))
    }

    /// What comes from the upstream.
    pub(super) fn new(incoming: Incoming, lease: Lease) -> Self {
        if incoming.is_end_stream() {
            lease.give_back();
            return Self::empty();
        }
        Self(Content::Upstream { incoming, lease: Some(lease) })
    }
}

impl Body for ForwardBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (incoming, lease) = match &mut self.0 {
            Content::Own(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Upstream { incoming, lease } => (incoming, lease),
        };
        let polled = Pin::new(&mut *incoming).poll_frame(cx);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Some(Err(error))) => {
                if let Some(lease) = lease.take() {
                    log_cut(&lease, error);
                }
            }
            // hyper does not ask again after trailers, nor when the length is reached.
            Poll::Ready(Some(Ok(frame))) if !frame.is_trailers() && !incoming.is_end_stream() => {}
            Poll::Ready(_) => {
                if let Some(lease) = lease.take() {
                    lease.give_back();
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Upstream { incoming, .. } => incoming.is_end_stream(),
            Content::Own(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Upstream { incoming, .. } => incoming.size_hint(),
            Content::Own(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}

/// The client sees a response that is cut off, so an operator should see why.
fn log_cut(lease: &Lease, error: &hyper::Error) {
    let upstream = lease.upstream().map(tracing::field::display);
    let silent = lease.is_silent();
    lease.pool().hush().say(|held| {
        tracing::warn!(target: "aforo::gateway", upstream, silent, %error, held, "a response was cut off");
    });
}
