//! An axum service behind the limiter.

use std::error::Error;
use std::net::SocketAddr;

use aforo::{Cost, Limiter, Match, MemoryStore, Parts, Policy, Quota, RateLimitLayer, Route, Rule};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;

/// The limits: one for everything, and on `/search` a cost of four and a limit besides.
pub fn policy() -> Result<Policy, Box<dyn Error>> {
    let each = Rule::new("each", Quota::per_second(20).burst(100))?;
    let search = Rule::new("search", Quota::per_second(5))?;
    let mut dear = Route::new("GET /search".parse::<Match>()?, [each.clone(), search]);
    dear.cost = Cost::new(4);
    Ok(Policy::of(Parts { rules: vec![each], routes: vec![dear], ..Parts::default() })?)
}

/// The service, with its limiter before it. axum keeps the client's address as [`ConnectInfo`].
pub fn app(policy: Policy) -> Router {
    let limits = RateLimitLayer::new(Limiter::new(policy, MemoryStore::new())).address_from(|extensions| {
        extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
    });
    Router::new().route("/", get(async || "hello\n")).route("/search", get(async || "found\n")).layer(limits)
}
