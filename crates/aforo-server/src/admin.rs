//! The admin listener: how it is going, and reloading. Probes and people come here, never through a rule.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};

use crate::reload::Reloading;
use crate::totals::Totals;

mod guard;
mod listener;
mod page;
mod status;
mod store;

pub use guard::Token;
pub use listener::Patient;

/// What the admin listener looks at.
pub struct Watched {
    /// Its policy's source.
    pub reloading: Arc<Reloading>,
    /// What was answered.
    pub totals: Arc<Totals>,
    /// When the program started.
    pub started: Instant,
    /// Where the gateway listens.
    pub gateway: Option<SocketAddr>,
}

/// The routes of the admin listener. With a token, all but the probes ask for it.
pub fn router(watched: Arc<Watched>, token: Option<Token>) -> Router {
    let guarded = Router::new()
        .route("/", get(page::page))
        .route("/style.css", get(page::style))
        .route("/api/v1/status", get(status::status))
        .route("/api/v1/rules", get(status::rules))
        .route("/api/v1/reload", post(reload))
        .route_layer(middleware::from_fn_with_state(Arc::new(token), guard::admit));
    Router::new()
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(readyz))
        .merge(guarded)
        .fallback(async || problem(StatusCode::NOT_FOUND, "There is nothing at this path.".to_owned()))
        .with_state(watched)
}

/// Ready when every request gets an answer: from the store, or by the failure mode that its rules state. A store that is
/// down is then no reason to take the whole process out of service, which would deny everybody.
async fn readyz(State(watched): State<Arc<Watched>>) -> Response {
    let (version, _) = watched.reloading.state();
    let limiter = watched.reloading.limiter();
    let readiness = store::readiness(limiter.store(), &limiter.policy());
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, format!("{}: policy {version}, {}\n", readiness.word, readiness.store)).into_response()
}

async fn reload(State(watched): State<Arc<Watched>>) -> Response {
    let reloading = watched.reloading.clone();
    // Reading a file blocks.
    let outcome = tokio::task::spawn_blocking(move || reloading.reload()).await;
    match outcome {
        Ok(Ok(version)) => {
            let (_, last) = watched.reloading.state();
            Json(serde_json::json!({ "policy": { "version": version }, "needs_restart": last.needs_restart }))
                .into_response()
        }
        Ok(Err(refused)) => {
            let body = serde_json::json!({
                "type": "about:blank",
                "title": "Policy refused",
                "status": 422,
                "detail": "The policy was not reloaded; the last good one stays.",
                "mistakes": status::mistakes(&refused),
            });
            (StatusCode::UNPROCESSABLE_ENTITY, problem_json(), Json(body)).into_response()
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "The reload did not come to an end.".to_owned()),
    }
}

type ProblemJson = [(axum::http::HeaderName, &'static str); 1];

fn problem_json() -> ProblemJson {
    [(axum::http::header::CONTENT_TYPE, "application/problem+json")]
}

/// A refusal of the admin listener itself, as RFC 9457 has it.
fn problem(status: StatusCode, detail: String) -> Response {
    let title = status.canonical_reason().unwrap_or("Problem");
    let body =
        serde_json::json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail });
    (status, problem_json(), body.to_string()).into_response()
}
