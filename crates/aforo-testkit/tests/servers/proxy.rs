//! Each fault of the proxy does what it says.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use aforo_testkit::eventually;
use aforo_testkit::proxy::{Fault, Proxy};
use aforo_testkit::servers::{Connection, RedisServer};

/// A server, a proxy before it, and a connection through both.
fn through() -> (RedisServer, Proxy, Connection) {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let connection = Connection::open(proxy.port()).unwrap();
    (server, proxy, connection)
}

#[test]
fn a_proxy_without_a_fault_is_not_noticed() {
    let (_server, proxy, mut connection) = through();
    let large = "x".repeat(1_000_000);
    assert_eq!(connection.ask(&["SET", "key", &large]).unwrap().text(), "OK");
    assert_eq!(connection.ask(&["GET", "key"]).unwrap().text(), large);
    assert_eq!((proxy.requested().messages, proxy.replied().messages), (2, 2));
    assert!(proxy.requested().bytes > 1_000_000 && proxy.replied().bytes > 1_000_000);
    assert_eq!((proxy.connections(), proxy.open()), (1, 1));
    drop(connection);
    eventually("the connection is closed on both sides", || (proxy.open() == 0).then_some(()));
}

#[test]
fn many_connections_pass_at_once() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port());
    let mut connections: Vec<_> = (0..100).map(|_| Connection::open(proxy.port()).unwrap()).collect();
    for connection in &mut connections {
        connection.send(&["INCR", "key"]).unwrap();
    }
    let mut counts: Vec<_> = connections.iter_mut().map(|connection| connection.reply().unwrap().integer()).collect();
    counts.sort_unstable();
    assert_eq!(counts, Vec::from_iter(1..=100));
    assert_eq!(proxy.open(), 100);
}

#[test]
fn late_packets_arrive_late_and_in_order() {
    const LATE: Duration = Duration::from_millis(300);
    let (_server, proxy, mut connection) = through();
    proxy.replies(Fault::Late { percent: 100, by: LATE });
    let sent = Instant::now();
    connection.send(&["INCR", "key"]).unwrap();
    connection.send(&["INCR", "key"]).unwrap();
    assert_eq!(connection.reply().unwrap().integer(), 1);
    assert!(sent.elapsed() >= LATE);
    assert_eq!(connection.reply().unwrap().integer(), 2);
    proxy.pass();
    let sent = Instant::now();
    assert_eq!(connection.ask(&["INCR", "key"]).unwrap().integer(), 3);
    assert!(sent.elapsed() < LATE);
}

#[test]
fn a_lost_reply_belongs_to_a_command_that_ran() {
    let (server, proxy, mut connection) = through();
    proxy.replies(Fault::Lose);
    connection.send(&["INCR", "key"]).unwrap();
    eventually("the command has run", || (proxy.replied().messages == 1).then_some(()));
    assert_eq!(server.command(&["GET", "key"]).integer(), 1);
    proxy.pass();
    connection.send(&["INCR", "key"]).unwrap();
    eventually("the next command has run", || (proxy.replied().messages == 2).then_some(()));
    assert!(silent(connection), "a stream with a hole stays silent");
    assert_eq!(Connection::open(proxy.port()).unwrap().ask(&["GET", "key"]).unwrap().integer(), 2);
}

#[test]
fn a_lost_request_never_runs() {
    let (server, proxy, mut connection) = through();
    proxy.requests(Fault::Lose);
    connection.send(&["INCR", "key"]).unwrap();
    eventually("the request has come", || (proxy.requested().messages == 1).then_some(()));
    assert!(silent(connection));
    assert_eq!(server.calls("incr"), 0);
}

#[test]
fn connections_are_refused_until_they_pass_again() {
    let (_server, proxy, mut connection) = through();
    proxy.refuse();
    assert_eq!(Connection::open(proxy.port()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert_eq!(connection.ask(&["PING"]).unwrap().text(), "PONG");
    proxy.pass();
    assert_eq!(Connection::open(proxy.port()).unwrap().ask(&["PING"]).unwrap().text(), "PONG");
}

#[test]
fn a_black_hole_neither_accepts_nor_answers() {
    let (_server, proxy, mut connection) = through();
    assert_eq!(connection.ask(&["PING"]).unwrap().text(), "PONG");
    proxy.black_hole();
    connection.send(&["PING"]).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], proxy.port()));
    let error = TcpStream::connect_timeout(&address, Duration::from_millis(100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(silent(connection));
    proxy.pass();
    assert_eq!(Connection::open(proxy.port()).unwrap().ask(&["PING"]).unwrap().text(), "PONG");
}

#[test]
fn a_reset_ends_every_open_connection() {
    let (_server, proxy, mut connection) = through();
    assert_eq!(connection.ask(&["PING"]).unwrap().text(), "PONG");
    proxy.reset();
    assert_eq!(proxy.open(), 0);
    assert_eq!(connection.reply().unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(Connection::open(proxy.port()).unwrap().ask(&["PING"]).unwrap().text(), "PONG");
}

#[test]
fn a_connection_to_a_dead_server_is_reset() {
    let (server, proxy, mut connection) = through();
    assert_eq!(connection.ask(&["PING"]).unwrap().text(), "PONG");
    server.kill();
    assert!(connection.reply().is_err());
    let late = Connection::open(proxy.port()).and_then(|mut late| late.ask(&["PING"]));
    assert!(late.is_err());
    assert_eq!(proxy.connections(), 1);
}

/// Whether nothing comes on a connection for a moment.
fn silent(connection: Connection) -> bool {
    connection
        .with_patience(Duration::from_millis(50))
        .reply()
        .is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}
