//! One copy of the service: `example-axum-redis REDIS_URL [ADDRESS]`.
//!
//! However many copies run, together they admit what the policy says, as long as they name the same Redis.

use std::error::Error;
use std::net::SocketAddr;

use aforo::{Limiter, MemoryStore, Policy, Quota, RateLimitLayer, RedisStore, Rule, WhenDown, redis};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};

/// Five orders a minute for each client, and a hundred requests of all kinds.
fn policy() -> Result<Policy, Box<dyn Error>> {
    let each = Rule::new("each", Quota::per_minute(100))?;
    let mut orders = Rule::new("orders", Quota::per_minute(5).sliding_window())?;
    // Without Redis nobody knows how many orders the other copies have let through.
    orders.when_down = WhenDown::Deny;
    let route = aforo::Route::new("POST /orders".parse()?, [each.clone(), orders]);
    Ok(Policy::of(aforo::Parts { rules: vec![each], routes: vec![route], ..aforo::Parts::default() })?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which Redis? name it: example-axum-redis redis://127.0.0.1:6379")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());

    let store = RedisStore::new(redis::Settings::new(url.parse()?).prefix("shop")?);
    // While Redis does not answer, each copy counts for itself.
    let limiter = Limiter::new(policy()?, store).with_fallback(MemoryStore::new());
    let limits = RateLimitLayer::new(limiter)
        .address_from(|extensions| extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip()));
    let app =
        Router::new().route("/", get(async || "welcome\n")).route("/orders", post(async || "ordered\n")).layer(limits);

    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
