//! What a client is told when the gateway itself answers: `application/problem+json` (RFC 9457).

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

/// A fault in terms of the client: never an address, never an inner error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) detail: &'static str,
    /// Whether what follows on this connection can no longer be trusted to be a request.
    pub(super) last: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    detail: &'a str,
}

/// What a client hears that needed too long for a header, whole because hyper can say nothing in that state.
pub(super) const HEADER_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-type: application/problem+json\r\ncontent-length: 123\r\ncache-control: no-store\r\nconnection: close\r\n\r\n\
    {\"type\":\"about:blank\",\"title\":\"Request Timeout\",\"status\":408,\"detail\":\"The header of the request took too long to arrive.\"}";

impl Problem {
    /// A fault after which the connection can go on.
    pub(super) const fn new(status: StatusCode, detail: &'static str) -> Self {
        Self { status, detail, last: false }
    }

    /// A fault after which the connection is closed.
    pub(super) const fn last(status: StatusCode, detail: &'static str) -> Self {
        Self { status, detail, last: true }
    }

    /// The response that tells it.
    pub(super) fn respond(self) -> Response<Bytes> {
        let document = Document {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: self.detail,
        };
        // Four plain values cannot fail to be written; an empty body would still be a true answer.
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.last {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_that_is_written_by_hand_is_a_true_one() {
        let text = std::str::from_utf8(HEADER_LATE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "the body has {} bytes", body.len());
        let spoken = Problem::last(StatusCode::REQUEST_TIMEOUT, "The header of the request took too long to arrive.");
        assert_eq!(body.as_bytes(), spoken.respond().body());
    }
}
