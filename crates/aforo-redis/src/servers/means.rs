//! Means: what it takes to speak to a server, the same for all of them.

use std::sync::Arc;
use std::time::Duration;

use super::dialer::Dialer;
use crate::call::Call;

/// What it takes to speak to a server.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) dialer: Arc<Dialer>,
    /// Makes the call that shows whether a server can serve; in a cluster on a key of that slot.
    pub(super) probe: Arc<dyn Fn(Option<u16>) -> Call + Send + Sync>,
    pub(super) timeout: Duration,
    pub(super) connections: usize,
}
