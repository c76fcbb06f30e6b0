//! A request and its response, from the end of the header to the end of the last body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Version;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::pulse::Pulse;

/// Says to the connection's pulse that a request is in flight, for as long as it lives.
pub(super) struct Exchange {
    pulse: Arc<Pulse>,
}

pin_project! {
    /// The body of a response on its way to the client. It keeps its exchange open until it has been written.
    pub struct OutboundBody<B> {
        #[pin]
        content: Content<B>,
        exchange: Exchange,
    }
}

pin_project! {
    #[project = ContentProjection]
    enum Content<B> {
        Service { #[pin] body: B },
        Own { bytes: Option<Bytes> },
    }
}

// === impl Exchange ===

impl Exchange {
    pub(super) fn begin(pulse: &Arc<Pulse>, version: Version) -> Self {
        pulse.begin(version);
        Self { pulse: Arc::clone(pulse) }
    }

    pub(super) fn become_tunnel(&self) {
        self.pulse.become_tunnel();
    }

    /// The body that the service answered with.
    pub(super) fn carry<B>(self, body: B) -> OutboundBody<B> {
        OutboundBody { content: Content::Service { body }, exchange: self }
    }

    /// A body that the gateway answers with by itself.
    pub(super) fn carry_own<B>(self, bytes: Bytes) -> OutboundBody<B> {
        OutboundBody { content: Content::Own { bytes: Some(bytes) }, exchange: self }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.pulse.end();
    }
}

// === impl OutboundBody ===

impl<B: Body<Data = Bytes>> Body for OutboundBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().content.project() {
            ContentProjection::Service { body } => body.poll_frame(cx),
            ContentProjection::Own { bytes } => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Service { body } => body.is_end_stream(),
            Content::Own { bytes } => bytes.as_ref().is_none_or(Bytes::is_empty),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Service { body } => body.size_hint(),
            Content::Own { bytes } => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
