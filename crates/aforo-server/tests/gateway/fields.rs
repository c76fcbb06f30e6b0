//! Fields and targets on their way through.

use crate::support::{Gateway, Message, OK, recorder};

fn arrives(request: &str) -> Message {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send(request);
    assert_eq!(client.expect().text(), "ok");
    records.next()
}

#[test]
fn path_and_query_arrive_byte_for_byte() {
    for target in ["/", "/a/../b/./c//d", "/%7e%2F%01", "/a;b=c?x=%zz&&y=[]{}|", "/?", "/x?a=b?c=/d", "*"] {
        let method = if target == "*" { "OPTIONS" } else { "GET" };
        let arrived = arrives(&format!("{method} {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        assert!(arrived.head.starts_with(&format!("{method} {target} HTTP/1.1\r\n")), "{arrived:?}");
    }
}

#[test]
fn a_whole_url_becomes_a_path_and_its_host() {
    let arrived = arrives("GET http://a.example:81/x?y HTTP/1.1\r\nHost: b.example\r\n\r\n");
    assert!(arrived.head.starts_with("GET /x?y HTTP/1.1\r\n"), "{arrived:?}");
    assert_eq!(arrived.field("host"), Some("a.example:81"));
}

#[test]
fn the_host_arrives_as_it_was_sent() {
    assert_eq!(arrives("GET / HTTP/1.1\r\nHost: API.example:8443\r\n\r\n").field("host"), Some("API.example:8443"));
}

#[test]
fn the_upstream_learns_who_asked() {
    let arrived = arrives(
        "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-For: 203.0.113.8\r\nX-Forwarded-Proto: https\r\n\r\n",
    );
    assert_eq!(arrived.field("x-forwarded-for"), Some("203.0.113.7, 203.0.113.8, 127.0.0.1"));
    assert_eq!(arrived.field("x-forwarded-proto"), Some("http"));
    assert_eq!(arrived.field("x-forwarded-host"), Some("h"));
    assert_eq!(arrived.head.to_lowercase().matches("x-forwarded-for").count(), 1);
}

#[test]
fn fields_of_the_clients_connection_end_at_the_gateway() {
    let arrived = arrives(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: gzip\r\n\
         Proxy-Authorization: x\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\nX-End: 2\r\n\r\n",
    );
    for name in ["connection", "x-hop", "keep-alive", "te", "proxy-authorization", "proxy-connection", "upgrade"] {
        assert_eq!(arrived.field(name), None, "{name}: {arrived:?}");
    }
    assert_eq!(arrived.field("x-end"), Some("2"));
}

#[test]
fn fields_of_the_upstreams_connection_end_at_the_gateway() {
    let (address, _records) = recorder(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n\
         Proxy-Authenticate: Basic\r\nX-End: 2\r\nServer: them\r\n\r\nok",
    );
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    let response = client.expect();
    for name in ["connection", "x-hop", "keep-alive", "proxy-authenticate"] {
        assert_eq!(response.field(name), None, "{name}: {response:?}");
    }
    assert_eq!(response.field("x-end"), Some("2"));
    assert_eq!(response.field("server"), Some("them"));
}

#[test]
fn http_1_0_is_understood_on_both_sides() {
    let (address, records) = recorder("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let gateway = Gateway::before(address);
    let response = gateway.talk("GET /old HTTP/1.0\r\n\r\n");
    assert!(response.starts_with("HTTP/1.0 200 OK") && response.ends_with("\r\n\r\nok"), "{response}");
    let arrived = records.next();
    assert!(arrived.head.starts_with("GET /old HTTP/1.1\r\n"), "{arrived:?}");
    assert_eq!(arrived.field("host"), Some(address.to_string().as_str()));
}

#[test]
fn a_head_request_gets_the_head_alone() {
    let (address, _records) = recorder("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
        let head = client.head().expect("a head comes");
        assert!(head.contains("content-length: 1234\r\n"), "{head}");
    }
}

#[test]
fn responses_that_have_no_body_get_none() {
    for status in ["204 No Content", "304 Not Modified"] {
        let (address, _records) = recorder(format!("HTTP/1.1 {status}\r\nETag: \"x\"\r\n\r\n"));
        let gateway = Gateway::before(address);
        let mut client = gateway.connect();
        for _ in 0..2 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
            let head = client.head().expect("a head comes");
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}");
            assert!(head.contains("etag: \"x\""), "{head}");
        }
    }
}
