//! Whom the layer counts as one client, and whom as two.

use aforo_core::Quota;
use aforo_http::Peer;
use aforo_policy::{ClientHeader, Clients, Fact, Parts};
use http::{Request, StatusCode};

use crate::stand::{Stand, rule};

/// Two requests an hour for each client, behind proxies in 10.0.0.0/8.
fn stand(header: ClientHeader) -> Stand {
    let mut clients = Clients::default();
    (clients.header, clients.trusted) = (header, ["10.0.0.0/8".parse().unwrap()].into_iter().collect());
    let mut each = rule("each", Quota::new(2, std::time::Duration::from_secs(3600)).unwrap());
    each.partition = Fact::Client.into();
    Stand::of(Parts { rules: vec![each], clients, ..Parts::default() })
}

fn from(peer: &str, header: &str, lines: &[&str]) -> Request<()> {
    let peer = Peer(std::net::SocketAddr::new(peer.parse().unwrap(), 51234));
    let request = Request::builder().uri("/").extension(peer);
    lines.iter().fold(request, |request, line| request.header(header, *line)).body(()).unwrap()
}

#[test]
fn clients_behind_a_trusted_proxy_are_told_apart() {
    let mut stand = stand(ClientHeader::XForwardedFor);
    for client in ["203.0.113.7", "203.0.113.8", "2001:db8::1"] {
        for expected in [StatusCode::OK, StatusCode::OK, StatusCode::TOO_MANY_REQUESTS] {
            let seen = stand.send(from("10.0.0.1", "x-forwarded-for", &[client]));
            assert_eq!(seen.status, expected, "{client}");
        }
    }
}

#[test]
fn what_a_client_writes_into_the_header_makes_no_other_client_of_it() {
    let mut stand = stand(ClientHeader::XForwardedFor);
    let mut denied = 0;
    for at in 0..100 {
        let spoofed = format!("198.51.100.{at}");
        let same_line = format!("{spoofed}, 203.0.113.7");
        let requests = [
            from("10.0.0.1", "x-forwarded-for", &[&same_line]),
            from("10.0.0.1", "x-forwarded-for", &[&spoofed, "203.0.113.7, 10.0.0.2"]),
            from("203.0.113.7", "x-forwarded-for", &[&spoofed]),
        ];
        denied += requests.map(|request| stand.send(request).status).iter().filter(|status| **status != 200).count();
    }
    assert_eq!(denied, 298);
}

#[test]
fn headers_that_the_policy_does_not_name_have_no_effect() {
    let mut stand = stand(ClientHeader::Named("x-real-ip".into()));
    let names = ["x-forwarded-for", "forwarded", "true-client-ip", "cf-connecting-ip", "x-client-ip", "client-ip"];
    let passed = names.map(|name| stand.send(from("10.0.0.1", name, &["203.0.113.7"])).status);
    assert_eq!(passed.iter().filter(|status| **status == 200).count(), 2, "all are the proxy");
    assert_eq!(stand.send(from("10.0.0.1", "x-real-ip", &["203.0.113.7"])).status, 200);
}

#[test]
fn a_thousand_addresses_in_one_64_are_one_client() {
    let mut stand = stand(ClientHeader::Forwarded);
    let passed = (0..1000).filter(|at| {
        let line = format!("for=\"[2001:db8:0:7:{at:x}::{at:x}]:{}\"", 1024 + at);
        stand.send(from("10.0.0.1", "forwarded", &[&line])).status == 200
    });
    assert_eq!(passed.count(), 2);
    assert_eq!(stand.send(from("10.0.0.1", "forwarded", &["for=\"[2001:db8:0:8::1]\""])).status, 200, "the next /64");
}
