//! The body of a response that comes either from the service behind or from aforo itself.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// A body of the service behind, passed on frame by frame, or a refusal's.
    #[derive(Debug)]
    pub struct MaybeRefused<B> {
        #[pin]
        whose: Whose<B>,
    }
}

pin_project! {
    #[project = WhoseProjection]
    #[derive(Debug)]
    enum Whose<B> {
        Service { #[pin] body: B },
        // What of a refusal is still to be sent.
        Refusal { body: Option<Bytes> },
    }
}

impl<B> MaybeRefused<B> {
    pub(crate) fn passed(body: B) -> MaybeRefused<B> {
        MaybeRefused { whose: Whose::Service { body } }
    }

    pub(crate) fn refused(body: Bytes) -> MaybeRefused<B> {
        MaybeRefused { whose: Whose::Refusal { body: Some(body).filter(|body| !body.is_empty()) } }
    }
}

impl<B: Body<Data = Bytes>> Body for MaybeRefused<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().whose.project() {
            WhoseProjection::Service { body } => body.poll_frame(context),
            WhoseProjection::Refusal { body } => Poll::Ready(body.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.whose {
            Whose::Service { body } => body.is_end_stream(),
            Whose::Refusal { body } => body.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.whose {
            Whose::Service { body } => body.size_hint(),
            Whose::Refusal { body } => SizeHint::with_exact(body.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
