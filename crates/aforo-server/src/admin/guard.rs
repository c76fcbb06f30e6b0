//! Who may look and who may change something.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq;

use super::problem;

/// The secret that opens the admin listener.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token; it is never shown again.
    pub fn new(secret: String) -> Token {
        Token(secret)
    }

    /// Whether these fields carry it. The comparison takes the same time wherever they differ.
    fn is_in(&self, fields: &HeaderMap) -> bool {
        let bearer = fields.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let Some((scheme, secret)) = bearer.and_then(|value| value.split_at_checked(7)) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(secret.ct_eq(self.0.as_bytes()))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Lets a request through that carries the token, if there is one, and that no other site has made a browser send.
pub(super) async fn admit(State(token): State<Arc<Option<Token>>>, request: Request, next: Next) -> Response {
    let fields = request.headers();
    match &*token {
        Some(token) if !token.is_in(fields) => {
            let detail = "This listener asks for its token: Authorization: Bearer TOKEN (admin.token in the policy).";
            let mut response = problem(StatusCode::UNAUTHORIZED, detail.to_owned());
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"aforo\""));
            response
        }
        // Without a token only this machine gets here. A page on another site could still point its own name at
        // this address, or post a form to it.
        None if !asks_for_this_machine(fields) => {
            let detail = "Without a token this listener answers to localhost and loopback addresses only.";
            problem(StatusCode::FORBIDDEN, detail.to_owned())
        }
        _ if *request.method() != Method::GET && comes_from_another_site(fields) => {
            let detail = "A page of another site may not change anything here.";
            problem(StatusCode::FORBIDDEN, detail.to_owned())
        }
        _ => next.run(request).await,
    }
}

fn asks_for_this_machine(fields: &HeaderMap) -> bool {
    let Some(host) = fields.get(HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn comes_from_another_site(fields: &HeaderMap) -> bool {
    if let Some(site) = fields.get("sec-fetch-site") {
        return site != "same-origin" && site != "none";
    }
    let Some(origin) = fields.get(ORIGIN) else { return false };
    let host = fields.get(HOST).and_then(|host| host.to_str().ok());
    let from = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, from)| from);
    from.is_none() || from != host
}
