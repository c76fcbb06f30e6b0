//! Spellings of a path and what they come to, each with its reason.

use super::normal_forms;

#[rustfmt::skip]
const SPELLINGS: [(&str, &str, &str); 66] = [
    ("/",                          "/",             "the root stays"),
    ("/api/login",                 "/api/login",    "normal as it is"),
    ("/api/login/",                "/api/login",    "one slash at the end is ignored"),
    ("/api/login//",               "/api/login",    "so are several, which collapse into one"),
    ("//api/login",                "/api/login",    "slashes collapse at the beginning"),
    ("/api//login",                "/api/login",    "and in the middle"),
    ("///",                        "/",             "nothing but slashes is the root"),
    ("/./api/login",               "/api/login",    "a dot is where we are"),
    ("/api/./login",               "/api/login",    "in the middle too"),
    ("/api/login/.",               "/api/login",    "and at the end"),
    ("/api/x/../login",            "/api/login",    "two dots go up"),
    ("/../api/login",              "/api/login",    "the root has nothing above it"),
    ("/api/login/..",              "/api",          "two dots at the end"),
    ("/..",                        "/",             "above the root is the root"),
    ("/api/...",                   "/api/...",      "three dots are a name"),
    ("/api/.login",                "/api/.login",   "a name may begin with a dot"),
    ("/%61pi/login",               "/api/login",    "an escaped letter is the letter"),
    ("/%61%70%69/%6Cogin",         "/api/login",    "every one of them, in either case of digit"),
    ("/api/%6cogin",               "/api/login",    "lower-case digits"),
    ("/api/%2e%2e/api/login",      "/api/login",    "escaped dots go up"),
    ("/api/%2E/login",             "/api/login",    "an escaped dot is where we are"),
    ("/api/.%2e/api/login",        "/api/login",    "half escaped dots go up"),
    ("/api%2Flogin",               "/api/login",    "an escaped slash is a slash"),
    ("/api%2flogin",               "/api/login",    "in lower case too"),
    ("/api%2F%2Flogin",            "/api/login",    "and they collapse"),
    ("/api%2F..%2Fapi/login",      "/api/login",    "and go up"),
    ("/api\\login",                "/api/login",    "a backslash is a slash to many"),
    ("/api%5Clogin",               "/api/login",    "an escaped one too"),
    ("/api/login;x=1",             "/api/login",    "parameters are ignored"),
    ("/api;v=1/login",             "/api/login",    "of every segment"),
    ("/api/login;",                "/api/login",    "empty ones too"),
    ("/api/..;/api/login",         "/api/login",    "dots with parameters go up"),
    ("/;x/api/login",              "/api/login",    "a segment of nothing but parameters is none"),
    ("/api/login%3Bx",             "/api/login%3Bx","an escaped semicolon begins no parameters"),
    ("/api/login%3bx",             "/api/login%3Bx","and its digits are in upper case"),
    ("/api/%40me",                 "/api/@me",      "an escaped sign of a name is the sign"),
    ("/a%20b",                     "/a%20b",        "a blank stays escaped"),
    ("/a%2A%7bb%7D",               "/a%2A%7Bb%7D",  "so do the signs of templates"),
    ("/a*{b}",                     "/a%2A%7Bb%7D",  "and they are escaped where they came as they are"),
    ("/%2561pi",                   "/%2561pi",      "decoded once, not twice"),
    ("/api%3Fx",                   "/api%3Fx",      "an escaped question mark begins no query"),
    ("/api%23x",                   "/api%23x",      "an escaped hash begins no fragment"),
    ("/api/login%00",              "/api/login%00", "a NUL stays escaped"),
    ("/api/%0a",                   "/api/%0A",      "so does a line feed"),
    ("/caf%C3%A9",                 "/caf%C3%A9",    "what is not ASCII stays escaped"),
    ("/caf%c3%a9/",                "/caf%C3%A9",    "with its digits in upper case"),
    ("/café",                      "/caf%C3%A9",    "and is escaped where it came as it is"),
    ("/caf%E9",                    "/caf%E9",       "also what is no text"),
    ("/100%",                      "/100%25",       "a lone percent sign is one"),
    ("/100%25",                    "/100%25",       "as an escaped one is"),
    ("/100%zz",                    "/100%25zz",     "and one before other letters"),
    ("/API/Login",                 "/API/Login",    "case counts here; a policy may say that it does not"),
    ("/api/login.json",            "/api/login.json", "an extension is part of the name"),
    ("/api/login/%2E%2E/%2E%2E/x", "/x",            "several escaped steps up"),
    ("/api/%252e%252e/login",      "/api/%252e%252e/login", "dots escaped twice are no steps"),
    ("/api/..%2flogin",            "/login",        "a step up before an escaped slash"),
    ("/api/..\\login",             "/login",        "and before a backslash"),
    ("/api/%2e;x/login",           "/api/login",    "an escaped dot with parameters is where we are"),
    ("/api/login/;/",              "/api/login",    "empty parameters between slashes"),
    ("/api;a=%2Flogin",            "/api/login",    "a slash ends parameters, even an escaped one"),
    ("/api/login%2F",              "/api/login",    "an escaped slash at the end is ignored too"),
    ("/%2Fapi/login",              "/api/login",    "and collapses at the beginning"),
    ("/api/login%20",              "/api/login%20", "a blank at the end is another name"),
    ("/api/login%09",              "/api/login%09", "so is a tab"),
    ("/api/~me",                   "/api/~me",      "a tilde stands for itself"),
    ("/api/%7eme",                 "/api/~me",      "escaped or not"),
];

