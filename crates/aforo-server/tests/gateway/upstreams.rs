//! Upstreams that fail, and several that take turns.

use std::time::{Duration, Instant};

use crate::support::{Gateway, OK, closed_port, full_queue, recorder, upstream};
use aforo_server::gateway::{BindError, Settings, bind};

#[test]
fn an_upstream_that_is_not_there_is_a_502_without_its_address() {
    let address = closed_port();
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        let response = client.expect();
        assert!(response.head.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{response:?}");
        assert_eq!(response.field("content-type"), Some("application/problem+json"));
        assert_eq!(response.field("cache-control"), Some("no-store"));
        assert_eq!(
            response.text(),
            r#"{"type":"about:blank","title":"Bad Gateway","status":502,"detail":"The upstream server cannot be reached."}"#
        );
    }
}

#[test]
fn what_is_no_http_is_a_502() {
    for nonsense in
        ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 999999 ?\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Field: x\r\n\r\n", ""]
    {
        let address = upstream(move |mut client| {
            client.head();
            client.send(nonsense);
        });
        let gateway = Gateway::before(address);
        let mut client = gateway.connect();
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        let response = client.expect();
        assert!(response.head.starts_with("HTTP/1.1 502 "), "{nonsense:?} gave {response:?}");
    }
}

#[test]
fn a_protocol_that_nobody_asked_for_is_a_502() {
    let (address, _records) = recorder("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(client.expect().head.starts_with("HTTP/1.1 502 "));
}

fn before_all(addresses: &[std::net::SocketAddr]) -> Gateway {
    Gateway::with(addresses[0], |settings| {
        settings.upstreams = addresses.iter().map(|address| format!("http://{address}").parse().unwrap()).collect();
    })
}

#[test]
fn upstreams_take_turns() {
    let body = |name: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{name}");
    let (a, _a) = recorder(body("a"));
    let (b, _b) = recorder(body("b"));
    let gateway = before_all(&[a, b]);
    let mut client = gateway.connect();
    let mut answers = String::new();
    for _ in 0..6 {
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        answers += &client.expect().text();
    }
    assert_eq!(answers, "ababab");
}

#[test]
fn an_upstream_that_refuses_is_passed_over() {
    let (alive, _records) = recorder(OK);
    let gateway = before_all(&[closed_port(), alive]);
    let mut client = gateway.connect();
    for _ in 0..4 {
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
        assert_eq!(client.expect().text(), "ok");
    }
}

#[test]
fn an_upstream_that_refused_is_not_asked_by_every_other_request() {
    const LIMIT: Duration = Duration::from_millis(500);
    let (deaf, _queue) = full_queue();
    let (alive, _records) = recorder(OK);
    let gateway = Gateway::with(deaf, |settings| {
        settings.upstreams.push(format!("http://{alive}").parse().unwrap());
        settings.timeouts.connect = LIMIT;
    });
    let mut client = gateway.connect();
    let delayed = (0..10).filter(|_| {
        let begin = Instant::now();
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_eq!(client.expect().text(), "ok");
        begin.elapsed() >= LIMIT
    });
    assert!(delayed.count() <= 2, "the deaf upstream was asked again and again");
}

#[test]
fn a_taken_port_is_named_with_what_would_help() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::before(address);
    let settings = Settings::new(gateway.address, Vec::new());
    let error = bind(&settings).expect_err("the port is taken");
    assert!(matches!(error, BindError::Address { .. }));
    let text = error.to_string();
    assert!(text.contains(&gateway.address.to_string()) && text.contains("taken"), "{text}");
    let elsewhere = Settings::new("192.0.2.1:80".parse().unwrap(), Vec::new());
    assert!(bind(&elsewhere).expect_err("not ours").to_string().contains("does not have that address"));
}
