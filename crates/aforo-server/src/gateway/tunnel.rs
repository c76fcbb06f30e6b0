//! Two connections that left HTTP, joined: what one side sends goes to the other until both have ended.

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::sweep::Presence;

/// Joins client and upstream. A worker that drains waits for it, as long as it waits for anything.
pub(super) async fn join(client: OnUpgrade, upstream: OnUpgrade, _presence: Presence) {
    let (client, upstream) = match tokio::try_join!(client, upstream) {
        Ok(joined) => joined,
        Err(error) => {
            tracing::debug!(target: "aforo::gateway", %error, "a change of protocol was abandoned");
            return;
        }
    };
    // How it ended is the business of the two that talked.
    let _ = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(upstream)).await;
}
