//! Refreshing: keeping the map of a cluster current.

use std::sync::Arc;
use std::time::Duration;

use aforo_core::StoreErrorKind;
use tokio::time::{Instant, sleep, sleep_until};

use super::backoff::{Backoff, jittered};
use super::cluster::Atlas;
use super::slots;
use crate::endpoint::Endpoint;
use crate::trouble::{Sign, Trouble};

/// How often the map is read although nobody found it wrong.
const EVERY: Duration = Duration::from_secs(30);

/// How often it is read while a server that owns slots is down.
const WHILE_TORN: Duration = Duration::from_millis(500);

/// While slots move many calls find the map wrong at the same time.
const AT_MOST_EVERY: Duration = Duration::from_millis(200);

/// Reads the map again and again: one reading at a time.
pub(super) async fn keep_current(atlas: Arc<Atlas>) {
    let mut backoff = Backoff::new();
    for turn in 0.. {
        let started = Instant::now();
        let read = read(&atlas, turn).await;
        let pause = match read {
            Ok(()) => {
                backoff = Backoff::new();
                jittered(if atlas.is_torn() { WHILE_TORN } else { EVERY })
            }
            Err(trouble) if atlas.has_map() => {
                tracing::warn!(%trouble, "the map of the cluster could not be read again");
                backoff.next()
            }
            Err(trouble) => {
                if atlas.standings.down(&trouble) {
                    tracing::warn!(%trouble, "the store is down: no server of the cluster told its map");
                }
                backoff.next()
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = atlas.alarm.notified() => sleep_until(started + AT_MOST_EVERY).await,
        }
    }
}

/// Reads it from the first server that tells one.
async fn read(atlas: &Atlas, turn: usize) -> Result<(), Trouble> {
    let mut last = Trouble::unreachable("no server of the cluster is known");
    for server in atlas.to_be_asked(turn) {
        match ask(atlas, &server).await {
            Ok(spans) => {
                atlas.draw(spans);
                return Ok(());
            }
            Err(trouble) => last = trouble.of(server),
        }
    }
    Err(last)
}

async fn ask(atlas: &Atlas, server: &Endpoint) -> Result<Vec<slots::Span<Endpoint>>, Trouble> {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    let answer = atlas.means.dialer.ask(server, &command).await?;
    let spans = slots::read(&answer, server).ok_or_else(|| unusable("its map of the slots is not understood"))?;
    if spans.is_empty() {
        return Err(unusable("it knows of no server that owns slots"));
    }
    Ok(spans)
}

fn unusable(text: &'static str) -> Trouble {
    Trouble::new(StoreErrorKind::Other, Sign::Unable, text)
}