#[test]
fn every_spelling_comes_to_its_normal_form() {
    for (spelling, normal, reason) in SPELLINGS {
        assert_eq!(normal_forms(spelling).normal, normal, "{spelling}: {reason}");
    }
}

#[test]
fn a_normal_form_is_its_own() {
    for (spelling, normal, _) in SPELLINGS {
        // `%` is decoded once only, so what holds an escape is not looked at again.
        if !normal.contains('%') {
            assert_eq!(normal_forms(normal).normal, normal, "{spelling}");
        }
    }
}

#[test]
fn what_is_normal_is_not_copied() {
    assert!(matches!(normal_forms("/api/v1/users/42").normal, std::borrow::Cow::Borrowed(_)));
}

#[test]
fn what_some_servers_do_not_resolve_leaves_two_readings() {
    for (spelling, normal, unresolved) in [
        ("/fetch/http%3A%2F%2Fx/", "/fetch/http:/x", Some("/fetch/http:%2F%2Fx")),
        ("//fetch/http%3A%2F%2Fx", "/fetch/http:/x", Some("/fetch/http:%2F%2Fx")),
        ("/api/x/../../health", "/health", Some("/api/x/../../health")),
        ("/api/x/%2e%2E/..;/health", "/health", Some("/api/x/../..;/health")),
        ("/api//./x;v=1/", "/api/x", Some("/api/./x;v=1")),
        ("/%61pi//login/", "/api/login", None),
        ("/a%41", "/aA", None),
    ] {
        let forms = normal_forms(spelling);
        assert_eq!((forms.normal.as_ref(), forms.unresolved.as_deref()), (normal, unresolved), "{spelling}");
    }
}

#[test]
fn what_follows_two_slashes_is_a_host_to_a_server_that_reads_a_reference() {
    for (spelling, normal, behind_host) in [
        ("//x/things/7", "/x/things/7", Some("/things/7")),
        ("//public/../admin", "/admin", None),
        ("//public/admin/x/..", "/public/admin", Some("/admin")),
        ("/\\public\\admin", "/public/admin", Some("/admin")),
        ("///x//y", "/x/y", Some("/y")),
        ("//health", "/health", Some("/")),
        ("//", "/", None),
        ("/x//y", "/x/y", None),
    ] {
        let forms = normal_forms(spelling);
        assert_eq!((forms.normal.as_ref(), forms.behind_host.as_deref()), (normal, behind_host), "{spelling}");
    }
}
