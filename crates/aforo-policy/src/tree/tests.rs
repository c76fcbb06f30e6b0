use super::*;

fn tree(patterns: &[&str]) -> Tree {
    let mut tree = Tree::default();
    for (index, text) in patterns.iter().enumerate() {
        tree.insert(index, &pattern(text), false).unwrap_or_else(|rival| panic!("{text} and {}", patterns[rival]));
    }
    tree
}

/// `METHOD /template` or `METHOD /template @host`.
fn pattern(text: &str) -> Match {
    let (text, host) = text.split_once(" @").map_or((text, None), |(text, host)| (text, Some(host)));
    let pattern: Match = text.parse().unwrap();
    host.map_or(pattern.clone(), |host| pattern.at_host(host).unwrap())
}

const PATTERNS: [&str; 24] = [
    "* /",
    "GET /orders",
    "POST /orders",
    "* /orders/{id}",
    "GET /orders/{id}",
    "GET /orders/recent",
    "DELETE /orders/{id}",
    "* /orders/{id}/lines/{line}",
    "GET|POST /search",
    "HEAD /search",
    "* /files/{*rest}",
    "GET /files/{name}",
    "PUT /files/a/b",
    "* /admin/{*rest} @admin.example",
    "* /admin/{*rest}",
    "GET /admin/{*rest}",
    "GET /admin/{page}",
    "* /host @a.example",
    "GET /host",
    "GET /host @a.example",
    "* /{tenant}/orders/{id}/x",
    "GET /{tenant}/users",
    "PATCH /{*rest}",
    "GET /x/{a}/c",
];

/// Method, host, path, and the pattern that is met.
const ROWS: [(&str, &str, &str, &str); 52] = [
    ("GET", "", "/", "* /"),
    ("PURGE", "", "/", "* /"),
    ("GET", "", "/orders", "GET /orders"),
    ("HEAD", "", "/orders", "GET /orders"),
    ("POST", "", "/orders", "POST /orders"),
    ("PUT", "", "/orders", ""),
    ("PATCH", "", "/orders", "PATCH /{*rest}"),
    ("get", "", "/orders", ""),
    ("GET", "", "/Orders", ""),
    ("GET", "", "/orders/7", "GET /orders/{id}"),
    ("HEAD", "", "/orders/7", "GET /orders/{id}"),
    ("PUT", "", "/orders/7", "* /orders/{id}"),
    ("DELETE", "", "/orders/7", "DELETE /orders/{id}"),
    ("PATCH", "", "/orders/7", "* /orders/{id}"),
    ("GET", "", "/orders/recent", "GET /orders/recent"),
    ("HEAD", "", "/orders/recent", "GET /orders/recent"),
    ("PUT", "", "/orders/recent", "* /orders/{id}"),
    ("GET", "", "/orders/recent/lines/1", "* /orders/{id}/lines/{line}"),
    ("GET", "", "/orders/7/lines", ""),
    ("GET", "", "/orders/7/lines/1", "* /orders/{id}/lines/{line}"),
    ("GET", "", "/orders/7/lines/1/2", ""),
    ("GET", "", "/search", "GET|POST /search"),
    ("POST", "", "/search", "GET|POST /search"),
    ("HEAD", "", "/search", "HEAD /search"),
    ("DELETE", "", "/search", ""),
    ("GET", "", "/files", ""),
    ("GET", "", "/files/a", "GET /files/{name}"),
    ("HEAD", "", "/files/a", "GET /files/{name}"),
    ("PUT", "", "/files/a", "* /files/{*rest}"),
    ("GET", "", "/files/a/b", "* /files/{*rest}"),
    ("PUT", "", "/files/a/b", "PUT /files/a/b"),
    ("PUT", "", "/files/a/c", "* /files/{*rest}"),
    ("PUT", "", "/files/a/b/c", "* /files/{*rest}"),
    ("PATCH", "", "/files", "PATCH /{*rest}"),
    ("GET", "", "/admin/a", "GET /admin/{page}"),
    ("GET", "", "/admin/a/b", "GET /admin/{*rest}"),
    ("POST", "", "/admin/a/b", "* /admin/{*rest}"),
    ("POST", "other.example", "/admin/a/b", "* /admin/{*rest}"),
    ("POST", "admin.example", "/admin/a/b", "* /admin/{*rest} @admin.example"),
    ("GET", "admin.example", "/admin/a/b", "* /admin/{*rest} @admin.example"),
    ("GET", "admin.example", "/admin/a", "GET /admin/{page}"),
    ("GET", "", "/host", "GET /host"),
    ("GET", "a.example", "/host", "GET /host @a.example"),
    ("HEAD", "a.example", "/host", "GET /host @a.example"),
    ("PUT", "a.example", "/host", "* /host @a.example"),
    ("PUT", "b.example", "/host", ""),
    ("GET", "", "/acme/users", "GET /{tenant}/users"),
    ("GET", "", "/orders/orders/7/x", "* /{tenant}/orders/{id}/x"),
    ("GET", "", "/x/orders/c", "GET /x/{a}/c"),
    ("GET", "", "/x/orders/7/x", "* /{tenant}/orders/{id}/x"),
    ("PATCH", "", "/any/thing/else", "PATCH /{*rest}"),
    ("OPTIONS", "", "*", ""),
];

#[test]
fn the_most_specific_pattern_that_fits_is_found() {
    let tree = tree(&PATTERNS);
    for (method, host, path, expected) in ROWS {
        let host = Some(host).filter(|host| !host.is_empty());
        let found = tree.find(method, host, path).map_or("", |index| PATTERNS[index]);
        assert_eq!(found, expected, "{method} {host:?} {path}");
    }
}

#[test]
fn the_order_of_patterns_means_nothing() {
    let mut reversed = PATTERNS;
    reversed.reverse();
    let tree = tree(&reversed);
    for (method, host, path, expected) in ROWS {
        let host = Some(host).filter(|host| !host.is_empty());
        assert_eq!(tree.find(method, host, path).map_or("", |index| reversed[index]), expected, "{method} {path}");
    }
}

#[test]
fn patterns_of_which_neither_is_more_specific_are_named() {
    for (one, other) in [
        ("GET /a", "GET /a"),
        ("GET /a", "GET /a/"),
        ("GET /a/{x}", "GET /a/{y}"),
        ("GET|POST /a", "POST|PUT /a"),
        ("* /a", "* /a"),
        ("* /{*a}", "* /{*b}"),
        ("GET /a @h.example", "GET /a @H.example"),
    ] {
        let mut tree = Tree::default();
        tree.insert(0, &pattern(one), false).unwrap();
        assert_eq!(tree.insert(1, &pattern(other), false), Err(0), "{one} and {other}");
    }
}

#[test]
fn without_regard_to_case_paths_in_lower_case_find_their_pattern() {
    let mut tree = Tree::default();
    tree.insert(0, &pattern("GET /Orders/{Id}"), true).unwrap();
    assert_eq!(tree.find("GET", None, "/orders/7"), Some(0));
    assert_eq!(tree.insert(1, &pattern("GET /orders/{id}"), true), Err(0));
}

#[test]
fn a_path_out_of_its_normal_form_finds_nothing_and_harms_nothing() {
    let tree = tree(&PATTERNS);
    for path in ["", "orders", "//", "/orders//", "//orders", "/files//a"] {
        let _ = tree.find("GET", None, path);
    }
    assert_eq!(tree.find("GET", None, "/orders/"), Some(1), "one slash at the end is no segment");
    assert_eq!(tree.find("GET", None, "//orders"), None);
}
