//! Connections to the upstream are used again, and what they do not take is not lost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::support::{Gateway, OK, eventually, signal, upstream};

#[test]
fn requests_in_a_row_share_a_connection() {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let address = upstream(move |mut client| {
        count.fetch_add(1, Relaxed);
        while client.message().is_some() {
            client.send(OK);
        }
    });
    let gateway = Gateway::before(address);
    for _ in 0..3 {
        let mut client = gateway.connect();
        for _ in 0..5 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
            assert_eq!(client.expect().text(), "ok");
        }
    }
    assert_eq!(connections.load(Relaxed), 1);
}

#[test]
fn a_connection_that_was_closed_while_it_rested_is_not_used() {
    let (closed, wait) = signal();
    let address = upstream(move |mut client| {
        client.message();
        client.send(OK);
        drop(client);
        closed.send(()).unwrap();
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    for number in 0..5 {
        // Not repeatable: it would fail if it were sent over the closed connection.
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
        let response = client.expect();
        assert_eq!(response.text(), "ok", "{number}: {response:?}");
        wait.wait();
    }
}

fn gateway_before(address: SocketAddr) -> Gateway {
    Gateway::with(address, |settings| settings.timeouts.header = Duration::from_millis(700))
}

/// Waits until resting connections count as old, which they do after half a second: by then the gateway has closed a
/// witness that says nothing.
fn grow_old(gateway: &Gateway) {
    assert_eq!(gateway.talk(""), "");
}

/// An upstream that answers one request and closes its connection in the face of the second, if that comes later than
/// it likes; and how many requests it saw.
fn impatient() -> (SocketAddr, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let address = upstream(move |mut client| {
        client.message();
        count.fetch_add(1, Relaxed);
        client.send(OK);
        if client.message().is_some() {
            count.fetch_add(1, Relaxed);
        }
    });
    (address, requests)
}

#[test]
fn a_harmless_request_is_repeated_when_an_old_connection_dies_under_it() {
    let (address, requests) = impatient();
    let gateway = gateway_before(address);
    let mut client = gateway.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    grow_old(&gateway);
    client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    eventually("two connections saw three requests", || requests.load(Relaxed) == 3);
}

#[test]
fn a_request_that_may_have_been_taken_is_not_repeated() {
    let (address, requests) = impatient();
    let gateway = gateway_before(address);
    let mut client = gateway.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    grow_old(&gateway);
    client.send("POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
    let response = client.expect();
    assert!(response.head.starts_with("HTTP/1.1 502 "), "{response:?}");
    assert_eq!(requests.load(Relaxed), 2);
}
