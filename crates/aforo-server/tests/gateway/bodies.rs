//! Bodies flow as they come, at the pace of the slower side.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::support::{Client, Gateway, OK, eventually, recorder, signal, upstream};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn an_event_is_seen_before_the_next_is_made() {
    let (seen, wait) = signal();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let address = upstream(move |mut client| {
        client.head();
        client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for number in 0..3 {
            client.send(format!("9\r\ndata: {number}\n\n\r\n"));
            wait.lock().unwrap().wait();
        }
        client.send("0\r\n\r\n");
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n");
    client.head();
    for number in 0..3 {
        assert_eq!(client.bytes(14), format!("9\r\ndata: {number}\n\n\r\n").as_bytes());
        seen.send(()).unwrap();
    }
    assert_eq!(client.bytes(5), b"0\r\n\r\n");
}

#[test]
fn a_part_of_a_request_body_arrives_before_the_next_is_sent() {
    let (seen, wait) = signal();
    let address = upstream(move |mut client| {
        client.head();
        for _ in 0..3 {
            seen.send(client.bytes(6)).unwrap();
        }
        client.bytes(5);
        client.send(OK);
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    for part in ["1\r\na\r\n", "1\r\nb\r\n", "1\r\nc\r\n"] {
        client.send(part);
        assert_eq!(wait.wait(), part.as_bytes());
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.expect().text(), "ok");
}

#[test]
fn a_body_of_unknown_length_keeps_its_chunks_whatever_the_method() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    for method in ["GET", "POST", "DELETE"] {
        client
            .send(format!("{method} / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
        assert_eq!(client.expect().text(), "ok");
        assert_eq!(records.next().text(), "3\r\nabc\r\n0\r\n\r\n", "{method}");
    }
}

#[test]
fn trailers_pass_in_both_directions() {
    let (address, records) = recorder(format!(
        "{}{}",
        CHUNKED.replace("\r\n\r\n", "\r\nTrailer: x-sum\r\n\r\n"),
        "2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n"
    ));
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nConnection: TE\r\nTrailer: x-in\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\nhi\r\n0\r\nX-In: 7\r\n\r\n",
    );
    assert_eq!(client.expect().text(), "2\r\nok\r\n0\r\nx-sum: 9\r\n\r\n");
    let arrived = records.next();
    assert_eq!(arrived.field("te"), Some("trailers"));
    assert_eq!(arrived.text(), "2\r\nhi\r\n0\r\nx-in: 7\r\n\r\n");
}

#[test]
fn a_client_that_waits_for_100_continue_gets_it() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_eq!(client.head().as_deref(), Some("HTTP/1.1 100 Continue\r\n\r\n"));
    client.send("body");
    assert_eq!(client.expect().text(), "ok");
    assert_eq!(records.next().text(), "body");
}

#[test]
fn an_answer_before_the_end_of_the_request_is_passed_on() {
    let address = upstream(|mut client| {
        client.head();
        client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nbegin");
    let head = client.head().expect("a head comes");
    assert!(head.starts_with("HTTP/1.1 413 "), "{head}");
}

#[test]
fn a_fast_upstream_waits_for_a_slow_client() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let address = upstream(move |mut client| {
        client.head();
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n");
        let part = vec![b'x'; 1 << 16];
        while client.0.get_mut().write_all(&part).is_ok() {
            count.fetch_add(part.len(), Relaxed);
        }
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    client.head();
    // What was sent ends in the buffers of four sockets and ours; 256 MiB would mean that somebody collects it.
    let mut before = usize::MAX;
    eventually("the upstream has to wait", || {
        let now = sent.load(Relaxed);
        std::thread::sleep(Duration::from_millis(200));
        std::mem::replace(&mut before, now) == now && now > 0
    });
    assert!(before < 64 << 20, "{before} bytes were taken from the upstream without a reader");
    let read = client.bytes(32 << 20);
    assert!(read.iter().all(|byte| *byte == b'x'));
}

#[test]
fn a_response_that_breaks_off_never_looks_complete() {
    for (response, part) in [(CHUNKED, "2\r\nok\r\n"), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "ok")] {
        let address = upstream(move |mut client: Client| {
            client.head();
            client.send(response);
            client.send(part);
        });
        let gateway = Gateway::before(address);
        let response = gateway.talk("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        assert!(response.ends_with(part), "it ends as the upstream did, without a last chunk: {response:?}");
    }
}

#[test]
fn a_response_without_a_length_ends_with_its_connection() {
    let address = upstream(|mut client| {
        client.head();
        client.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.expect().text(), "D\r\nuntil the end\r\n0\r\n\r\n");
}

#[test]
fn a_client_that_leaves_takes_its_upstream_request_along() {
    let (gone, wait) = signal();
    let (begun, begin) = signal();
    let address = upstream(move |mut client| {
        client.head();
        begun.send(()).unwrap();
        gone.send(client.rest()).unwrap();
    });
    let gateway = Gateway::before(address);
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    begin.wait();
    drop(client);
    assert_eq!(wait.wait(), "");
}
