//! The bytes of a client's connection, in the clear or through TLS, with a hand on its pulse.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::alarm::Call;
use super::problem::HEADER_LATE;
use super::pulse::Pulse;

/// What is joined before it is written.
const SMALL: usize = 1024;

/// A stream that tells the pulse what passes.
pub(super) struct Wire {
    stream: Stream,
    pulse: Arc<Pulse>,
}

/// Both kinds in one type, so that the HTTP machinery is compiled once.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

macro_rules! each {
    ($stream:expr, $stream_name:ident => $call:expr) => {
        match $stream {
            Stream::Plain($stream_name) => $call,
            Stream::Tls($stream_name) => $call,
        }
    };
}

// === impl Wire ===

impl Wire {
    pub(super) fn new(stream: Stream, pulse: Arc<Pulse>) -> Self {
        Self { stream, pulse }
    }

    /// A client that is late with its header is told so here: hyper has no state in which it could answer.
    fn refuse_late(&mut self, cx: &mut Context<'_>) -> io::Error {
        each!(&mut self.stream, stream => {
            let mut stream = Pin::new(stream);
            // One attempt: whoever does not read even this is not waited for.
            let _ = stream.as_mut().poll_write(cx, HEADER_LATE);
            let _ = stream.poll_shutdown(cx);
        });
        io::Error::new(io::ErrorKind::TimedOut, "the header of the request took too long")
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(_) => self.pulse.wrote(),
            Poll::Pending => self.pulse.write_blocked(),
        }
        written
    }
}

/// A header and a small body in one piece: to copy a few hundred bytes costs less than to have the kernel gather them.
fn join<'a>(bufs: &[IoSlice<'_>], space: &'a mut [u8; SMALL]) -> Option<&'a [u8]> {
    let mut length = 0;
    for buf in bufs {
        space.get_mut(length..length + buf.len())?.copy_from_slice(buf);
        length += buf.len();
    }
    space.get(..length)
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.pulse.alarm().call() == Call::Late {
            return Poll::Ready(Err(self.refuse_late(cx)));
        }
        let before = buf.filled().len();
        let polled = each!(&mut self.stream, stream => Pin::new(stream).poll_read(cx, buf));
        if let Some(bytes @ [_, ..]) = buf.filled().get(before..) {
            self.pulse.read(bytes);
        }
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = each!(&mut self.stream, stream => Pin::new(stream).poll_write(cx, buf));
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(joined) = join(bufs, &mut [0; SMALL]) {
            return self.poll_write(cx, joined);
        }
        let written = each!(&mut self.stream, stream => Pin::new(stream).poll_write_vectored(cx, bufs));
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        each!(&self.stream, stream => stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // TLS takes bytes into its own buffer, so it is the flush that waits for the client.
        let flushed = each!(&mut self.stream, stream => Pin::new(stream).poll_flush(cx));
        if flushed.is_pending() {
            self.pulse.write_blocked();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.stream, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
