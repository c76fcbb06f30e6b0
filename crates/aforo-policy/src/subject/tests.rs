use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Identity;

/// A request that has what the test gives it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    path: String,
    host: Option<String>,
    address: Option<IpAddr>,
    identity: Option<Identity>,
    lines: Vec<Vec<u8>>,
    query: Vec<String>,
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

    fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    fn query<'a>(&'a self, _: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        self.query.iter().map(|value| value.as_str().into())
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

fn by(user: &str, plan: Option<&str>) -> Facts {
    let identity = Identity { user: user.into(), plan: plan.map(Into::into), by: "jwt" };
    Facts { identity: Some(identity), ..from("203.0.113.7") }
}

fn asking(values: &[&str]) -> Facts {
    Facts { query: values.iter().copied().map(str::to_owned).collect(), ..from("203.0.113.7") }
}

fn header() -> Fact {
    Fact::Header("x-api-key".into())
}

fn cookie() -> Fact {
    Fact::Cookie("session".into())
}

fn query() -> Fact {
    Fact::Query("key".into())
}

fn template(route: &str) -> Route {
    Route::new(route.parse().unwrap(), [])
}

fn key_in(scope: &str, facts: &[Fact], when_missing: WhenMissing, request: &Facts) -> Option<Key> {
    key_at(scope, facts, when_missing, &Clients::default(), request)
}

fn key_at(scope: &str, facts: &[Fact], when_missing: WhenMissing, clients: &Clients, request: &Facts) -> Option<Key> {
    let partition = Partition::new(facts.iter().cloned()).unwrap();
    let route = template("* /{*rest}");
    match subject(&Scope::of(scope.into()), &partition, when_missing, clients, Some(&route), request) {
        Subject::Counter(key) => Some(key),
        Subject::Skipped | Subject::Missing(_) => None,
    }
}

fn text_of(key: Key) -> String {
    String::from_utf8(key.subject().to_vec()).unwrap()
}

fn written(facts: &[Fact], request: &Facts) -> String {
    text_of(key_in("r", facts, WhenMissing::Ip, request).unwrap())
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
        (vec![Fact::Client], by("alice", None), "user:alice"),
        (vec![Fact::Ip], by("alice", None), "ip:203.0.113.7"),
        (vec![Fact::User], by("a,b%é", None), "user:a%2Cb%25%C3%A9"),
        (vec![Fact::User, Fact::Plan], by("alice", Some("pro")), "user:alice,plan:pro"),
        (vec![Fact::User], from("203.0.113.7"), "none:203.0.113.7"),
        (vec![Fact::Plan], by("alice", None), "none:203.0.113.7"),
        (vec![Fact::Everyone], from("203.0.113.7"), "everyone"),
        (vec![Fact::Route], from("203.0.113.7"), "route:* /{*rest}"),
        (vec![Fact::Path], from("203.0.113.7"), "path:/"),
        (vec![header()], from("203.0.113.7"), "none:203.0.113.7"),
        (vec![Fact::Host], from("2001:db8::1"), "none:2001:db8::/64"),
    ] {
        assert_eq!(written(&facts, &request), text);
    }
}

#[test]
fn a_network_is_written_with_its_bits_unless_it_is_one_address() {
    for (ipv4_prefix, ipv6_prefix, address, text) in [
        (32, 64, "203.0.113.7", "ip:203.0.113.7"),
        (24, 64, "203.0.113.7", "ip:203.0.113.0/24"),
        (31, 64, "203.0.113.7", "ip:203.0.113.6/31"),
        (8, 64, "203.0.113.7", "ip:203.0.0.0/8"),
        (24, 64, "::ffff:203.0.113.7", "ip:203.0.113.0/24"),
        (32, 32, "2001:db8:1:2:3:4:5:6", "ip:2001:db8::/32"),
        (32, 48, "2001:db8:1:2:3:4:5:6", "ip:2001:db8:1::/48"),
        (32, 56, "2001:db8:1:2ff:3:4:5:6", "ip:2001:db8:1:200::/56"),
        (32, 80, "2001:db8:1:2:3:4:5:6", "ip:2001:db8:1:2:3::/80"),
        (32, 128, "2001:db8:0:0:1:0:0:6", "ip:2001:db8::1:0:0:6"),
        (32, 127, "2001:db8::7", "ip:2001:db8::6/127"),
    ] {
        let clients = Clients { ipv4_prefix, ipv6_prefix, ..Clients::default() };
        let key = key_at("r", &[Fact::Ip], WhenMissing::Ip, &clients, &from(address)).unwrap();
        assert_eq!(text_of(key), text);
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
fn what_a_client_sends_is_never_read_in_a_key() {
    // The first 128 bits of the SHA-256 of "hunter2", as any other program computes them.
    let digest = "f52fbd32b2b3b86ff88ef6c490628285";
    assert_eq!(written(&[header()], &with_header(b" hunter2 ")), format!("header:{digest}"));
    let sent = with_header(b"other=1; session=hunter2");
    let texts = [written(&[cookie()], &sent), written(&[query()], &asking(&["hunter2"]))];
    assert!(texts[0].starts_with("cookie:") && texts[1].starts_with("query:"), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("hunter2") && text.len() > 32), "{texts:?}");
}

#[test]
fn values_of_one_name_are_one_value_that_no_other_is() {
    let all =
        [&["a"][..], &["b"], &["a", "b"], &["b", "a"], &["a, b"], &["ab"], &["a", "a"], &["a\0\0\0\0\0\0\0\u{1}b"]]
            .map(|values| written(&[query()], &asking(values)));
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{one}");
    }
    assert_eq!(written(&[query()], &asking(&["a", ""])), all[0], "an empty value is none");
}

