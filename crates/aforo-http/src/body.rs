//! The body of a response that comes either from the service behind or from aforo itself.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// A body of the service behind, passed on frame by frame, or a refusal's.
    #[project = WhoseProjection]
    #[derive(Debug)]
    pub enum MaybeRefused<B> {
        /// The service's own.
        Passed {
            /// The service's body.
            #[pin]
            body: B,
        },
        /// A refusal's, until it has been sent.
        Refused {
            /// What is still to be sent.
            body: Option<Bytes>,
        },
    }
}

impl<B> MaybeRefused<B> {
    pub(crate) fn refused(body: Bytes) -> MaybeRefused<B> {
        MaybeRefused::Refused { body: Some(body).filter(|body| !body.is_empty()) }
    }
}

impl<B: Body<Data = Bytes>> Body for MaybeRefused<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project() {
            WhoseProjection::Passed { body } => body.poll_frame(context),
            WhoseProjection::Refused { body } => Poll::Ready(body.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            MaybeRefused::Passed { body } => body.is_end_stream(),
            MaybeRefused::Refused { body } => body.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            MaybeRefused::Passed { body } => body.size_hint(),
            MaybeRefused::Refused { body } => SizeHint::with_exact(body.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
