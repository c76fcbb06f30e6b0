//! The PROXY protocol: a proxy before the gateway says whose connection it passes on.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::support::{DEADLINE, Gateway, OK, Records, field, lossy, recorder, run};
use crate::tls;

const TEXT: &[u8] = b"PROXY TCP4 203.0.113.7 192.0.2.1 50000 80\r\n";
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const REQUEST: &str = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [SIGNATURE, &[0x20 | command, family], &length[..], rest].concat()
}

fn tcp4() -> Vec<u8> {
    binary(1, 0x11, &[203, 0, 113, 9, 192, 0, 2, 1, 0xC3, 0x50, 0, 80])
}

fn tcp6() -> Vec<u8> {
    let address = |last| [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    binary(1, 0x21, &[&address(7)[..], &address(1), &[0xC3, 0x50, 0, 80]].concat())
}

fn gateway() -> (Gateway, Records) {
    let (address, records) = recorder(OK);
    (Gateway::with(address, |settings| settings.proxy_protocol = true), records)
}

#[test]
fn the_client_is_who_the_header_says() {
    let (gateway, records) = gateway();
    for (header, client) in [
        (TEXT.to_vec(), "203.0.113.7"),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 50000 80\r\n".to_vec(), "2001:db8::7"),
        (b"PROXY TCP6 ::ffff:203.0.113.8 ::1 50000 80\r\n".to_vec(), "203.0.113.8"),
        (tcp4(), "203.0.113.9"),
        (tcp6(), "2001:db8::7"),
        // Nobody else is named, so it is whoever connected.
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.1"),
        (b"PROXY UNKNOWN 203.0.113.7 192.0.2.1 50000 80\r\n".to_vec(), "127.0.0.1"),
        (binary(0, 0, b""), "127.0.0.1"),
        (binary(0, 0x11, &[203, 0, 113, 9, 192, 0, 2, 1, 0xC3, 0x50, 0, 80]), "127.0.0.1"),
        (binary(1, 0, b""), "127.0.0.1"),
        (binary(1, 0x31, &[0; 216]), "127.0.0.1"),
    ] {
        let response = gateway.talk([&header, REQUEST.as_bytes()].concat());
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{}: {response}", header.escape_ascii());
        let arrived = records.next();
        assert_eq!(arrived.field("x-forwarded-for"), Some(client), "{}", header.escape_ascii());
    }
}

#[test]
fn a_header_may_come_a_byte_at_a_time() {
    let (gateway, records) = gateway();
    for header in [TEXT.to_vec(), b"PROXY UNKNOWN\r\n".to_vec(), tcp6()] {
        let mut client = gateway.connect();
        // Each byte is a packet of its own: nothing waits for more before it is sent.
        for byte in [&header, REQUEST.as_bytes()].concat() {
            client.send([byte]);
        }
        assert!(client.rest().starts_with("HTTP/1.1 200 OK\r\n"), "{}", header.escape_ascii());
        records.next();
    }
}

#[test]
fn every_request_of_a_connection_is_from_the_client_of_its_header() {
    let (gateway, records) = gateway();
    let mut client = gateway.connect();
    client.send([TEXT, b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"].concat());
    for _ in 0..2 {
        assert_eq!(client.expect().text(), "ok");
        assert_eq!(records.next().field("x-forwarded-for"), Some("203.0.113.7"));
    }
}

/// Passes connections on to the gateway, each with a header before it, as a proxy does.
fn proxy_before(gateway: &Gateway) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (address, behind) = (listener.local_addr().unwrap(), gateway.address);
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut server = TcpStream::connect(behind).unwrap();
            server.write_all(TEXT).unwrap();
            let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from_server, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Write);
            });
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut client, &mut server);
                let _ = server.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

fn curl(arguments: &[&str]) -> String {
    let output = run("curl", "curl", &[&["-sS", "-w", "%{http_version}"], arguments].concat());
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    lossy(&output.stdout)
}

