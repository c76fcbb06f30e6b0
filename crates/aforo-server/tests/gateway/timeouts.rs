//! Nobody may keep a connection by being slow. Each limit is a third of a second here and long for everything else, so
//! a test that passes by the wrong limit would run into its deadline.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::support::{Client, DEADLINE, Gateway, OK, eventually, full_queue, recorder, signal, upstream};

const SHORT: Duration = Duration::from_millis(300);

fn silent_upstream(after: &'static str) -> std::net::SocketAddr {
    upstream(move |mut client| {
        client.head();
        client.send(after);
        client.rest();
    })
}

#[test]
fn a_header_that_takes_too_long_is_a_408() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.header = SHORT);
    let begin = Instant::now();
    let response = gateway.talk("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");
    assert!(response.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{response}");
    assert!(response.contains("application/problem+json") && response.contains("connection: close"), "{response}");
    assert!(begin.elapsed() >= SHORT, "it was cut too early");
    records.assert_empty();
}

#[test]
fn bytes_that_trickle_do_not_prolong_a_header() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.header = SHORT);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\n");
    let mut trickle = Client::over(client.0.get_ref().try_clone().unwrap());
    std::thread::spawn(move || {
        while trickle.0.get_mut().write_all(b"X: y\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    // The reply may be lost to a reset, because bytes are still on their way; that it ends is what counts.
    client.rest();
}

#[test]
fn a_second_header_is_watched_like_the_first() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.header = SHORT);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    client.send("GET / HT");
    assert!(client.rest().starts_with("HTTP/1.1 408 "));
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.header = SHORT);
    assert_eq!(gateway.talk(""), "");
}

#[test]
fn a_connection_between_requests_is_closed_after_its_idle_time() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.timeouts.idle = SHORT;
        settings.timeouts.header = 2 * DEADLINE;
    });
    let mut client = gateway.connect();
    let begin = Instant::now();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    assert_eq!(client.rest(), "");
    assert!(begin.elapsed() >= SHORT, "it was closed too early");
}

#[test]
fn a_body_that_stops_is_a_408() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.body = SHORT);
    let response = gateway.talk("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf");
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.contains("body of the request took too long"), "{response}");
    records.assert_empty();
}

#[test]
fn a_body_that_is_slow_but_steady_arrives() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.timeouts.body = SHORT;
        settings.timeouts.upstream = SHORT;
    });
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n");
    for byte in b"12345678" {
        std::thread::sleep(SHORT / 3);
        client.send([*byte]);
    }
    assert_eq!(client.expect().text(), "ok");
    assert_eq!(records.next().text(), "12345678");
}

#[test]
fn an_upstream_may_be_silent_while_the_client_makes_it_wait() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.timeouts.upstream = SHORT;
        settings.timeouts.header = 3 * SHORT;
    });
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf");
    // A witness that says nothing is closed when the upstream's limit has long passed.
    assert_eq!(gateway.talk(""), "");
    client.send("half");
    assert_eq!(client.expect().text(), "ok");
    assert_eq!(records.next().text(), "halfhalf");
}

#[test]
fn an_upstream_that_does_not_answer_is_a_504() {
    let gateway = Gateway::with(silent_upstream(""), |settings| settings.timeouts.upstream = SHORT);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let begin = Instant::now();
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        let response = client.expect();
        assert!(response.head.starts_with("HTTP/1.1 504 "), "{response:?}");
        assert_eq!(response.field("content-type"), Some("application/problem+json"));
        assert!(begin.elapsed() >= SHORT, "it was given up too early");
    }
}

#[test]
fn an_upstream_that_falls_silent_cuts_the_response() {
    let gateway = Gateway::with(silent_upstream("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), |settings| {
        settings.timeouts.upstream = SHORT;
    });
    let response = gateway.talk("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 200 OK") && response.ends_with("half"), "{response}");
}

#[test]
fn a_client_that_does_not_read_gives_back_its_upstream_and_loses_its_connection() {
    let (ended, wait) = signal();
    let address = upstream(move |mut client| {
        client.head();
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        while client.0.get_mut().write_all(&[b'x'; 1 << 16]).is_ok() {}
        ended.send(()).unwrap();
    });
    let gateway = Gateway::with(address, |settings| settings.timeouts.body = SHORT);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    client.head();
    wait.wait();
    // Whoever writes to a closed connection is told so.
    eventually("the gateway closes", || client.0.get_mut().write_all(b"x").is_err());
}

#[test]
fn a_connection_to_an_upstream_is_not_kept_beyond_its_idle_time() {
    let (ended, wait) = signal();
    let address = upstream(move |mut client| {
        client.message();
        client.send(OK);
        client.rest();
        ended.send(()).unwrap();
    });
    let gateway = Gateway::with(address, |settings| settings.timeouts.idle = SHORT);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
    wait.wait();
}

#[test]
fn an_upstream_that_does_not_accept_is_a_504() {
    let (address, _queue) = full_queue();
    let gateway = Gateway::with(address, |settings| settings.timeouts.connect = SHORT);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    let response = client.expect();
    assert!(response.head.starts_with("HTTP/1.1 504 "), "{response:?}");
    assert!(response.text().contains("did not accept"), "{response:?}");
}
