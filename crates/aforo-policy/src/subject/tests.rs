use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A request that has what the test gives it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    path: String,
    host: Option<String>,
    address: Option<IpAddr>,
    lines: Vec<Vec<u8>>,
}

impl Describe for Facts {
    fn method(&self) -> &str {
        "GET"
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn header<'a>(&'a self, _: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().map(Vec::as_slice)
    }
}

fn from(address: &str) -> Facts {
    Facts { address: Some(address.parse().unwrap()), path: "/".into(), ..Facts::default() }
}

fn with_header(value: &[u8]) -> Facts {
    Facts { lines: vec![value.to_vec()], ..from("203.0.113.7") }
}

fn header() -> Fact {
    Fact::Header("x-api-key".into())
}

fn key_in(scope: &str, facts: &[Fact], when_missing: WhenMissing, request: &Facts) -> Option<Key> {
    let partition = Partition::new(facts.iter().cloned()).unwrap();
    match subject(&Scope::of(scope.into()), &partition, when_missing, None, request) {
        Subject::Counter(key) => Some(key),
        Subject::Skipped | Subject::Missing(_) => None,
    }
}

fn written(facts: &[Fact], request: &Facts) -> String {
    let key = key_in("r", facts, WhenMissing::Ip, request).unwrap();
    String::from_utf8(key.subject().to_vec()).unwrap()
}

