//! The example does what its README says.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use aforo_testkit::eventually;
use aforo_testkit::servers::RedisServer;

/// A running copy of the service.
struct Copy {
    process: Child,
    address: String,
}

impl Copy {
    fn start(redis: &RedisServer) -> Copy {
        let mut command = Command::new(env!("CARGO_BIN_EXE_example-axum-redis"));
        let mut process = command.args([&redis.url(), "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Copy { process, address }
    }

    /// The status of the answer, and all of it.
    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head =
            format!("{request} HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    fn order(&self) -> u16 {
        self.ask("POST /orders").0
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn two_copies_let_five_orders_through_and_deny_them_without_redis() {
    let redis = RedisServer::start();
    let copies = [Copy::start(&redis), Copy::start(&redis)];
    let orders: Vec<u16> = (0..8).map(|order| copies[order % 2].order()).collect();
    assert_eq!(orders, [200, 200, 200, 200, 200, 429, 429, 429]);
    let (status, answer) = copies[0].ask("POST /orders");
    assert!(status == 429 && answer.contains("rule 'orders' allows 5 requests per minute"), "{answer}");
    assert_eq!(copies[1].ask("GET /").0, 200);

    redis.kill();
    // A refusal is remembered for a moment; then nobody knows.
    eventually("orders are denied", || (copies[0].order() == 503).then_some(()));
    assert_eq!(copies[1].ask("GET /").0, 200, "each copy counts for itself meanwhile");

    redis.restart();
    // Redis was restarted empty.
    eventually("orders are counted again", || (copies[0].order() == 200).then_some(()));
}
