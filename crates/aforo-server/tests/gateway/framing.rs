//! No request can be read in two ways: what arrives at the upstream is one message, or none.

use crate::support::{Gateway, OK, recorder};

fn refused(request: &str, status: &str) {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let response = gateway.talk(request);
    assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{request:?} gave {response:?}");
    records.assert_empty();
}

#[test]
fn a_length_beside_chunks_leaves_one_framing_and_ends_the_connection() {
    for fields in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: nonsense\r\n",
    ] {
        let (address, records) = recorder(OK);
        let gateway = Gateway::before(address);
        // For a reader that believes the length, the second request would begin in the middle of the first.
        let response = gateway.talk(format!(
            "POST /first HTTP/1.1\r\nHost: h\r\n{fields}\r\n1\r\nx\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
        ));
        let arrived = records.next();
        assert_eq!(arrived.field("transfer-encoding"), Some("chunked"), "{arrived:?}");
        assert_eq!(arrived.field("content-length"), None, "{arrived:?}");
        assert_eq!(arrived.text(), "1\r\nx\r\n0\r\n\r\n");
        assert_eq!(response.matches("HTTP/1.1 ").count(), 1, "the connection has to end: {response}");
        records.assert_empty();
    }
}

#[test]
fn lengths_that_differ_or_are_none_are_refused() {
    for fields in [
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4, 5",
        "Content-Length: +4",
        "Content-Length: -1",
        "Content-Length: 0x4",
        "Content-Length: 99999999999999999999",
    ] {
        refused(&format!("POST / HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\nabcd"), "400");
    }
}

#[test]
fn a_length_said_twice_alike_is_forwarded_once() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd");
    assert_eq!(client.expect().text(), "ok");
    let arrived = records.next();
    assert_eq!(arrived.head.to_lowercase().matches("content-length").count(), 1, "{arrived:?}");
    assert_eq!(arrived.text(), "abcd");
}

#[test]
fn other_transfer_codings_are_refused() {
    for (coding, status) in [
        ("gzip, chunked", "501"),
        ("chunked, chunked", "501"),
        ("xchunked", "400"),
        ("chunked, identity", "400"),
        ("identity", "400"),
        ("chunked\r\nTransfer-Encoding: identity", "400"),
        ("identity\r\nTransfer-Encoding: chunked", "501"),
        ("\u{b}chunked", "400"),
    ] {
        refused(&format!("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n"), status);
    }
    refused("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400");
}

#[test]
fn broken_chunks_never_become_a_whole_body() {
    for chunks in
        ["zz\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n", "3\r\nabcX\r\n0\r\n\r\n", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"]
    {
        let (address, records) = recorder(OK);
        let gateway = Gateway::before(address);
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
        let response = gateway.talk(format!("{head}{chunks}"));
        assert!(response.starts_with("HTTP/1.1 400 "), "{chunks:?} gave {response:?}");
        assert!(response.contains("connection: close"), "{response}");
        records.assert_empty();
    }
}

#[test]
fn lines_that_are_no_fields_are_refused() {
    for line in ["Name : value", "X: a\r\n folded", " X: a", "X", ": empty", "X: a\0b", "X\u{e9}: a"] {
        refused(&format!("GET / HTTP/1.1\r\nHost: h\r\n{line}\r\n\r\n"), "400");
    }
}

#[test]
fn a_line_without_carriage_return_is_forwarded_with_one() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\nHost: h\nX: a\n\n");
    assert_eq!(client.expect().text(), "ok");
    let arrived = records.next();
    assert!(arrived.head.contains("x: a\r\n"), "{arrived:?}");
}

#[test]
fn targets_that_are_neither_path_nor_url_are_refused() {
    refused("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", "405");
    refused("GET example.com:80 HTTP/1.1\r\nHost: h\r\n\r\n", "400");
    refused("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "400");
    refused("GET / HTTP/1.1\r\n\r\n", "400");
    refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400");
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::before(address);
    let response = gateway.talk("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert!(response.contains("content-type: application/problem+json\r\n"), "{response}");
    assert!(response.contains("\"status\":405"), "{response}");
    assert!(response.contains("CONNECT is not served"), "{response}");
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let many: String = (0..101).map(|number| format!("X-{number}: y\r\n")).collect();
    refused(&format!("GET / HTTP/1.1\r\nHost: h\r\n{many}\r\n"), "431");
    let long = "y".repeat(70_000);
    refused(&format!("GET / HTTP/1.1\r\nHost: h\r\nX: {long}\r\n\r\n"), "431");
}

#[test]
fn a_response_that_ends_in_two_places_is_not_passed_on() {
    for fields in [
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: x",
    ] {
        let (address, _records) = recorder(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
        let gateway = Gateway::before(address);
        let mut client = gateway.connect();
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        let response = client.expect();
        assert!(response.head.starts_with("HTTP/1.1 502 "), "{fields:?} gave {response:?}");
    }
}

#[test]
fn requests_in_a_row_are_answered_in_their_order() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
    for path in ["/1", "/2", "/3"] {
        assert_eq!(client.expect().text(), "ok");
        assert!(records.next().head.contains(&format!(" {path} ")), "{path}");
    }
}
