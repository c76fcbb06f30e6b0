//! The gateway: a proxy before any HTTP API, built on hyper. It knows nothing of rate limits: the limiter is a Tower
//! layer that a caller puts around [`Forward`], the service that talks to the upstream.
//!
//! # The life of a request
//!
//! 1. **Bind** ([`bind`]). One listening socket, opened before anything is served, so that a taken port is an error
//!    with a name. [`Listening::serve`] hands a clone of it to every worker.
//! 2. **Accept** (`worker`). A worker is a thread with its own event loop, connections and upstream pool. Workers share
//!    nothing but the socket, so nothing on the way of a request takes a lock.
//! 3. **Greet** (`connection`, `proxy_header`, `tls`). Where a proxy stands before it, the header by which that says
//!    whose connection it is; TLS if a certificate was named; then HTTP/1.1 or HTTP/2, told apart by the first bytes.
//!    Each connection notes in its `Pulse` what it is doing and since when.
//! 4. **Receive** (`receive`, `request`). A request that could be read in two ways is refused here. What is left has one
//!    normal form: the target is a path, `Host` names the host, [`Peer`] says who sent it. Its body is an
//!    [`IncomingBody`], which bounds how long the client may be silent.
//! 5. **The service.** Whatever [`Listening::serve`] was given: layers around [`Forward`].
//! 6. **Forward** (`forward`, `headers`). Fields that concern one connection only are removed, `X-Forwarded-*` are set,
//!    path and query stay as they arrived.
//! 7. **Upstream** (`pool`, `lease`, `upstream`). The connection used last is used again, else a new one is opened. What an old
//!    connection did not take is sent once more; what may have been taken is not, unless repeating it is harmless.
//! 8. **Respond.** The body flows as it comes, in both directions, at the pace of the slower side. When it has ended the
//!    upstream connection returns to the pool. A `101` turns both connections into a `tunnel`.
//! 9. **Fail.** What goes wrong before the response begins becomes a `problem` (400, 408, 502, 504) and a line in the
//!    log. After that only cutting the connection is honest.
//!
//! # Time
//!
//! No request owns a timer. A `sweep` wakes ten times a second, moves the worker's coarse clock, looks at the pulses of
//! all connections and rings the alarm of those that are overdue. So a deadline is met up to two ticks late, never
//! early. Only a request body that makes us wait has a timer of its own.
//!
//! # The end
//!
//! [`Running::stop`] makes every worker stop accepting, let the requests in flight end, and close: HTTP/1 after the
//! response, HTTP/2 with GOAWAY. What is not done after [`Settings::drain`] is cut.

mod alarm;
mod bind;
mod clock;
mod connection;
mod exchange;
mod failure;
mod forward;
mod headers;
mod hush;
mod incoming;
mod lease;
mod leftovers;
mod peer;
mod pool;
mod problem;
mod proxy_header;
mod pulse;
mod receive;
mod request;
mod running;
mod settings;
mod sweep;
mod tls;
mod tunnel;
mod upstream;
pub mod visitor;
mod wire;
mod worker;

pub use self::bind::{BindError, Listening, bind};
pub use self::exchange::OutboundBody;
pub use self::forward::{Forward, ForwardBody, Forwarding};
pub use self::incoming::{IncomingBody, IncomingError};
pub use self::peer::{Peer, Scheme};
pub use self::running::Running;
pub use self::settings::{InvalidUpstream, Settings, Timeouts, TlsFiles, Upstream};
pub use self::tls::TlsError;
