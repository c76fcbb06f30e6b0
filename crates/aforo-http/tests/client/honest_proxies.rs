//! Whatever a client writes, it is counted by the address that the proxies saw.

use std::net::IpAddr;

use aforo_http::client::Source;
use aforo_policy::{ClientHeader, Clients};
use proptest::prelude::*;

use crate::{clients, walked};

/// What a client sends: bytes, and bytes that look like something.
fn spoofed() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            "\"",
            "\\",
            ",",
            ";",
            "=",
            "for=",
            "for=\"",
            "for=10.0.0.9",
            "10.0.0.9",
            "192.0.2.1",
            "[",
            "]:80",
            "unknown",
            " ",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// An address that no network of the proxies contains.
fn client() -> impl Strategy<Value = IpAddr> {
    let v4 = any::<[u8; 4]>().prop_map(|[_, b, c, d]| IpAddr::from([203, b, c, d]));
    let v6 = any::<[u16; 6]>().prop_map(|[c, d, e, f, g, h]| IpAddr::from([0x2001, 0xdb8, c, d, e, f, g, h]));
    prop_oneof![v4, v6]
}

fn rule(header: ClientHeader) -> Clients {
    clients(header, "10.0.0.0/8 fd00::/8")
}

fn node(address: IpAddr, port: Option<u16>) -> String {
    match (address, port) {
        (IpAddr::V4(address), None) => format!("for={address}"),
        (IpAddr::V4(address), Some(port)) => format!("host=\"a\\\",b\";For=\"{address}:{port}\""),
        (IpAddr::V6(address), None) => format!("For=\"[{address}]\";proto=https"),
        (IpAddr::V6(address), Some(port)) => format!("by=\"[fd00::1]\";for=\"[{address}]:{port}\""),
    }
}

fn element(address: IpAddr, port: Option<u16>) -> String {
    match (address, port) {
        (address, None) => address.to_string(),
        (IpAddr::V4(address), Some(port)) => format!("{address}:{port}"),
        (IpAddr::V6(address), Some(port)) => format!("[{address}]:{port}"),
    }
}

proptest! {
    #[test]
    fn what_a_client_wrote_into_the_header_changes_nothing(
        spoofed in spoofed(),
        client in client(),
        port in any::<Option<u16>>(),
        same_line in any::<bool>(),
    ) {
        for (header, spelled) in [
            (ClientHeader::XForwardedFor, [element(client, port), element("fd00::5".parse().unwrap(), port)]),
            (ClientHeader::Forwarded, [node(client, port), node("fd00::5".parse().unwrap(), port)]),
        ] {
            let added = spelled.join(", ");
            let joined = [&spoofed[..], b",", added.as_bytes()].concat();
            let lines = if same_line { vec![&joined[..]] } else { vec![&spoofed[..], added.as_bytes()] };
            let walk = walked("10.0.0.1", &lines, &rule(header)).walk;
            prop_assert_eq!((walk.address, walk.from), (Some(client), Source::Header));
        }
    }

    #[test]
    fn any_bytes_leave_an_address_that_a_proxy_vouches_for(
        lines in prop::collection::vec(spoofed(), 0..4),
        peer in client(),
    ) {
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        for header in [ClientHeader::XForwardedFor, ClientHeader::Forwarded, ClientHeader::Named("x-real-ip".into())] {
            let rule = rule(header);
            let untrusted = walked(&peer.to_string(), &lines, &rule).walk;
            prop_assert_eq!((untrusted.address, untrusted.from), (Some(peer), Source::Peer));
            prop_assert!(walked("10.0.0.1", &lines, &rule).walk.address.is_some());
        }
    }
}
