//! The end: what is in flight finishes, nothing new begins.

use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::{DEADLINE, Gateway, eventually, signal, upstream};

#[test]
fn a_request_in_flight_is_answered_and_then_the_connection_ends() {
    let (begun, begin) = signal();
    let (go, wait) = signal();
    let wait = Arc::new(Mutex::new(wait));
    let address = upstream(move |mut client| {
        client.head();
        begun.send(()).unwrap();
        wait.lock().unwrap().wait();
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
    });
    let gateway = Gateway::with(address, |settings| settings.drain = DEADLINE);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    begin.wait();
    gateway.stop();
    eventually("nothing more is accepted", || TcpStream::connect(gateway.address).is_err());
    go.send(()).unwrap();
    let response = client.rest();
    assert!(response.contains("connection: close") && response.ends_with("late"), "{response}");
    gateway.join();
}

#[test]
fn connections_between_requests_end_at_once() {
    let (address, _records) = crate::support::recorder(crate::support::OK);
    let gateway = Gateway::with(address, |settings| settings.drain = DEADLINE);
    let mut used = gateway.connect();
    used.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    used.expect();
    let mut fresh = gateway.connect();
    gateway.stop();
    assert_eq!(used.rest(), "");
    assert_eq!(fresh.rest(), "");
    let begin = Instant::now();
    gateway.join();
    assert!(begin.elapsed() < DEADLINE / 2, "the drain time was waited for without need");
}

#[test]
fn what_does_not_end_is_cut() {
    let address = upstream(|mut client| {
        client.rest();
    });
    let gateway = Gateway::with(address, |settings| settings.drain = Duration::from_millis(200));
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    gateway.stop();
    assert_eq!(client.rest(), "");
    gateway.join();
}
