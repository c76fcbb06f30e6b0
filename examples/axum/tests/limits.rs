//! The example does what its README says.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use tower_service::Service;

async fn get(app: &mut axum::Router, from: &str, path: &str) -> Response<Body> {
    let from: SocketAddr = from.parse().unwrap();
    let request = Request::get(path).extension(ConnectInfo(from)).body(Body::empty()).unwrap();
    Service::<Request<Body>>::call(app, request).await.unwrap()
}

#[tokio::test]
async fn a_search_costs_four_of_five() {
    let mut app = example_axum::app(example_axum::policy().unwrap());
    let found = get(&mut app, "203.0.113.7:1", "/search").await;
    assert_eq!(found.status(), StatusCode::OK);
    assert_eq!(found.headers()["ratelimit"], r#""each";r=96;t=1, "search";r=1;t=1"#);
    assert_eq!(found.into_body().collect().await.unwrap().to_bytes(), "found\n");

    let refused = get(&mut app, "203.0.113.7:2", "/search").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "1");

    let other = get(&mut app, "203.0.113.8:1", "/search").await;
    assert_eq!(other.status(), StatusCode::OK, "another client has a quota of its own");
}
