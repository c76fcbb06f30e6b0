//! Connections that leave HTTP.

use crate::support::{Client, Gateway, OK, eventually, recorder, upstream};

const ASK: &str = "GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Switches, greets in the same breath, and echoes.
fn echo(mut client: Client) {
    let head = client.head().expect("a head comes");
    assert!(head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"), "{head}");
    assert!(head.contains("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"), "{head}");
    client.send(format!("{SWITCH}hello"));
    loop {
        let byte = client.bytes(1);
        client.send(&byte);
        if byte == b"." {
            return;
        }
    }
}

#[test]
fn a_websocket_passes_in_both_directions() {
    let gateway = Gateway::before(upstream(echo));
    let mut client = gateway.connect();
    // The first frame may follow the request at once.
    client.send(format!("{ASK}early"));
    let head = client.head().expect("a head comes");
    assert!(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{head}");
    assert!(head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"), "{head}");
    assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{head}");
    assert_eq!(client.bytes(10), b"helloearly");
    for _ in 0..100 {
        client.send("x");
        assert_eq!(client.bytes(1), b"x");
    }
    client.send(".");
    assert_eq!(client.rest(), ".");
}

#[test]
fn a_tunnel_is_bound_by_no_timeout() {
    let gateway = Gateway::with(upstream(echo), |settings| {
        let short = std::time::Duration::from_millis(100);
        settings.timeouts.header = short;
        settings.timeouts.body = short;
        settings.timeouts.upstream = short;
    });
    let mut client = gateway.connect();
    client.send(ASK);
    client.head();
    assert_eq!(client.bytes(5), b"hello");
    for _ in 0..2 {
        // Witnesses without a tunnel run into the same limits.
        assert_eq!(gateway.talk(""), "");
        assert!(gateway.talk("GET / HT").contains(" 408 "));
        client.send("x");
        assert_eq!(client.bytes(1), b"x");
    }
}

#[test]
fn an_upstream_may_decline_to_switch() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.send(ASK);
        assert_eq!(client.expect().text(), "ok");
    }
}

#[test]
fn a_tunnel_that_the_client_leaves_ends_for_the_upstream() {
    let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = ended.clone();
    let address = upstream(move |mut client| {
        client.head();
        client.send(SWITCH);
        client.rest();
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send(ASK);
    client.head();
    drop(client);
    eventually("the upstream sees the end", || ended.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn http2_in_the_clear_is_no_way_around_the_gateway() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    let arrived = records.next();
    assert_eq!(arrived.field("upgrade"), None, "{arrived:?}");
    assert_eq!(arrived.field("http2-settings"), None, "{arrived:?}");
}
