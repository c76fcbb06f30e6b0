//! The sample API that the demo puts behind the gateway. It knows nothing of limits.

use std::net::SocketAddr;

use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The routes of the sample API.
pub fn router() -> Router {
    Router::new()
        .route("/", get(async || Json(json!({ "try": ["/api/status", "/api/search?q=pa", "/api/orders", "/health"] }))))
        .route("/api/status", get(async || Json(json!({ "status": "open", "kitchen": "busy" }))))
        .route("/api/search", get(search))
        .route("/api/orders", get(orders).post(order))
        .route("/api/auth/login", post(login))
        .route("/health", get(async || "healthy\n"))
        .route("/ready", get(async || "ready\n"))
        .fallback(nothing)
}

/// Serves the sample API on a free port of this machine until it is dropped.
///
/// # Errors
///
/// If no port can be had.
pub async fn start() -> std::io::Result<(SocketAddr, impl Future<Output = std::io::Result<()>>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    Ok((address, async move { axum::serve(listener, router()).await }))
}

#[derive(Deserialize)]
struct Search {
    q: Option<String>,
}

const DISHES: [&str; 6] = ["paella", "gazpacho", "tortilla", "croquetas", "salmorejo", "churros"];

async fn search(Query(search): Query<Search>) -> Json<Value> {
    let wanted = search.q.unwrap_or_default().to_lowercase();
    let found: Vec<&str> = DISHES.into_iter().filter(|dish| dish.contains(&wanted)).collect();
    Json(json!({ "query": wanted, "found": found }))
}

async fn orders() -> Json<Value> {
    Json(json!({ "orders": [{ "id": 1, "dish": "paella" }] }))
}

async fn order(body: String) -> (StatusCode, Json<Value>) {
    (StatusCode::CREATED, Json(json!({ "id": 2, "received_bytes": body.len() })))
}

async fn login() -> (StatusCode, Json<Value>) {
    (StatusCode::UNAUTHORIZED, Json(json!({ "error": "wrong password" })))
}

async fn nothing(uri: Uri) -> (StatusCode, Json<Value>) {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "nothing here", "path": uri.path() })))
}