#[test]
fn a_subject_can_be_read() {
    for (facts, request, text) in [
        (vec![Fact::Ip], from("203.0.113.7"), "ip:203.0.113.7"),
        (vec![Fact::Client], from("0.10.100.255"), "ip:0.10.100.255"),
        (vec![Fact::Ip], from("::ffff:203.0.113.7"), "ip:203.0.113.7"),
        (vec![Fact::Ip], from("2001:db8:0:7:1:2:3:4"), "ip:2001:db8:0:7::/64"),
        (vec![Fact::Ip], from("2001:db8::1"), "ip:2001:db8::/64"),
        (vec![Fact::Ip], from("::1"), "ip:::/64"),
        (vec![Fact::Ip], from("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), "ip:ffff:ffff:ffff:ffff::/64"),
        (vec![Fact::Everyone], from("203.0.113.7"), "everyone"),
        (vec![Fact::Route], from("203.0.113.7"), "route:unmatched"),
        (vec![header()], with_header(b" abc "), "header:abc"),
        (vec![header()], with_header(b"a,b%\xff\nc"), "header:a%2Cb%25%FF%0Ac"),
        (vec![header(), Fact::Ip], with_header(b"abc"), "header:abc,ip:203.0.113.7"),
        (vec![header()], from("203.0.113.7"), "none:203.0.113.7"),
        (vec![Fact::Host], from("2001:db8::1"), "none:2001:db8::/64"),
    ] {
        assert_eq!(written(&facts, &request), text);
    }
}

#[test]
fn an_address_of_ipv6_is_written_as_the_standard_library_writes_its_network() {
    for groups in 0..16_u16 {
        let group = |bit: u16| if groups & (1 << bit) == 0 { 0 } else { 0xa0 };
        let address = Ipv6Addr::new(0x2001, group(0), group(1), group(2), 1, 2, 3, 4);
        let [a, b, c, d, ..] = address.segments();
        let network = Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0);
        assert_eq!(written(&[Fact::Ip], &from(&address.to_string())), format!("ip:{network}/64"));
    }
}

#[test]
fn lines_of_one_header_are_one_value() {
    let two = Facts { lines: vec![b"a".to_vec(), b"b".to_vec()], ..from("203.0.113.7") };
    assert_eq!(written(&[header()], &two), written(&[header()], &with_header(b"a, b")));
}

#[test]
fn an_empty_value_is_a_missing_one() {
    for value in [&b""[..], b" ", b"\t"] {
        assert_eq!(written(&[header()], &with_header(value)), "none:203.0.113.7");
    }
    let nowhere = Facts { host: Some(String::new()), ..from("203.0.113.7") };
    assert_eq!(written(&[Fact::Host], &nowhere), "none:203.0.113.7");
}

#[test]
fn what_stands_in_or_was_sent_is_never_taken_for_an_address() {
    let address = written(&[Fact::Ip], &from("203.0.113.7"));
    let all = [
        address.clone(),
        written(&[header()], &from("203.0.113.7")),
        written(&[header()], &with_header(b"203.0.113.7")),
        written(&[header()], &with_header(b"ip:203.0.113.7")),
        written(&[header()], &with_header(b"none:203.0.113.7")),
        written(&[Fact::Path], &Facts { path: "203.0.113.7".into(), ..from("203.0.113.7") }),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{one}");
    }
}

#[test]
fn a_missing_fact_is_skipped_or_named_where_the_rule_says_so() {
    let facts = [Fact::Ip, header()];
    let partition = Partition::new(facts.clone()).unwrap();
    let ask = |when, request: &Facts| subject(&Scope::of("r".into()), &partition, when, None, request);
    assert!(matches!(ask(WhenMissing::Skip, &from("203.0.113.7")), Subject::Skipped));
    assert!(matches!(ask(WhenMissing::Deny, &from("203.0.113.7")), Subject::Missing(1)));
    assert!(matches!(ask(WhenMissing::Deny, &with_header(b"a")), Subject::Counter(_)));
    let nobody = Facts { address: None, ..with_header(b"a") };
    assert!(matches!(ask(WhenMissing::Ip, &nobody), Subject::Missing(0)), "nothing stands in for an address");
}

#[test]
fn a_long_value_becomes_a_digest_that_stays_the_same() {
    let long = "k".repeat(60);
    let text = written(&[header()], &with_header(long.as_bytes()));
    // The first 128 bits of the SHA-256 of "header:kkk…", as any other program computes them.
    assert_eq!(text, "#27ab30333523a119ff4b8f3d492539f2");
    assert_ne!(text, written(&[header()], &with_header("k".repeat(61).as_bytes())));
    assert_ne!(text, written(&[header()], &with_header(text.as_bytes())));
}

#[test]
fn every_value_fits_beside_the_longest_scope() {
    let scope = "s".repeat(200);
    for length in 0..200 {
        let value = vec![b'v'; length];
        assert!(key_in(&scope, &[header(), Fact::Ip], WhenMissing::Ip, &with_header(&value)).is_some(), "{length}");
    }
    let widest = from("ffff:ffff:ffff:ffff::1");
    let key = key_in(&scope, &[header()], WhenMissing::Ip, &widest).unwrap();
    assert_eq!(key.subject(), b"none:ffff:ffff:ffff:ffff::/64", "an address is never digested");
}

fn facts() -> impl Strategy<Value = Facts> {
    let text = "[a,%:0-9 ]{0,4}";
    let address = prop_oneof![any::<u8>().prop_map(|octet| IpAddr::from([203, 0, 113, octet & 3]))];
    (text, proptest::option::of(text), address, vec(vec(prop_oneof![Just(b','), Just(b'a'), any::<u8>()], 0..40), 0..2))
        .prop_map(|(path, host, address, lines)| Facts { path, host, address: Some(address), lines })
}

proptest! {
    /// Keys are equal exactly if every value is.
    #[test]
    fn different_values_never_share_a_key(one in facts(), other in facts(), room in 0..30_usize) {
        let by = [Fact::Path, Fact::Host, header(), Fact::Ip];
        let values = |facts: &Facts| {
            let line = facts.lines.first().map(|line| line.trim_ascii().to_vec()).filter(|line| !line.is_empty());
            let host = facts.host.clone().filter(|host| !host.is_empty());
            (facts.path.clone(), host, line, facts.address)
        };
        let key = |facts: &Facts| key_in(&"s".repeat(room), &by, WhenMissing::Ip, facts);
        prop_assert_eq!(key(&one) == key(&other), values(&one) == values(&other));
    }
}
