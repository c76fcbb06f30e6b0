//! Decision → refusal: the status, fields and body of a response that aforo gives itself.

use aforo_policy::{Answer, Denied};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{HeaderName, Response, StatusCode};

use crate::fields::{self, Shown};
use crate::{answer, seconds, template, words};

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
/// `RESOURCE_EXHAUSTED`, which clients do not retry by themselves.
const RESOURCE_EXHAUSTED: HeaderValue = HeaderValue::from_static("8");
/// `PERMISSION_DENIED`.
const PERMISSION_DENIED: HeaderValue = HeaderValue::from_static("7");

/// `UNAVAILABLE`.
const UNAVAILABLE: HeaderValue = HeaderValue::from_static("14");

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

/// The constant beginning of the problem of an exceeded quota, whose type is that of
/// draft-ietf-httpapi-ratelimit-headers-11, section 7.
const EXCEEDED: &[u8] = br#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded","status":429,"detail":"#;
/// The constant beginning of the problem of a missing fact.
const LACKING: &[u8] = br#"{"type":"about:blank","title":"Forbidden","status":403,"detail":"#;

/// The constant beginning of the problem of a limiter that cannot decide.
const UNDECIDED: &[u8] = br#"{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"#;

/// A problem in the sense of RFC 9457, of which only some values are written anew for each request.
struct Problem(Vec<u8>);

impl Problem {
    fn new(beginning: &[u8], detail: &str) -> Problem {
        let mut problem = Problem(Vec::with_capacity(beginning.len() + detail.len() + 160));
        problem.0.extend_from_slice(beginning);
        problem.string(detail);
        problem
    }

    /// Text as a string of JSON.
    fn string(&mut self, text: &str) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.0, text);
    }

    fn member(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }

    fn end(mut self) -> Bytes {
        self.0.push(b'}');
        self.0.into()
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
    let Some(refusing) = fields::most_telling(answer::shown(answer)) else {
        // Refused, and by no rule: a store that does not answer. To let it pass here would overrule that choice.
        return Some(unavailable(dialect));
    };
    let retry_after = refusing.verdict.wait.as_micros().map(seconds::covering);
    let detail = words::detail(&refusing);
    let mut response = match dialect {
        Dialect::Grpc => trailers_only(RESOURCE_EXHAUSTED, &detail),
        Dialect::Http => exceeded(answer, &refusing, policy.denied(), detail, retry_after),
    };
    let map = response.headers_mut();
    map.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = retry_after {
        map.insert(RETRY_AFTER, fields::number(seconds));
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
            let mut problem = Problem::new(EXCEEDED, &detail);
            problem.member(b",\"violated-policies\":[");
            let violated = answer::shown(answer).filter(|rule| rule.verdict.refuses());
            for (at, rule) in violated.enumerate() {
                if at > 0 {
                    problem.member(b",");
                }
                problem.string(rule.name);
            }
            problem.member(b"],\"code\":\"RATE_LIMITED\"");
            if let Some(seconds) = retry_after {
                problem.member(b",\"retry_after\":");
                problem.member(itoa::Buffer::new().format(seconds).as_bytes());
            }
            (PROBLEM, problem.end())
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
            let mut problem = Problem::new(LACKING, &detail);
            problem.member(b",\"code\":\"FACT_MISSING\"");
            with_body(StatusCode::FORBIDDEN, PROBLEM, problem.end())
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The refusal of a request that nobody could decide: no rule refused it, so it is no 429.
fn unavailable(dialect: Dialect) -> Response<Bytes> {
    const DETAIL: &str = "The rate limit of this request cannot be decided at present.";
    let mut response = match dialect {
        Dialect::Grpc => trailers_only(UNAVAILABLE, DETAIL),
        Dialect::Http => {
            let mut problem = Problem::new(UNDECIDED, DETAIL);
            problem.member(b",\"code\":\"LIMITER_UNAVAILABLE\"");
            with_body(StatusCode::SERVICE_UNAVAILABLE, PROBLEM, problem.end())
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn with_body(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    // Room for all that a refusal is given, so that the map does not grow on the way.
    response.headers_mut().reserve(12);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_could_decide_is_a_503_and_no_429() {
        let response = unavailable(Dialect::Http);
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], "1");
        let problem: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!((&problem["status"], &problem["code"]), (&503.into(), &"LIMITER_UNAVAILABLE".into()));
        let call = unavailable(Dialect::Grpc);
        assert_eq!((call.status(), &call.headers()[GRPC_STATUS]), (StatusCode::OK, &UNAVAILABLE));
    }
}
