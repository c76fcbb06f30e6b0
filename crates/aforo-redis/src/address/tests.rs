use super::*;

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Address>().unwrap_err().to_string()
}

#[test]
fn a_host_alone_is_one_server_at_the_usual_port() {
    let address = address("redis://localhost");
    assert_eq!(address.endpoints, [Endpoint::new("localhost", 6379)]);
    assert!(!address.tls);
    assert_eq!(address.database, 0);
    assert!(address.login.is_none());
}

#[test]
fn every_part_is_read() {
    let address = address("rediss://us%40er:pa%2Fss:w%23@[::1]:6380/3?ca_file=/etc/ca%20file.pem");
    assert_eq!(address.endpoints, [Endpoint::new("::1", 6380)]);
    assert!(address.tls);
    assert_eq!(address.database, 3);
    assert_eq!(address.ca_file(), Some(Path::new("/etc/ca file.pem")));
    let login = address.login.unwrap();
    assert_eq!(login.user.as_deref(), Some("us@er"));
    assert_eq!(login.password, "pa/ss:w#");
}

#[test]
fn a_password_alone_is_the_default_users() {
    let login = address("redis://:secret@localhost").login.unwrap();
    assert_eq!(login.user, None);
    assert_eq!(login.password, "secret");
}

#[test]
fn a_cluster_is_named_by_some_of_its_nodes() {
    let address = address("redis-cluster://a,b:7001");
    assert!(matches!(address.topology, Topology::Cluster));
    assert_eq!(address.endpoints, [Endpoint::new("a", 6379), Endpoint::new("b", 7001)]);
}

#[test]
fn sentinels_have_their_own_port_and_credentials() {
    let address = address("redis-sentinel://:p@s1,s2:5000/mymaster/1?sentinel_user=watcher&sentinel_password=eyes");
    assert_eq!(address.endpoints, [Endpoint::new("s1", 26379), Endpoint::new("s2", 5000)]);
    assert_eq!(address.database, 1);
    let Topology::Sentinel { service, login } = address.topology else { panic!("not Sentinel") };
    assert_eq!(service, "mymaster");
    let login = login.unwrap();
    assert_eq!((login.user.as_deref(), &*login.password), (Some("watcher"), "eyes"));
}

#[test]
fn no_form_shows_a_password() {
    let text = "rediss-sentinel://me:hush@s1/mymaster/1?sentinel_password=quiet";
    let address = address(text);
    assert_eq!(address.to_string(), "rediss-sentinel://me:***@s1:26379/mymaster/1");
    assert_eq!(format!("{address:?}"), "Address(rediss-sentinel://me:***@s1:26379/mymaster/1)");
}

#[test]
fn what_is_shown_can_be_read_again_but_for_the_password() {
    for text in ["redis://localhost:6379", "rediss-cluster://a:1,[::1]:2", "redis-sentinel://s:26379/m/4"] {
        assert_eq!(address(text).to_string(), text);
    }
}

#[test]
fn an_error_says_what_would_be_right() {
    for (text, hint) in [
        ("localhost:6379", "write redis://host:port"),
        ("http://localhost", "unknown scheme \"http\", expected redis"),
        ("redis://", "a host is missing"),
        ("redis://a:b", "a port is a number from 1 to 65535"),
        ("redis://a:0", "a port is a number from 1 to 65535"),
        ("redis://::1", "belongs in brackets"),
        ("redis://a,b", "several are redis-cluster://"),
        ("redis://a/two", "a database is a whole number"),
        ("redis://a/-1", "a database is a whole number"),
        ("redis-cluster://a/1", "database 0 alone"),
        ("redis-sentinel://a", "the service is missing"),
        ("redis-sentinel://a/m?sentinel_user=x", "needs sentinel_password"),
        ("redis://a?sentinel_password=x", "belong to a redis-sentinel:// address"),
        ("redis://a?ca_file=x", "write rediss instead of redis"),
        ("rediss://a?ca=x", "unknown option \"ca\", expected ca_file"),
        ("rediss://a?ca_file=", "name=value"),
        ("redis://user@a", "write USER:PASSWORD@"),
        ("redis://user:@a", "the password is empty"),
        ("redis://u:%ff@a", "not UTF-8"),
        ("redis://a b", "letters, digits"),
    ] {
        let error = refused(text);
        assert!(error.contains(hint), "{text}: {error}");
    }
}

#[test]
fn an_error_never_quotes_a_password_that_was_not_encoded() {
    for text in
        ["redis://me:hu/sh@a", "redis://me:hu?sh@a", "redis://me:hu#sh@a", "redis://hush@a", "redis://me:hu:/sh@a/1"]
    {
        let error = refused(text);
        assert!(!error.contains("hu") && !error.contains("sh@"), "{text}: {error}");
    }
}

#[test]
fn a_file_of_authorities_is_examined_without_a_connection() {
    let authorities = concat!(env!("CARGO_MANIFEST_DIR"), "/../aforo-testkit/certificates/ca.pem");
    let examined = |path: &str| {
        let address: Address = format!("rediss://localhost?ca_file={path}").parse().unwrap();
        address.examine().map_err(|error| error.to_string())
    };
    assert_eq!(examined(authorities), Ok(()));
    let missing = examined("/no/such/file.pem").unwrap_err();
    assert!(missing.contains("ca_file /no/such/file.pem: cannot be read: No such file"), "{missing}");
    let empty = examined(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap_err();
    assert!(empty.ends_with("holds no certificate, expected PEM"), "{empty}");
    assert_eq!("redis://localhost".parse::<Address>().unwrap().examine(), Ok(()));
}
