//! Spellings of an address and what they come to, each with its reason.

use aforo_policy::ClientHeader;

use crate::{clients, walked};

const PROXY: &str = "10.0.0.1";

/// Elements of a list of addresses; `-` is none, and the proxy's own address stands.
#[rustfmt::skip]
const IN_A_LIST: [(&str, &str, &str); 66] = [
    ("203.0.113.7",                       "203.0.113.7",      "IPv4 as it is"),
    (" 203.0.113.7 ",                     "203.0.113.7",      "blanks around it"),
    ("\t203.0.113.7\t",                   "203.0.113.7",      "tabs around it"),
    ("203.0.113.7:51234",                 "203.0.113.7",      "a port, as Azure writes it"),
    ("203.0.113.7:0",                     "203.0.113.7",      "port 0 is a number like others"),
    ("203.0.113.7:65535",                 "203.0.113.7",      "the last port"),
    ("203.0.113.7:00080",                 "203.0.113.7",      "five digits are a port, whatever they begin with"),
    ("203.0.113.7:65536",                 "-",                "no port"),
    ("203.0.113.7:000080",                "-",                "six digits are no port"),
    ("203.0.113.7:",                      "-",                "a colon without a port"),
    ("203.0.113.7:+80",                   "-",                "a sign is no digit"),
    ("203.0.113.7:http",                  "-",                "nor is a name"),
    ("203.0.113.7:_hidden",               "-",                "hidden ports are of Forwarded"),
    ("203.0.113.7:80:90",                 "-",                "two ports"),
    ("\"203.0.113.7\"",                   "203.0.113.7",      "quotes around it"),
    ("\"203.0.113.7:80\"",                "203.0.113.7",      "quotes around address and port"),
    ("\"203.0.113.7",                     "-",                "a quote that is not closed"),
    ("203.0.113.7\"",                     "-",                "a quote that was not opened"),
    ("\"\"203.0.113.7\"\"",               "-",                "one pair of quotes is enough"),
    ("'203.0.113.7'",                     "-",                "these are no quotes"),
    ("[203.0.113.7]",                     "-",                "brackets are for IPv6"),
    ("[203.0.113.7]:80",                  "-",                "with a port too"),
    ("203.0.113.007",                     "-",                "a leading zero is octal to some"),
    ("0313.0.0161.7",                     "-",                "octal"),
    ("0xcb.0.0x71.7",                     "-",                "hexadecimal"),
    ("3405803783",                        "-",                "one number"),
    ("203.113.7",                         "-",                "three numbers"),
    ("203.0.113.7.8",                     "-",                "five numbers"),
    ("203.0.113.256",                     "-",                "a number too large"),
    ("203.0.113.-7",                      "-",                "a negative number"),
    ("203.0.113.7/32",                    "-",                "a network is no address"),
    ("203.0.113.7%eth0",                  "-",                "IPv4 has no zones"),
    ("203.0.113.7 198.51.100.1",          "-",                "blanks part no elements"),
    ("203.0.113.7;198.51.100.1",          "-",                "semicolons neither"),
    ("203. 0.113.7",                      "-",                "a blank within"),
    ("２０３.0.113.7",                    "-",                "digits of another script"),
    ("2001:db8::1",                       "2001:db8::1",      "IPv6 as it is"),
    ("2001:DB8::1",                       "2001:db8::1",      "in upper case"),
    ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1", "in full"),
    ("2001:db8:0::1",                     "2001:db8::1",      "with a zero that could be left out"),
    ("[2001:db8::1]",                     "2001:db8::1",      "brackets around it"),
    ("[2001:db8::1]:443",                 "2001:db8::1",      "and a port"),
    ("\"[2001:db8::1]:443\"",             "2001:db8::1",      "and quotes around it all"),
    ("2001:db8::1:443",                   "2001:db8::1:443",  "without brackets that is no port"),
    ("2001:db8:0:0:0:0:0:1:443",          "-",                "and nine groups are too many"),
    ("[2001:db8::1]443",                  "-",                "a port needs its colon"),
    ("[2001:db8::1]:",                    "-",                "and its digits"),
    ("[2001:db8::1",                      "-",                "a bracket that is not closed"),
    ("2001:db8::1]",                      "-",                "a bracket that was not opened"),
    ("[[2001:db8::1]]",                   "-",                "one pair of brackets is enough"),
    ("[ 2001:db8::1 ]",                   "-",                "no blanks in brackets"),
    ("2001:db8::1::2",                    "-",                "two gaps"),
    ("2001:db8:::1",                      "-",                "three colons"),
    ("2001:db8::12345",                   "-",                "five digits in a group"),
    ("::",                                "::",               "the unspecified address is one"),
    ("fe80::1%eth0",                      "fe80::1",          "a zone is the proxy's affair"),
    ("[fe80::1%25eth0]:80",               "fe80::1",          "escaped as in a URL"),
    ("fe80::1%",                          "-",                "a zone needs a name"),
    ("fe80::1%eth0 x",                    "-",                "without blanks"),
    ("::ffff:203.0.113.7",                "203.0.113.7",      "IPv4 within IPv6 is IPv4"),
    ("::FFFF:cb00:7107",                  "203.0.113.7",      "in hexadecimal too"),
    ("[::ffff:203.0.113.7]:80",           "203.0.113.7",      "in brackets too"),
    ("::203.0.113.7",                     "::cb00:7107",      "the compatible addresses of old are IPv6"),
    ("64:ff9b::203.0.113.7",              "64:ff9b::cb00:7107", "NAT64 only by choice"),
    ("unknown",                           "-",                "as Squid writes it"),
    ("localhost",                         "-",                "a name is no address"),
];

