//! What `check` warns of, and what it leaves alone: a warning that comes where all is well is soon read by nobody.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod surroundings;

use aforo_policy::{File, Mistake};
use surroundings::Around;

/// Keys without and with a plan.
const FILES: &[(&str, &str)] = &[
    ("keys.yaml", "- { sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, user: alice }"),
    (
        "plans.yaml",
        "- { sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, user: alice, plan: pro }",
    ),
];

fn warnings(text: &str) -> Vec<Mistake> {
    File::read("policy.yaml", text, &Around { environment: &[], files: FILES })
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .warnings
}

#[test]
fn what_looks_like_no_good_is_warned_of() {
    for (text, message) in [
        ("rules: { a: { quota: 5/s, cost: 6 } }", "a cost of 6 never fits the rule `a`, which allows 5 at once"),
        (
            "rules: { a: { quota: 5/s } }\nroutes: [ { match: GET /dear, cost: 6 } ]",
            "a cost of 6 never fits the rule `a`, which allows 5 at once",
        ),
        (
            "rules: { a: { quota: 5/s, per: path } }",
            "the rule `a` counts all paths as one: those that match no route are",
        ),
        (
            "rules: { a: { quota: 5/s, per: path } }\nroutes: [{ match: \"GET /users/{id}\" }]",
            "anyone can write another path and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: [\"cookie:session\", host] } }",
            "anyone can write another cookie `session` and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: query:key }, b: { quota: 9/s, mode: shadow } }",
            "anyone can write another parameter `key` and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, burst: 100, plans: { pro: 50/s } } }",
            "the plan `pro` can have 50 at once, and everyone else 100",
        ),
        (
            "rules: { a: { quota: 50/s, cost: 6, plans: { free: 5/s } } }",
            "a cost of 6 never fits the rule `a`, which allows the plan `free` 5 at once",
        ),
        (
            "rules: { a: { quota: 5/s, algorithm: sliding-log, plans: { pro: 5000/s } } }",
            "the rule `a` keeps up to 5000 entries for each key",
        ),
        (
            "rules: { a: { quota: 5/s }, b: { quota: 1000/s, plans: { pro: 2000/s } } }",
            "the rule `b` can never refuse: `a` is stricter in every way",
        ),
        (
            "client: { trusted_proxies: [0.0.0.0/1, 128.0.0.0/1] }\nrules: { a: { quota: 5/s } }",
            "everyone is believed to be a proxy, so anyone can write the address that is counted",
        ),
        (
            "client: { trusted_proxies: \"::/0\" }\nrules: { a: { quota: 5/s } }",
            "everyone is believed to be a proxy, so anyone can write the address that is counted",
        ),
        (
            "client: { header: X-Real-IP }\nrules: { a: { quota: 5/s } }",
            "no proxy is trusted, so `x-real-ip` is never believed",
        ),
        (
            "identity: [{ header: { name: x-user } }]\nrules: { a: { quota: 5/s } }",
            "no proxy is trusted, so `x-user` never proves anything",
        ),
        (
            "rules: { a: { quota: 5/s, per: [ip, \"header:x\"] } }",
            "anyone can write another `x` and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: [client, \"query:s\"] } }",
            "anyone can write another parameter `s` and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: [ip, \"cookie:s\"] }, b: { quota: 9/s, per: client, mode: shadow } }",
            "anyone can write another cookie `s` and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: [route, host] } }",
            "anyone can write another host and have a fresh quota of the rule `a`",
        ),
        (
            "rules: { a: { quota: 5/s, per: user, when_missing: skip }, b: { quota: unlimited, per: ip } }",
            "who is not verified has no limit: the rule `a` does without them",
        ),
        (
            "routes: [{ match: GET /a, rules: { a: { quota: 5/s, per: [ip, plan], when_missing: skip } } }]",
            "who is not verified has no limit: the rule `a` does without them",
        ),
        (
            "identity: [{ jwt: { secret: x } }]\nrules: { a: { quota: 5/s, plans: { pro: 9/s } } }",
            "no proof tells a plan, so `plans` of the rule `a` means nothing",
        ),
        (
            "identity: [{ api_key: { keys_file: keys.yaml } }]\nrules: { a: { quota: 5/s, per: plan } }",
            "no proof tells a plan, so `per: plan` of the rule `a` means nothing",
        ),
        ("exempt: [{ path: \"/{*rest}\" }]\nrules: { a: { quota: 5/s } }", "this exempts every path from every rule"),
        (
            "exempt: [{ token: { header: x-pass, values: [fifteen-letters] } }]\nrules: { a: { quota: 5/s } }",
            "a token of fewer than 16 characters can be found by trying",
        ),
        (
            "client: { trusted_proxies: loopback }\nidentity: [{ header: { name: X-Forwarded-For } }]\nrules: { a: { quota: 5/s } }",
            "`x-forwarded-for` holds what clients write too, so anyone can be any user",
        ),
        (
            "client: { trusted_proxies: loopback, header: x-client }\nidentity: [{ header: { name: X-Client } }]\nrules: { a: { quota: 5/s } }",
            "`x-client` holds what clients write too, so anyone can be any user",
        ),
        (
            "gateway: { upstream: http://a.example, listen: 0.0.0.0:80, proxy_protocol: true }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
            "whoever reaches 0.0.0.0:80 can write any address in the PROXY protocol",
        ),
        ("exempt: [{ cidr: 0.0.0.0/0 }]\nrules: { a: { quota: 5/s } }", "this exempts everyone from every rule"),
        (
            "gateway: { upstream: http://a.example, listen: 127.0.0.1:80 }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
            "at 127.0.0.1 all clients come from this machine: behind a proxy, they are one",
        ),
        (
            "gateway: { upstream: http://a.example }\nrules: { a: { quota: 5/s, per: user } }\nexempt: [{ path: /health }]",
            "nobody is verified, so `per: user` of the rule `a` means nothing",
        ),
        (
            "gateway: { upstream: http://a.example }\nroutes: [{ match: GET /a, rules: { a: { quota: 5/s, plans: { pro: 9/s } } } }]",
            "nobody is verified, so `plans` of the rule `a` means nothing",
        ),
        (
            "gateway: { upstream: http://a.example }\nrules: { each: { quota: 5/s } }",
            "no path is exempt, so the probes of a monitor are counted and may be refused",
        ),
        ("admin: false", "the policy has no rule, so it limits nothing"),
        (
            "rules: { each: { quota: 5/s, per: header:x-user-id } }",
            "anyone can write another `x-user-id` and have a fresh quota of the rule `each`",
        ),
        (
            "rules: { each: { quota: 1001/h, algorithm: sliding-log } }",
            "the rule `each` keeps up to 1001 entries for each key",
        ),
        (
            "rules: { a: { quota: 5/s }, b: { quota: 1000/s } }",
            "the rule `b` can never refuse: `a` is stricter in every way",
        ),
        ("rules: { a: { quota: 5/s } }\nroutes: [{ match: GTE /a }]", "the method GTE is not a usual one"),
        (
            "store: { url: memory, max_keys: 9, prefix: shop, timeout: 20ms }\nrules: { a: { quota: 5/s } }",
            "a store in memory heeds no `prefix`, `timeout`: it always answers, and nobody shares it",
        ),
        (
            "store: redis://127.0.0.1\nrules: { a: { quota: 5/s, share: 10% } }",
            "10% of the 5 that the rule `a` allows is less than 1, and 1 is allowed",
        ),
        (
            "store: { url: redis://127.0.0.1, share: 1% }\nrules: { a: { quota: 500/s } }\nroutes: [{ match: GET /b, rules: { a: { cost: 3 }, b: { quota: 500/s, burst: 50, per: ip } } }]",
            "1% of the 50 that the rule `b` allows is less than 1, and 1 is allowed",
        ),
        (
            "store: redis://127.0.0.1\nrules: { a: { quota: 10/s, cost: 6, share: 50% } }",
            "a cost of 6 never fits the rule `a` while the store is down, when it allows 5 at once",
        ),
        (
            "store: { url: redis://127.0.0.1, share: 1% }\nrules: { a: { quota: 50/s } }\nroutes: [{ match: GET /b, rules: { a: { cost: 1 } } }]",
            "1% of the 50 that the rule `a` allows is less than 1, and 1 is allowed",
        ),
    ] {
        let warnings = warnings(text);
        assert_eq!(warnings.iter().map(|warning| warning.message.as_str()).collect::<Vec<_>>(), [message], "{text}");
    }
}

