//! `/api/v1/status` and `/api/v1/rules`.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::Watched;
use super::store::StoreStatus;
use crate::reload::Refused;
use crate::totals::Counted;

/// How it is going.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    pub(super) version: &'static str,
    pub(super) uptime_s: u64,
    pub(super) gateway: Option<String>,
    pub(super) policy: PolicyStatus,
    pub(super) store: StoreStatus,
    pub(super) requests: Counted,
}

#[derive(Debug, Serialize)]
pub(super) struct PolicyStatus {
    /// Counts the policies that took effect.
    pub(super) version: u64,
    pub(super) source: String,
    pub(super) last_reload: Reload,
}

#[derive(Debug, Serialize)]
pub(super) struct Reload {
    pub(super) ok: bool,
    pub(super) at: String,
    pub(super) mistakes: Value,
    /// Keys that were changed and take effect only at the next start.
    pub(super) needs_restart: Vec<&'static str>,
}

pub(super) async fn status(State(watched): State<Arc<Watched>>) -> Json<Status> {
    Json(Status::of(&watched))
}

impl Status {
    pub(super) fn of(watched: &Watched) -> Status {
        let (version, last) = watched.reloading.state();
        Status {
            version: env!("CARGO_PKG_VERSION"),
            uptime_s: watched.started.elapsed().as_secs(),
            gateway: watched.gateway.map(|address| address.to_string()),
            policy: PolicyStatus {
                version,
                source: watched.reloading.source().name(),
                last_reload: Reload {
                    ok: last.refused.is_none(),
                    at: timestamp(last.at),
                    mistakes: last.refused.as_ref().map_or(json!([]), mistakes),
                    needs_restart: last.needs_restart,
                },
            },
            store: StoreStatus::of(watched.reloading.limiter().store()),
            requests: watched.totals.counted(),
        }
    }
}

/// Mistakes as `aforo check --json` shows them.
pub(super) fn mistakes(refused: &Refused) -> Value {
    match refused {
        Refused::Unreadable(message) | Refused::Unusable(message) => json!([{ "message": message }]),
        Refused::Mistaken(mistakes) => crate::command::mistakes_json(mistakes),
    }
}

fn timestamp(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

pub(super) async fn rules(State(watched): State<Arc<Watched>>) -> Json<Value> {
    Json(Value::Array(crate::command::rules_json(&watched.reloading.limiter().policy())))
}