#[test]
fn paths_that_match_no_route_are_one() {
    let partition = Partition::new([Fact::Path, Fact::Route]).unwrap();
    let text = |path: &str| {
        let request = Facts { path: path.into(), ..from("203.0.113.7") };
        let clients = Clients::default();
        match subject(&Scope::of("r".into()), &partition, WhenMissing::Ip, &clients, None, &request) {
            Subject::Counter(key) => text_of(key),
            _ => String::new(),
        }
    };
    assert_eq!(text("/one"), "path:unmatched,route:unmatched");
    assert_eq!(text("/one"), text("/two"));
    assert_ne!(
        text("/one"),
        written(&[Fact::Path, Fact::Route], &Facts { path: "/one".into(), ..from("203.0.113.7") })
    );
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
    assert_eq!(written(&[cookie()], &with_header(b"session=; session= ")), "none:203.0.113.7");
    assert_eq!(written(&[query()], &asking(&["", ""])), "none:203.0.113.7");
    assert_eq!(written(&[Fact::User, Fact::Plan], &by("", Some(""))), "none:203.0.113.7,none:203.0.113.7");
    assert_eq!(written(&[Fact::Client], &by("", None)), "ip:203.0.113.7");
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
        written(&[Fact::Client], &by("203.0.113.7", None)),
        written(&[Fact::Client], &by("ip:203.0.113.7", None)),
        written(&[Fact::Plan], &by("alice", Some("203.0.113.7"))),
        written(&[cookie()], &with_header(b"session=203.0.113.7")),
        written(&[query()], &asking(&["203.0.113.7"])),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{one}");
    }
}

#[test]
fn a_missing_fact_is_skipped_or_named_where_the_rule_says_so() {
    let facts = [Fact::Ip, header()];
    let partition = Partition::new(facts.clone()).unwrap();
    let ask =
        |when, request: &Facts| subject(&Scope::of("r".into()), &partition, when, &Clients::default(), None, request);
    assert!(matches!(ask(WhenMissing::Skip, &from("203.0.113.7")), Subject::Skipped));
    assert!(matches!(ask(WhenMissing::Deny, &from("203.0.113.7")), Subject::Missing(1)));
    assert!(matches!(ask(WhenMissing::Deny, &with_header(b"a")), Subject::Counter(_)));
    let nobody = Facts { address: None, ..with_header(b"a") };
    assert!(matches!(ask(WhenMissing::Ip, &nobody), Subject::Missing(0)), "nothing stands in for an address");
}

#[test]
fn a_long_value_becomes_a_digest_that_stays_the_same() {
    let long = "k".repeat(60);
    let text = written(&[Fact::User], &by(&long, None));
    // The first 128 bits of the SHA-256 of "user:kkk…", as any other program computes them.
    assert_eq!(text, "#33188da90ba8b58b61b8eff1d84b4d27");
    assert_ne!(text, written(&[Fact::User], &by(&"k".repeat(61), None)));
    assert_ne!(text, written(&[Fact::User], &by(&text, None)));
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
    let lines = vec(vec(prop_oneof![Just(b','), Just(b'a'), any::<u8>()], 0..40), 0..2);
    let identity = proptest::option::of((text, proptest::option::of("[a,:]{0,2}")));
    (text, proptest::option::of(text), address, lines, identity, vec(text, 0..3)).prop_map(
        |(path, host, address, lines, identity, query)| {
            let identity =
                identity.map(|(user, plan)| Identity { user: user.into(), plan: plan.map(Into::into), by: "jwt" });
            Facts { path: format!("/{path}"), host, address: Some(address), identity, lines, query }
        },
    )
}

proptest! {
    /// Keys are equal exactly if every value is.
    #[test]
    fn different_values_never_share_a_key(one in facts(), other in facts(), room in 0..30_usize) {
        let by = [Fact::Path, Fact::Host, header(), Fact::Client, Fact::Plan, query(), Fact::Ip];
        let values = |facts: &Facts| {
            let line = facts.lines.first().map(|line| line.trim_ascii().to_vec()).filter(|line| !line.is_empty());
            let host = facts.host.clone().filter(|host| !host.is_empty());
            let user = facts.identity.as_ref().map(|who| who.user.to_string()).filter(|user| !user.is_empty());
            let plan = facts.identity.as_ref().and_then(|who| who.plan.clone()).filter(|plan| !plan.is_empty());
            let query: Vec<_> = facts.query.iter().filter(|value| !value.is_empty()).cloned().collect();
            (facts.path.clone(), host, line, user, plan, query, facts.address)
        };
        let key = |facts: &Facts| key_in(&"s".repeat(room), &by, WhenMissing::Ip, facts);
        prop_assert_eq!(key(&one) == key(&other), values(&one) == values(&other));
    }
}
