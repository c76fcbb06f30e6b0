//! Decision → refusal: the status, fields and body of a response that aforo gives itself.

use aforo_policy::{Answer, Denied};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{HeaderName, Response, StatusCode};
use serde::Serialize;

use crate::fields::{self, Shown};
use crate::{answer, seconds, template, words};

/// The problem type of draft-ietf-httpapi-ratelimit-headers-11, section 7.
const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
/// `RESOURCE_EXHAUSTED`, which clients do not retry by themselves.
const RESOURCE_EXHAUSTED: HeaderValue = HeaderValue::from_static("8");
/// `PERMISSION_DENIED`.
const PERMISSION_DENIED: HeaderValue = HeaderValue::from_static("7");

/// How the client of a request reads a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As HTTP.
    #[default]
    Http,
    /// As gRPC: the status of the call is in a field, the status of the response is 200.
    Grpc,
}

impl Dialect {
    /// The dialect of a request with these fields.
    pub fn of(fields: &HeaderMap) -> Dialect {
        let content_type = fields.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        match content_type.strip_prefix(b"application/grpc") {
            Some([] | [b'+' | b';', ..]) => Dialect::Grpc,
            _ => Dialect::Http,
        }
    }
}

/// A problem in the sense of RFC 9457.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(rename = "violated-policies", skip_serializing_if = "Vec::is_empty")]
    violated_policies: Vec<&'a str>,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl Problem<'_> {
    fn body(&self) -> Bytes {
        // A map of strings and numbers cannot fail to serialise.
        serde_json::to_vec(self).map(Bytes::from).unwrap_or_default()
    }
}

/// The response to a request that `answer` refuses; `None` if it may pass.
pub fn refuse(answer: &Answer, dialect: Dialect) -> Option<Response<Bytes>> {
    if let Some(fact) = answer.missing() {
        return Some(lacking(&fact.to_string(), dialect));
    }
    if answer.allowed() {
        return None;
    }
    let policy = answer.policy();
    let refusing = fields::most_telling(answer::shown(answer))?;
    let retry_after = refusing.verdict.wait.as_micros().map(seconds::covering);
    let detail = words::detail(&refusing);
    let mut response = match dialect {
        Dialect::Grpc => trailers_only(RESOURCE_EXHAUSTED, &detail),
        Dialect::Http => exceeded(answer, &refusing, policy.denied(), detail, retry_after),
    };
    let map = response.headers_mut();
    map.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = retry_after {
        map.insert(RETRY_AFTER, seconds.into());
    }
    fields::write(answer::shown(answer), answer.decision().taken_at(), policy.headers(), map);
    Some(response)
}

fn exceeded(
    answer: &Answer,
    refusing: &Shown<'_>,
    denied: &Denied,
    detail: String,
    retry_after: Option<u64>,
) -> Response<Bytes> {
    let (content_type, body) = match denied {
        Denied::Problem => {
            let violated = answer::shown(answer).filter(|rule| rule.verdict.refuses()).map(|rule| rule.name);
            let problem = Problem {
                r#type: QUOTA_EXCEEDED,
                title: "Quota Exceeded",
                status: 429,
                detail: &detail,
                violated_policies: violated.collect(),
                code: "RATE_LIMITED",
                retry_after,
            };
            (PROBLEM, problem.body())
        }
        Denied::Template { content_type, template } => {
            let body = template::fill(template, refusing, &detail, retry_after);
            // The policy has been refused if this is no field value.
            let content_type = HeaderValue::from_str(content_type).unwrap_or(PROBLEM);
            (content_type, body.into())
        }
    };
    with_body(StatusCode::TOO_MANY_REQUESTS, content_type, body)
}

/// The refusal of a request that lacks a fact without which a rule does not serve it.
fn lacking(fact: &str, dialect: Dialect) -> Response<Bytes> {
    let detail = format!("This request lacks what its rate limit is counted by: {fact}.");
    let mut response = match dialect {
        Dialect::Grpc => trailers_only(PERMISSION_DENIED, &detail),
        Dialect::Http => {
            let problem = Problem {
                r#type: "about:blank",
                title: "Forbidden",
                status: 403,
                detail: &detail,
                violated_policies: Vec::new(),
                code: "FACT_MISSING",
                retry_after: None,
            };
            with_body(StatusCode::FORBIDDEN, PROBLEM, problem.body())
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn with_body(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// A gRPC answer that ends with its fields: the body is empty, so that a server sends no trailers after it.
fn trailers_only(status: HeaderValue, message: &str) -> Response<Bytes> {
    let mut response = with_body(StatusCode::OK, GRPC, Bytes::new());
    response.headers_mut().insert(GRPC_STATUS, status);
    // Messages are printable ASCII without `%`, so that the percent-encoding of gRPC leaves them as they are.
    if let Ok(message) = HeaderValue::from_str(&message.replace('%', "%25")) {
        response.headers_mut().insert(GRPC_MESSAGE, message);
    }
    response
}
