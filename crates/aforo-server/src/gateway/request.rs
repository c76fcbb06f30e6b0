//! The normal form of a request, and the refusal of those that two readers could read differently.
//!
//! hyper has parsed the message by now: a header with a space before its colon, a folded line, lengths that differ or a
//! chunk without a size did not come this far, and a length beside `Transfer-Encoding` was dropped and will close the
//! connection. What is checked here is what hyper leaves to its user.

use http::header::{CONTENT_LENGTH, COOKIE, HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, Version};
use http_body::Body;

use super::problem::Problem;

const TUNNEL: Problem =
    Problem::last(StatusCode::METHOD_NOT_ALLOWED, "CONNECT is not served: this is a gateway, not a forward proxy.");
const TARGET: Problem = Problem::last(StatusCode::BAD_REQUEST, "The request target is neither a path nor a URL.");
const NUL: Problem =
    Problem::last(StatusCode::BAD_REQUEST, "The path holds an encoded NUL, at which some servers end it.");
const HOST_MISSING: Problem = Problem::last(StatusCode::BAD_REQUEST, "An HTTP/1.1 request needs a Host field.");
const HOST_TWICE: Problem = Problem::last(StatusCode::BAD_REQUEST, "A request has exactly one Host field.");
const HOST_INVALID: Problem = Problem::last(StatusCode::BAD_REQUEST, "The Host field is not a host and a port.");
const HOST_DIFFERS: Problem = Problem::last(StatusCode::BAD_REQUEST, "Host and :authority name different hosts.");
const CODING: Problem =
    Problem::last(StatusCode::NOT_IMPLEMENTED, "The only transfer coding that is understood is a single `chunked`.");
const LENGTH: Problem = Problem::last(StatusCode::BAD_REQUEST, "Content-Length announces a body that is not there.");

/// Gives a request its normal form: the target is a path with its query, or `*`; `Host` is the host that was asked for.
pub(super) fn normalize<B: Body>(request: &mut Request<B>) -> Result<(), Problem> {
    if request.method() == Method::CONNECT {
        return Err(TUNNEL);
    }
    let authority = take_authority(request.uri_mut())?;
    if request.uri().path().contains("%00") {
        return Err(NUL);
    }
    let is_end = request.body().is_end_stream();
    let version = request.version();
    let headers = request.headers_mut();
    one_host(headers, authority, version)?;
    one_framing(headers, is_end)?;
    if version == Version::HTTP_2 {
        join_cookies(headers);
    }
    Ok(())
}

/// Leaves path and query, byte for byte, and returns what else the target said.
fn take_authority(uri: &mut Uri) -> Result<Option<Authority>, Problem> {
    if uri.authority().is_none() && uri.scheme().is_none() {
        return if uri.path_and_query().is_some() { Ok(None) } else { Err(TARGET) };
    }
    let parts = std::mem::take(uri).into_parts();
    // `example.com:80` alone is the form of CONNECT.
    let (Some(_), Some(path)) = (parts.scheme, parts.path_and_query) else { return Err(TARGET) };
    *uri = Uri::from(path);
    Ok(parts.authority)
}

fn one_host(headers: &mut HeaderMap, authority: Option<Authority>, version: Version) -> Result<(), Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(HOST_TWICE);
    }
    match (host, authority) {
        (Some(host), None) if is_host(host.as_bytes()) => Ok(()),
        (Some(_), None) => Err(HOST_INVALID),
        (None, None) if version == Version::HTTP_11 => Err(HOST_MISSING),
        (None, None) => Ok(()),
        (host, Some(authority)) => {
            // The two fields of HTTP/2 must agree. In HTTP/1.1 a whole URL as the target simply wins.
            let differs = host.is_some_and(|host| !host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes()));
            if version == Version::HTTP_2 && differs {
                return Err(HOST_DIFFERS);
            }
            if !is_host(authority.as_str().as_bytes()) {
                return Err(HOST_INVALID);
            }
            if host.is_none() || differs {
                headers.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(|_| HOST_INVALID)?);
            }
            Ok(())
        }
    }
}

/// Characters of a host and a port and no others: above all none that ends a host for one reader and not for the next.
fn is_host(bytes: &[u8]) -> bool {
    let is_other = |byte| {
        matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b'+' | b';' | b'=' | b':' | b'[' | b']')
    };
    bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || is_other(*byte))
}