#[test]
fn what_is_well_thought_out_is_not_warned_of() {
    for quiet in [
        "rules: { a: { quota: 5/s, per: path }, b: { quota: 50/s, per: ip } }\nroutes: [{ match: \"GET /users/{id}\" }]",
        "rules: { a: { quota: 5/s, per: path } }\nroutes: [{ match: GET /users }]",
        "rules: { a: { quota: 5/s, per: \"cookie:session\" }, b: { quota: 50/s, per: user } }",
        "rules: { a: { quota: 5/s, per: [\"header:x-key\", client] }, b: { quota: 9/s, per: client } }",
        "rules: { a: { quota: 5/s, per: [client, route] } }",
        "rules: { a: { quota: 5/s, per: user, when_missing: skip }, b: { quota: 9/s, per: ip } }",
        "rules: { a: { quota: 5/s, per: [ip, user], when_missing: deny } }",
        "rules: { a: { quota: unlimited, per: user, when_missing: skip } }",
        "identity: [{ jwt: { secret: x, plan: plan } }]\nrules: { a: { quota: 5/s, plans: { pro: 9/s } } }",
        "identity: [{ jwt: { secret: x } }, { api_key: { keys_file: plans.yaml } }]\nrules: { a: { quota: 5/s, plans: { pro: 9/s } } }",
        "identity: [{ jwt: { secret: x } }]\nrules: { a: { quota: 5/s, per: user } }",
        "exempt: [{ path: \"/{*rest}\", cidr: 10.0.0.0/8 }, { path: \"/a/{*rest}\" }]\nrules: { a: { quota: 5/s } }",
        "exempt: [{ token: { header: x-pass, values: [sixteen--letters] } }]\nrules: { a: { quota: 5/s } }",
        "gateway: { upstream: http://a.example, listen: 10.0.0.4:80, proxy_protocol: true }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
        "rules: { a: { quota: unlimited, per: \"header:x-key\" } }",
        "rules: { a: { quota: 5/s, burst: 100, plans: { pro: { quota: 50/s, burst: 200 }, partner: unlimited, trial: 1/s } } }",
        "rules: { a: { quota: 5/s, plans: { pro: 5000/s } }, b: { quota: 1000/s } }",
        "rules: { a: { quota: 5/s }, b: { quota: 1000/s, plans: { free: 4/s } } }",
        "client: { trusted_proxies: [0.0.0.0/1, private] }\nrules: { a: { quota: 5/s } }",
        "client: { trusted_proxies: loopback, header: x-real-ip }\nidentity: [{ header: { name: x-user } }]\nrules: { a: { quota: 5/s } }",
        "client: { ipv6_prefix: 56 }\nrules: { a: { quota: 5/s } }",
        "exempt: [{ cidr: 0.0.0.0/0, path: /hook }, { cidr: 10.0.0.0/8 }]\nrules: { a: { quota: 5/s } }",
        "gateway: { upstream: http://a.example, listen: 127.0.0.1:80 }\nclient: { trusted_proxies: [] }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
        "gateway: { upstream: http://a.example, listen: 127.0.0.1:80, proxy_protocol: true }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
        "gateway: { upstream: http://a.example, listen: 127.0.0.1:80 }\nrules: { a: { quota: 5/s, per: everyone } }\nexempt: [{ path: /health }]",
        "gateway: { upstream: http://a.example, listen: 127.0.0.1:0 }\nrules: { a: { quota: 5/s } }\nexempt: [{ path: /health }]",
        "gateway: { upstream: http://a.example, listen: 0.0.0.0:80 }\nrules: { a: { quota: 5/s } }\nexempt: [{ cidr: 192.0.2.1 }]",
        "rules: { a: { quota: 5/s, per: user, plans: { pro: 9/s } } }",
        "rules: { a: { quota: 5/s, per: ip }, b: { quota: 1000/h, per: header:x-user-id } }",
        "rules: { short: { quota: 5/s }, medium: { quota: 300/min, algorithm: sliding-window }, long: { quota: 5000/h } }",
        "rules: { a: { quota: 5/s, mode: shadow }, b: { quota: 1000/s } }",
        "rules: { a: { quota: 5/s, per: ip }, b: { quota: 1000/s, per: everyone } }",
        "rules: { a: { quota: 5/s }, b: { quota: 15/s, algorithm: sliding-window } }",
        "rules: { a: { quota: 5/s } }\nroutes: [{ match: REPORT /a }]",
        "rules: { a: { quota: 5/s, cost: 3, share: 10% } }",
        "store: redis://127.0.0.1\nrules: { a: { quota: 5/s, cost: 3, share: 10%, when_down: deny } }",
        "store: { url: redis://127.0.0.1, share: 20%, timeout: 1s }\nrules: { a: { quota: 5/s } }",
    ] {
        assert!(warnings(quiet).is_empty(), "{quiet}: {:?}", warnings(quiet));
    }
}
