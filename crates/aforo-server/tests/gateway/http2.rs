//! HTTP/2 from clients, by a client that we did not write.

use std::io::Write;
use std::process::Output;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::support::{Gateway, OK, lossy, recorder, run, upstream};

fn nghttp(arguments: &[&str]) -> Output {
    run("nghttp", "nghttp2-client", arguments)
}

#[test]
fn a_request_arrives_as_http_1_1() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    let output = nghttp(&["--no-dep", "-H", "cookie: a=1", "-H", "cookie: b=2", &gateway.url("/x?y")]);
    assert_eq!(lossy(&output.stdout), "ok", "{}", lossy(&output.stderr));
    let arrived = records.next();
    assert!(arrived.head.starts_with("GET /x?y HTTP/1.1\r\n"), "{arrived:?}");
    assert_eq!(arrived.field("host"), Some(gateway.address.to_string().as_str()));
    assert_eq!(arrived.field("cookie"), Some("a=1; b=2"));
    assert_eq!(arrived.field("x-forwarded-for"), Some("127.0.0.1"));
}

#[test]
fn trailers_pass_in_both_directions() {
    let address = upstream(|mut client| {
        let request = client.expect();
        assert_eq!(request.field("te"), Some("trailers"), "{request:?}");
        assert!(request.text().ends_with("0\r\nx-in: 7\r\n\r\n"), "{request:?}");
        client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\ngrpc-status: 0\r\n\r\n");
    });
    let gateway = Gateway::before(address);
    let body = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/main.rs");
    let output = nghttp(&[
        "-v",
        "--no-dep",
        "-H",
        "te: trailers",
        "-H",
        "trailer: x-in",
        "--no-content-length",
        "-d",
        body,
        "--trailer",
        "x-in: 7",
        &gateway.url("/"),
    ]);
    let shown = lossy(&output.stdout);
    assert!(shown.contains("grpc-status: 0"), "{shown}");
}

#[test]
fn many_requests_share_a_connection() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::before(address);
    let url = gateway.url("/");
    let output = run("h2load", "nghttp2-client", &["-n", "2000", "-c", "4", "-m", "32", &url]);
    let shown = lossy(&output.stdout);
    assert!(shown.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "{shown}");
}

#[test]
fn a_refusal_reaches_an_http2_client() {
    let gateway = Gateway::before(crate::support::closed_port());
    let output = nghttp(&["-v", "--no-dep", &gateway.url("/")]);
    let shown = lossy(&output.stdout);
    assert!(shown.contains(":status: 502") && shown.contains("cannot be reached"), "{shown}");
}

#[test]
fn a_drain_lets_a_stream_end_and_says_goaway() {
    let (begun, begin) = crate::support::signal();
    let (go, wait) = crate::support::signal::<()>();
    let wait = std::sync::Arc::new(std::sync::Mutex::new(wait));
    let address = upstream(move |mut client| {
        client.head();
        begun.send(()).unwrap();
        wait.lock().unwrap().wait();
        client.send(OK);
    });
    let gateway = Gateway::with(address, |settings| settings.drain = crate::support::DEADLINE);
    let url = gateway.url("/");
    let client = std::thread::spawn(move || nghttp(&["-v", "--no-dep", &url]));
    begin.wait();
    gateway.stop();
    crate::support::eventually("nothing more is accepted", || std::net::TcpStream::connect(gateway.address).is_err());
    go.send(()).unwrap();
    let shown = lossy(&client.join().unwrap().stdout);
    assert!(shown.contains(":status: 200") && shown.contains("GOAWAY"), "{shown}");
    gateway.join();
}

#[test]
fn an_idle_http2_connection_is_told_to_go() {
    let (address, _records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| settings.timeouts.header = Duration::from_millis(200));
    let mut client = gateway.connect();
    // The preface and empty settings, and then no request.
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let said = client.rest();
    assert!(!said.contains("HTTP/1.1"), "{said}");
}

#[test]
fn a_stream_that_nobody_reads_gives_back_its_upstream_and_spares_its_neighbours() {
    let (ended, wait) = crate::support::signal();
    let address = upstream(move |mut client| {
        let request = client.head().expect("a head comes");
        if request.starts_with("GET /small ") {
            return client.send(OK);
        }
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        while client.0.get_mut().write_all(&[b'x'; 1 << 16]).is_ok() {}
        ended.send(()).unwrap();
    });
    let gateway = Gateway::with(address, |settings| settings.timeouts.body = Duration::from_millis(300));
    let host = gateway.address;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut sender = runtime.block_on(async {
        let stream = TokioIo::new(tokio::net::TcpStream::connect(host).await.unwrap());
        let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        sender
    });
    let mut get = |path: &str| {
        let uri = format!("http://{host}{path}");
        let request = http::Request::get(uri).body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        runtime.block_on(sender.send_request(request)).unwrap()
    };
    let unread = get("/large");
    // The client's connection has to be driven while we wait: a stalled stream is no stalled connection.
    runtime.block_on(runtime.spawn_blocking(move || wait.wait())).unwrap();
    assert_eq!(get("/small").status(), 200);
    drop(unread);
}
