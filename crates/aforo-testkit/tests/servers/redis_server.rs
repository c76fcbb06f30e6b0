//! One server.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use aforo_testkit::eventually;
use aforo_testkit::servers::{Connection, RedisServer, Reply, StoredKey};

#[test]
fn a_server_answers_until_it_is_dropped_and_leaves_nothing() {
    let server = RedisServer::start();
    assert_eq!(server.command(&["PING"]), Reply::Status("PONG".to_owned()));
    let port = server.port();
    assert_eq!(server.url(), format!("redis://127.0.0.1:{port}"));
    let folder = server.command(&["CONFIG", "GET", "dir"]).list()[1].text();
    assert!(std::fs::exists(&folder).unwrap());
    drop(server);
    assert!(Connection::open(port).is_err());
    assert!(!std::fs::exists(&folder).unwrap());
}

#[test]
fn two_servers_know_nothing_of_one_another() {
    let (one, other) = (RedisServer::start(), RedisServer::start());
    one.command(&["SET", "key", "1"]);
    assert_eq!(other.command(&["GET", "key"]), Reply::Nil);
}

#[test]
fn a_killed_server_comes_back_empty_at_its_port() {
    let server = RedisServer::start();
    server.command(&["SET", "key", "1"]);
    server.kill();
    assert!(server.ask(&["PING"]).unwrap_err().contains("refused"));
    server.restart();
    assert_eq!(server.command(&["GET", "key"]), Reply::Nil);
}

#[test]
fn a_paused_server_answers_when_it_is_resumed() {
    let server = RedisServer::start();
    let mut connection = server.connect().unwrap();
    let state = format!("/proc/{}/stat", server.report("server")["process_id"]);
    let stopped = || std::fs::read_to_string(&state).unwrap().contains(") T ");
    server.pause();
    eventually("the server is stopped", || stopped().then_some(()));
    connection.send(&["PING"]).unwrap();
    server.resume();
    assert_eq!(connection.reply().unwrap().text(), "PONG");
    assert!(!stopped());
}

#[test]
fn keys_are_listed_with_the_time_they_have_left() {
    let server = RedisServer::start();
    server.command(&["SET", "ours:1", "x", "PX", "60000"]);
    server.command(&["SET", "ours:2", "x"]);
    server.command(&["SET", "theirs", "x"]);
    let keys = server.keys("ours:*");
    let [StoredKey { name: first, expires_in: Some(left) }, second] = &keys[..] else { panic!("{keys:?}") };
    assert_eq!(first, "ours:1");
    assert!((Duration::from_secs(50)..=Duration::from_secs(60)).contains(left));
    assert_eq!(second, &StoredKey { name: "ours:2".to_owned(), expires_in: None });
    assert_eq!(server.calls("set"), 3);
    assert_eq!(server.calls("evalsha"), 0);
}

#[test]
fn a_password_is_asked_for() {
    let server = RedisServer::with_password("secret");
    assert_eq!(server.command(&["PING"]).text(), "PONG");
    let mut stranger = Connection::open(server.port()).unwrap();
    assert!(stranger.ask(&["PING"]).unwrap().text().starts_with("NOAUTH"));
    assert!(server.url().starts_with("redis://:secret@"));
}

#[test]
fn a_server_with_tls_shows_a_certificate_of_our_authority() {
    let server = RedisServer::with_tls();
    let url = server.url();
    let (port, authority) = url.strip_prefix("rediss://127.0.0.1:").unwrap().split_once("?ca_file=").unwrap();
    let reply = Command::new("redis-cli").args(["-p", port, "--tls", "--cacert", authority, "PING"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&reply.stdout), "PONG\n", "{reply:?}");
}

#[test]
fn a_replica_follows_its_primary() {
    let primary = RedisServer::with_password("secret");
    primary.command(&["SET", "key", "1"]);
    let replica = RedisServer::replica_of(&primary);
    assert_eq!(replica.command(&["GET", "key"]).text(), "1");
    assert!(replica.ask(&["SET", "key", "2"]).unwrap_err().starts_with("READONLY"));
}

#[test]
fn a_server_ends_with_a_process_that_is_killed() {
    const HOLDS: &str = "AFORO_TEST_HOLDS_A_SERVER";
    if std::env::var_os(HOLDS).is_some() {
        let server = RedisServer::start();
        println!("port={}=", server.port());
        // Until the process is killed.
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }

    let itself = ["--exact", "--nocapture", "redis_server::a_server_ends_with_a_process_that_is_killed"];
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(itself)
        .env(HOLDS, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).split(b'=').skip(1);
    let port: u16 = String::from_utf8(said.next().unwrap().unwrap()).unwrap().parse().unwrap();
    assert!(Connection::open(port).is_ok());
    process.kill().unwrap();
    process.wait().unwrap();
    eventually("the server has ended", || Connection::open(port).err());
}