fn one_framing(headers: &HeaderMap, is_end: bool) -> Result<(), Problem> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if codings.next().is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        || codings.next().is_some()
    {
        return Err(CODING);
    }
    if is_end && headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes().iter().any(|byte| *byte != b'0')) {
        return Err(LENGTH);
    }
    Ok(())
}

/// HTTP/2 may split cookies over several fields, HTTP/1.1 may not (RFC 9113, section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(cookie) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{Empty, Full};

    use super::*;

    fn request(target: &str, version: Version, fields: &[(&'static str, &'static str)]) -> Request<Full<bytes::Bytes>> {
        let mut request = Request::new(Full::from("body"));
        *request.uri_mut() = target.parse().unwrap();
        *request.version_mut() = version;
        for (name, value) in fields {
            request.headers_mut().append(*name, HeaderValue::from_static(value));
        }
        request
    }

    #[test]
    fn every_form_of_target_becomes_a_path_and_a_host() {
        for (target, version, fields, path, host) in [
            ("/a/../%41?q=1&&", Version::HTTP_11, &[("host", "h:80")][..], "/a/../%41?q=1&&", Some("h:80")),
            ("http://a.b:81/x?y", Version::HTTP_11, &[("host", "other")][..], "/x?y", Some("a.b:81")),
            ("http://a.b", Version::HTTP_11, &[("host", "a.b")][..], "/", Some("a.b")),
            ("*", Version::HTTP_11, &[("host", "h")][..], "*", Some("h")),
            ("/x", Version::HTTP_10, &[][..], "/x", None),
            ("https://a.b/x", Version::HTTP_2, &[][..], "/x", Some("a.b")),
            ("https://a.b/x", Version::HTTP_2, &[("host", "A.b")][..], "/x", Some("A.b")),
        ] {
            let mut request = request(target, version, fields);
            normalize(&mut request).unwrap();
            assert_eq!(request.uri().to_string(), path);
            assert_eq!(request.headers().get(HOST).map(|host| host.to_str().unwrap()), host, "{target}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for (target, version, fields, problem) in [
            ("a.b:80", Version::HTTP_11, &[("host", "h")][..], TARGET),
            ("/", Version::HTTP_11, &[][..], HOST_MISSING),
            ("/", Version::HTTP_11, &[("host", "a"), ("host", "a")][..], HOST_TWICE),
            ("/", Version::HTTP_11, &[("host", "a/b")][..], HOST_INVALID),
            ("/", Version::HTTP_11, &[("host", "a, b")][..], HOST_INVALID),
            ("/", Version::HTTP_11, &[("host", "u@b")][..], HOST_INVALID),
            ("http://u@b/", Version::HTTP_11, &[("host", "b")][..], HOST_INVALID),
            ("https://a/", Version::HTTP_2, &[("host", "b")][..], HOST_DIFFERS),
            ("/", Version::HTTP_11, &[("host", "h"), ("transfer-encoding", "gzip, chunked")][..], CODING),
            (
                "/",
                Version::HTTP_11,
                &[("host", "h"), ("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")][..],
                CODING,
            ),
        ] {
            assert_eq!(normalize(&mut request(target, version, fields)), Err(problem), "{target} {fields:?}");
        }
        let mut connect = request("a.b:80", Version::HTTP_11, &[]);
        *connect.method_mut() = Method::CONNECT;
        assert_eq!(normalize(&mut connect), Err(TUNNEL));
    }

    #[test]
    fn a_length_without_a_body_is_refused() {
        for (length, expected) in [("0", Ok(())), ("5", Err(LENGTH))] {
            let mut request = request("/", Version::HTTP_11, &[("host", "h")]).map(|_| Empty::<bytes::Bytes>::new());
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static(length));
            assert_eq!(normalize(&mut request), expected);
        }
    }

    #[test]
    fn the_crumbs_of_an_http2_cookie_are_joined() {
        let mut request = request("https://a/", Version::HTTP_2, &[("cookie", "a=1"), ("cookie", "b=2")]);
        normalize(&mut request).unwrap();
        let cookies: Vec<_> = request.headers().get_all(COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; b=2"]);
    }
}
