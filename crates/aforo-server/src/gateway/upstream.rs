//! One connection to an upstream.

mod body;
mod pulse;
mod wire;

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::alarm::{Call, Listener};

pub(super) use self::body::UpstreamBody;
pub(super) use self::pulse::{Fault, UpstreamPulse};
use self::wire::UpstreamWire;

/// The most that is kept of a response's header, and of what is on its way in each direction.
// With half of it a crowd of slow readers needs a third less memory, and a response of 100 KiB a fifth more CPU.
const BUFFER: usize = 64 * 1024;

/// Speaks HTTP/1.1 over a new connection, which is driven by a task of its own.
pub(super) async fn open(stream: TcpStream, pulse: &Arc<UpstreamPulse>) -> hyper::Result<SendRequest<UpstreamBody>> {
    let wire = TokioIo::new(UpstreamWire { stream, pulse: Arc::clone(pulse) });
    let (sender, connection) = http1::Builder::new().max_buf_size(BUFFER).handshake(wire).await?;
    let pulse = Arc::clone(pulse);
    tokio::task::spawn_local(async move {
        let mut connection = pin!(connection.with_upgrades());
        let mut listener = Listener::new();
        let ended = std::future::poll_fn(|cx| match listener.listen(pulse.alarm(), cx) {
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
