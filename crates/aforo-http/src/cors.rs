//! Scripts of other origins: what a browser must be told before they can read our fields and our refusals (the CORS
//! protocol of the Fetch standard).

use aforo_policy::Cors;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderMap,
    HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, VARY,
};

use crate::fields;

/// A request of a script whose origin is one that the policy lets read responses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted<'r> {
    origin: &'r HeaderValue,
    credentials: bool,
}

impl<'r> Admitted<'r> {
    /// `None` if no script asks, or one of an origin that may not read what we say.
    pub(crate) fn of(cors: Option<&Cors>, request: &'r HeaderMap) -> Option<Admitted<'r>> {
        let cors = cors?;
        let origin = request.get(ORIGIN).filter(|origin| cors.admits(origin.as_bytes()))?;
        Some(Admitted { origin, credentials: cors.credentials })
    }

    /// Lets the script read a response of our own, all of it.
    pub(crate) fn open(self, response: &mut HeaderMap) {
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        if self.credentials {
            response.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        add(response, &VARY, &[ORIGIN]);
        expose(response);
    }
}

/// Lets scripts read those of our fields that the response has, beside what it lets them read already. It is for the
/// service behind to say whose scripts those are.
pub(crate) fn expose(response: &mut HeaderMap) {
    let own = fields::names().chain([RETRY_AFTER]).filter(|name| response.contains_key(name));
    let own: Vec<HeaderName> = own.collect();
    add(response, &ACCESS_CONTROL_EXPOSE_HEADERS, &own);
}

/// Adds names to a field that lists names, in one line, unless they stand there.
fn add(response: &mut HeaderMap, list: &HeaderName, names: &[HeaderName]) {
    let mut line = Vec::new();
    for value in response.get_all(list) {
        extend(&mut line, value.as_bytes());
    }
    let before = line.len();
    for name in names {
        let listed = |line: &[u8]| line.split(|byte| *byte == b',').any(|item| is(item, name));
        if !listed(&line) {
            extend(&mut line, name.as_str().as_bytes());
        }
    }
    if line.len() == before {
        return;
    }
    // It is made of field values and names, so it is a value too.
    if let Ok(value) = HeaderValue::from_bytes(&line) {
        response.insert(list, value);
    }
}

fn extend(line: &mut Vec<u8>, item: &[u8]) {
    if !line.is_empty() {
        line.extend_from_slice(b", ");
    }
    line.extend_from_slice(item);
}

fn is(item: &[u8], name: &HeaderName) -> bool {
    item.trim_ascii().eq_ignore_ascii_case(name.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    fn listed<'r>(response: &'r HeaderMap, list: &HeaderName) -> Vec<&'r str> {
        response.get_all(list).iter().map(|value| value.to_str().unwrap()).collect()
    }

    #[test]
    fn only_the_listed_origins_are_admitted() {
        let cors = Cors { origins: vec!["https://app.example".to_owned()], credentials: false };
        for (origin, is_admitted) in [
            ("https://app.example", true),
            // An origin is compared as it is: the port, the scheme and the whole name.
            ("https://app.example:8443", false),
            ("http://app.example", false),
            ("https://evil.app.example", false),
            ("https://app.example.evil", false),
            ("null", false),
        ] {
            let request = map(&[("origin", origin)]);
            assert_eq!(Admitted::of(Some(&cors), &request).is_some(), is_admitted, "{origin}");
            assert!(Admitted::of(None, &request).is_none());
        }
        assert!(Admitted::of(Some(&cors), &HeaderMap::new()).is_none());
    }

    #[test]
    fn our_fields_that_are_there_are_exposed_beside_the_others() {
        for (lines, exposed) in [
            (&[("ratelimit", "x"), ("x-ratelimit-limit", "5")][..], "ratelimit, x-ratelimit-limit"),
            (&[("ratelimit", "x"), ("access-control-expose-headers", "ETag")], "ETag, ratelimit"),
            // What stands there is not doubled, however it is written.
            (&[("ratelimit", "x"), ("access-control-expose-headers", "etag ,RateLimit")], "etag ,RateLimit"),
            (
                &[
                    ("ratelimit", "x"),
                    ("access-control-expose-headers", "ETag"),
                    ("access-control-expose-headers", "Link"),
                ],
                "ETag, Link, ratelimit",
            ),
            // For a request with credentials that is no wildcard, so that names are needed beside it.
            (&[("ratelimit", "x"), ("access-control-expose-headers", "*")], "*, ratelimit"),
            (&[("retry-after", "1")], "retry-after"),
        ] {
            let mut response = map(lines);
            expose(&mut response);
            assert_eq!(listed(&response, &ACCESS_CONTROL_EXPOSE_HEADERS), [exposed], "{lines:?}");
        }
    }

    #[test]
    fn a_response_without_our_fields_is_left_as_it_is() {
        for lines in [&[][..], &[("access-control-expose-headers", "ETag"), ("access-control-expose-headers", "Link")]]
        {
            let mut response = map(lines);
            expose(&mut response);
            assert_eq!(response, map(lines));
        }
    }

    #[test]
    fn a_refusal_names_the_origin_that_may_read_it() {
        let request = map(&[("origin", "https://app.example")]);
        for (credentials, allowed) in [(false, None), (true, Some("true"))] {
            let cors = Cors { origins: vec!["*".to_owned()], credentials };
            let mut response = map(&[("retry-after", "1"), ("vary", "accept")]);
            Admitted::of(Some(&cors), &request).unwrap().open(&mut response);
            assert_eq!(listed(&response, &ACCESS_CONTROL_ALLOW_ORIGIN), ["https://app.example"]);
            assert_eq!(listed(&response, &VARY), ["accept, origin"]);
            assert_eq!(listed(&response, &ACCESS_CONTROL_EXPOSE_HEADERS), ["retry-after"]);
            let credentials = response.get(ACCESS_CONTROL_ALLOW_CREDENTIALS);
            assert_eq!(credentials.map(|value| value.to_str().unwrap()), allowed);
        }
    }
}