/// Nodes of `Forwarded`, where they differ from those of a list.
#[rustfmt::skip]
const IN_FORWARDED: [(&str, &str, &str); 24] = [
    ("for=203.0.113.7",                   "203.0.113.7",      "IPv4 is a token"),
    ("FOR=203.0.113.7",                   "203.0.113.7",      "names are in any case"),
    ("for=\"203.0.113.7\"",               "203.0.113.7",      "quotes change nothing"),
    ("for=\"203.0.113.7:80\"",            "203.0.113.7",      "a port needs them"),
    ("for=\"203.0.113.7:_x.1\"",          "203.0.113.7",      "a hidden port"),
    ("for=\"203.0.113.7:_\"",             "-",                "which has a name"),
    ("for=\"\\2\\03.0.113.7\"",           "203.0.113.7",      "any sign may be escaped"),
    ("for=\"[2001:db8::1]\"",             "2001:db8::1",      "IPv6 in brackets"),
    ("for=\"\\[2001:db8::1\\]:443\"",     "2001:db8::1",      "escaped brackets"),
    ("for=\"[fe80::1%eth0]\"",            "fe80::1",          "a zone is the proxy's affair"),
    ("for=\"[::ffff:203.0.113.7]\"",      "203.0.113.7",      "IPv4 within IPv6 is IPv4"),
    ("for=\"2001:db8::1\"",               "-",                "IPv6 without brackets"),
    ("for=\"[203.0.113.7]\"",             "-",                "IPv4 in brackets"),
    ("for=\"\"",                          "-",                "nothing"),
    ("for=\" 203.0.113.7\"",              "-",                "a blank within quotes"),
    ("proto=https;for=203.0.113.7",       "203.0.113.7",      "parameters are in any order"),
    ("by=_x;for=203.0.113.7;host=\"a,b;c\"", "203.0.113.7",   "signs within quotes part nothing"),
    (";;for=203.0.113.7;",                "203.0.113.7",      "empty parameters"),
    ("secret=\"\\\"\";for=203.0.113.7",   "203.0.113.7",      "an escaped quote closes nothing"),
    ("by=203.0.113.7",                    "-",                "who was asked, not who asked"),
    ("for =203.0.113.7",                  "-",                "a blank before the sign of equality"),
    ("for=203.0.113.7 by=_x",             "-",                "no semicolon"),
    ("for",                               "-",                "no value"),
    ("203.0.113.7",                       "-",                "no name"),
];

#[test]
fn every_spelling_in_a_list_comes_to_its_address() {
    for header in [ClientHeader::XForwardedFor, ClientHeader::Named("x-real-ip".into())] {
        compare(header, &IN_A_LIST);
    }
}

#[test]
fn every_spelling_in_forwarded_comes_to_its_address() {
    compare(ClientHeader::Forwarded, &IN_FORWARDED);
}

fn compare(header: ClientHeader, spellings: &[(&str, &str, &str)]) {
    let rule = clients(header, "10.0.0.0/8");
    for (spelling, address, reason) in spellings {
        let address = if *address == "-" { PROXY } else { address };
        let found = walked(PROXY, &[spelling.as_bytes()], &rule).walk.address;
        assert_eq!(found, address.parse().ok(), "{spelling}: {reason}");
    }
}

#[test]
fn bytes_that_are_no_text_are_no_address() {
    let rule = clients(ClientHeader::XForwardedFor, "10.0.0.0/8");
    assert_eq!(walked(PROXY, &[b"203.0.113.\xff, 10.0.0.2"], &rule).walk.address, "10.0.0.2".parse().ok());
}

#[test]
fn a_nat64_address_is_the_ipv4_address_inside_if_the_policy_says_so() {
    let mut rule = clients(ClientHeader::XForwardedFor, "10.0.0.0/8");
    rule.nat64 = true;
    for (peer, line, address) in [
        ("10.0.0.1", "64:ff9b::203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7, 64:ff9b::10.0.0.5", "203.0.113.7"),
        ("64:ff9b::a00:1", "203.0.113.7", "203.0.113.7"),
        ("64:ff9b::203.0.113.7", "198.51.100.1", "203.0.113.7"),
        ("10.0.0.1", "64:ff9b:1::203.0.113.7", "64:ff9b:1::cb00:7107"),
    ] {
        assert_eq!(walked(peer, &[line.as_bytes()], &rule).walk.address, address.parse().ok(), "{peer}, {line}");
    }
}

#[test]
fn a_peer_that_is_ipv4_within_ipv6_is_trusted_as_ipv4() {
    let rule = clients(ClientHeader::XForwardedFor, "10.0.0.0/8");
    assert_eq!(walked("::ffff:10.0.0.1", &[b"203.0.113.7"], &rule).walk.address, "203.0.113.7".parse().ok());
    assert_eq!(walked("::ffff:203.0.113.7", &[b"10.0.0.1"], &rule).walk.address, "203.0.113.7".parse().ok());
}