#[test]
fn http2_comes_behind_a_header() {
    let (gateway, records) = gateway();
    let url = format!("http://{}/", proxy_before(&gateway));
    assert_eq!(curl(&["--http2-prior-knowledge", &url]), "ok2");
    assert_eq!(records.next().field("x-forwarded-for"), Some("203.0.113.7"));
}

#[test]
fn tls_comes_behind_a_header() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.proxy_protocol = true;
        settings.tls = tls::files("cert.pem", "key.pem");
    });
    let (url, authority) = (format!("https://{}/", proxy_before(&gateway)), tls::file("cert.pem"));
    for (version, shown) in [("--http1.1", "ok1.1"), ("--http2", "ok2")] {
        assert_eq!(curl(&[version, "--cacert", authority.to_str().unwrap(), &url]), shown);
        let arrived = records.next();
        assert_eq!(arrived.field("x-forwarded-for"), Some("203.0.113.7"));
        assert_eq!(arrived.field("x-forwarded-proto"), Some("https"));
    }
}

#[test]
fn what_does_not_begin_with_a_header_is_closed_without_an_answer() {
    let (gateway, records) = gateway();
    for beginning in [
        REQUEST.as_bytes().to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03".to_vec(),
        b"PROXY TCP4 203.0.113.7 192.0.2.1 50000\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.700 192.0.2.1 50000 80\r\n".to_vec(),
        b"PROXY TCP9 203.0.113.7 192.0.2.1 50000 80\r\n".to_vec(),
        [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; 100_000]].concat(),
        [SIGNATURE, &[0x21, 0x11, 0xFF, 0xFF], &[0; 0xFFFF]].concat(),
        [SIGNATURE, &[0x31, 0x11, 0, 0]].concat(),
        binary(1, 0x41, &[0; 12]),
        binary(1, 0x11, &[0; 11]),
    ] {
        let mut client = gateway.connect();
        // It may be closed before all of it is sent.
        let _ = client.0.get_mut().write_all(&[&beginning[..], REQUEST.as_bytes()].concat());
        assert_eq!(client.rest(), "", "{}", beginning[..beginning.len().min(80)].escape_ascii());
    }
    records.assert_empty();
}

#[test]
fn a_header_that_takes_too_long_ends_the_connection() {
    let short = Duration::from_millis(300);
    let (address, records) = recorder(OK);
    let gateway = Gateway::with(address, |settings| {
        settings.proxy_protocol = true;
        settings.timeouts.header = short;
    });
    for beginning in [&b""[..], b"P", b"PROXY TCP4 203.0.113.7 192", &SIGNATURE[..11], &tcp4()[..20]] {
        let begin = Instant::now();
        assert_eq!(gateway.talk(beginning), "", "{}", beginning.escape_ascii());
        assert!(begin.elapsed() >= short, "it was closed too early");
    }
    records.assert_empty();
}

#[test]
fn a_connection_that_ends_within_its_header_is_closed() {
    let (gateway, records) = gateway();
    for beginning in [&b""[..], b"PROXY TCP4 203.0.113.7 192", &tcp4()[..20]] {
        let mut client = gateway.connect();
        client.send(beginning);
        client.0.get_ref().shutdown(Shutdown::Write).unwrap();
        let begin = Instant::now();
        assert_eq!(client.rest(), "", "{}", beginning.escape_ascii());
        assert!(begin.elapsed() < DEADLINE / 2, "it was waited for");
    }
    records.assert_empty();
}

#[test]
fn a_header_is_no_header_where_none_is_asked_for() {
    let (address, records) = recorder(OK);
    let gateway = Gateway::before(address);
    for header in [TEXT.to_vec(), tcp4()] {
        let mut client = gateway.connect();
        client.send([&header, REQUEST.as_bytes()].concat());
        let response = client.rest();
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{response}");
        assert_eq!(field(&response, "x-forwarded-for"), None);
    }
    records.assert_empty();
}
