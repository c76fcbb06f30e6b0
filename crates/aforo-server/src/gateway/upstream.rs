//! One connection to an upstream: its pulse, its bytes, and the bodies that pass over it.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::alarm::{Alarm, Call, Listener};
use super::clock::{Clock, Stamp, StampCell};
use super::incoming::{IncomingBody, IncomingError};
use super::settings::Timeouts;

/// The most that is kept of a response's header, and of what is on its way in each direction.
const BUFFER: usize = 64 * 1024;

/// What a connection to an upstream is doing: written by its task, read by the sweep.
pub(super) struct UpstreamPulse {
    clock: Arc<Clock>,
    alarm: Alarm,
    phase: AtomicU8,
    /// Since when nothing has come from the upstream although we listened.
    silent: StampCell,
    /// When something came last, or the phase began.
    moved: StampCell,
    /// The request body is what we wait for, so the upstream may be silent.
    client_awaited: AtomicBool,
    fault: AtomicU8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    Idle = 0,
    Busy = 1,
    Tunnel = 2,
}

/// Why an exchange with an upstream was given up, where that is known better than by the error of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Fault {
    /// Nobody's, or the upstream's.
    None = 0,
    /// The upstream was silent for too long.
    UpstreamSilent = 1,
    /// The client stopped sending.
    ClientSilent = 2,
    /// The client's body broke off or made no sense.
    ClientBroken = 3,
}

/// The body of a request on its way to the upstream.
pub(super) enum UpstreamBody {
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

/// The bytes of the connection, with a hand on its pulse.
struct UpstreamWire {
    stream: TcpStream,
    pulse: Arc<UpstreamPulse>,
}

/// Speaks HTTP/1.1 over a new connection, which is driven by a task of its own.
pub(super) async fn open(stream: TcpStream, pulse: &Arc<UpstreamPulse>) -> hyper::Result<SendRequest<UpstreamBody>> {
    let wire = TokioIo::new(UpstreamWire { stream, pulse: Arc::clone(pulse) });
    let (sender, connection) = http1::Builder::new().max_buf_size(BUFFER).handshake(wire).await?;
    let pulse = Arc::clone(pulse);
    tokio::task::spawn_local(async move {
        let mut connection = pin!(connection.with_upgrades());
        let mut listener = Listener::new();
        let ended = std::future::poll_fn(|cx| match listener.listen(&pulse.alarm, cx) {
            Call::Quiet => connection.as_mut().poll(cx),
            _ => Poll::Ready(Ok(())),
        })
        .await;
        if let Err(error) = ended {
            tracing::debug!(target: "aforo::gateway", %error, "an upstream connection broke");
        }
    });
    Ok(sender)
}

// === impl UpstreamPulse ===

impl UpstreamPulse {
    pub(super) fn new(clock: Arc<Clock>) -> Self {
        let now = clock.now();
        Self {
            clock,
            alarm: Alarm::new(),
            phase: AtomicU8::new(Phase::Idle as u8),
            silent: StampCell::unset(),
            moved: StampCell::at(now),
            client_awaited: AtomicBool::new(false),
            fault: AtomicU8::new(Fault::None as u8),
        }
    }

    /// A request is sent: from now on the upstream is expected to speak.
    pub(super) fn begin(&self) {
        self.enter(Phase::Busy);
        self.silent.set(self.clock.now());
    }

    /// The response has ended; the connection waits in the pool.
    pub(super) fn rest(&self) {
        self.enter(Phase::Idle);
    }

    /// The connection leaves HTTP, and the sweep's care.
    pub(super) fn become_tunnel(&self) {
        self.enter(Phase::Tunnel);
    }

    /// Whether the connection rested so long that its server may be about to close it.
    pub(super) fn is_cold(&self) -> bool {
        const FRESH: std::time::Duration = std::time::Duration::from_millis(500);
        self.moved.get().is_none_or(|since| since.is_past(FRESH, self.clock.now()))
    }

    pub(super) fn fault(&self) -> Fault {
        match self.fault.load(Relaxed) {
            0 => Fault::None,
            1 => Fault::UpstreamSilent,
            2 => Fault::ClientSilent,
            _ => Fault::ClientBroken,
        }
    }

    /// Closes the connection if it is overdue.
    pub(super) fn examine(&self, now: Stamp, timeouts: &Timeouts) {
        let moved = |limit| self.moved.get().is_some_and(|since| since.is_past(limit, now));
        match self.phase() {
            Phase::Idle if moved(timeouts.idle) => self.alarm.ring(Call::Close),
            Phase::Busy if self.client_awaited.load(Relaxed) => {}
            Phase::Busy => match self.silent.get() {
                Some(since) if since.is_past(timeouts.upstream, now) => {
                    self.note(Fault::UpstreamSilent);
                    self.alarm.ring(Call::Close);
                }
                // There is something to read, and nobody reads: the client does not take the response. This is how a
                // stalled stream of HTTP/2 gives back its upstream connection.
                None if moved(timeouts.body) => self.alarm.ring(Call::Close),
                _ => {}
            },
            _ => {}
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
        self.moved.set(self.clock.now());
        self.client_awaited.store(false, Relaxed);
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::Idle,
            1 => Phase::Busy,
            _ => Phase::Tunnel,
        }
    }

    fn note(&self, fault: Fault) {
        self.fault.store(fault as u8, Relaxed);
    }

    fn client_moved(&self) {
        self.client_awaited.store(false, Relaxed);
        self.silent.set(self.clock.now());
    }
}

// === impl UpstreamBody ===

impl UpstreamBody {
    pub(super) fn new(body: IncomingBody) -> Self {
        match body.is_end_stream() {
            true => Self::Empty,
            false => Self::Client { body, pulse: None },
        }
    }

    /// Names the connection that the body is sent over.
    pub(super) fn send_over(&mut self, connection: &Arc<UpstreamPulse>) {
        if let Self::Client { pulse, .. } = self {
            *pulse = Some(Arc::clone(connection));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
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
                Poll::Pending => pulse.client_awaited.store(true, Relaxed),
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

// === impl UpstreamWire ===

impl AsyncRead for UpstreamWire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let now = self.pulse.clock.now();
        if polled.is_pending() {
            self.pulse.silent.set_if_unset(now);
        } else {
            self.pulse.silent.clear();
            self.pulse.moved.set(now);
        }
        polled
    }
}

impl AsyncWrite for UpstreamWire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
