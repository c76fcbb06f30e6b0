//! Clients that are told apart otherwise than it looks: by what anyone can write, by nothing, or not at all.

use super::super::mistake::Found;
use super::super::node::Node;
use super::super::settings::Gateway;
use crate::template::Segment;
use crate::worst_case::Probe;
use crate::{Fact, Policy, Proof, Rule, Template, networks};

/// Paths by which machines ask whether a server lives. They ask often, all from one address.
const PROBES: [&str; 6] = ["/health", "/healthz", "/ready", "/readyz", "/livez", "/ping"];
/// Headers in which proxies pass on what clients wrote, or add to it.
const PASSED_ON: [&str; 9] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
];
/// The shortest token that nobody finds by trying.
const SHORTEST_TOKEN: usize = 16;

pub(super) fn examine(file: &Node, policy: &Policy, gateway: Option<&Gateway>, found: &mut Found<'_>) {
    believed(file, policy, found);
    exempt(file, policy, found);
    no_plan(file, policy, found);
    if let Some(gateway) = gateway {
        one_client(file, policy, gateway, found);
        anyone_says_who(file, gateway, found);
        anonymous(file, policy, found);
        probes(file, policy, found);
    }
}

/// Warns where everyone is believed, and where what is to be believed comes from nobody.
fn believed(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    let trusted = &policy.clients().trusted;
    let client = file.get("client");
    let said = |key| client.and_then(|client| client.get(key));
    if let Some(node) = said("trusted_proxies").filter(|_| trusted.hold_everyone()) {
        let message = "everyone is believed to be a proxy, so anyone can write the address that is counted";
        found.add(node.place, message, "name the addresses of the proxies alone");
    }
    let proofs = || file.get("identity").map_or(&[][..], Node::items).iter().zip(policy.proofs());
    for (node, proof) in proofs() {
        if let Proof::Header(name) = proof
            && (PASSED_ON.contains(&&**name) || **name == *policy.clients().header.name())
        {
            let message = format!("`{name}` holds what clients write too, so anyone can be any user");
            found.add(node.place, message, "name a header of its own, which the proxy overwrites on every request");
        }
    }
    if !trusted.is_empty() {
        return;
    }
    let help = "add `client: { trusted_proxies: … }` with the addresses of the proxies that write it";
    if let Some(node) = said("header") {
        let message = format!("no proxy is trusted, so `{}` is never believed", policy.clients().header.name());
        found.add(node.place, message, help);
    }
    for (node, proof) in proofs() {
        if let Proof::Header(name) = proof {
            found.add(node.place, format!("no proxy is trusted, so `{name}` never proves anything"), help);
        }
    }
}

/// Warns of exemptions that leave nobody to limit.
fn exempt(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    let listed = file.get("exempt").map_or(&[][..], Node::items).iter().zip(policy.exemptions());
    for (node, exemption) in listed {
        let everyone = exemption.networks.as_ref().is_some_and(|networks| networks.hold_everyone());
        if everyone && exemption.path.is_none() && exemption.pass.is_none() {
            let place = node.get("cidr").unwrap_or(node).place;
            found.add(place, "this exempts everyone from every rule", "name the networks that are meant");
        }
        let is_every_path = |path: &Template| matches!(path.segments(), [Segment::Rest(_)]);
        if exemption.is_for_everyone() && exemption.path.as_ref().is_some_and(is_every_path) {
            let place = node.get("path").unwrap_or(node).place;
            found.add(place, "this exempts every path from every rule", "name the paths that are meant");
        }
        let tokens = node.get("token").and_then(|token| token.get("values")).map_or(&[][..], Node::items);
        let is_short = |text: &str| text.trim().chars().count() < SHORTEST_TOKEN;
        for token in tokens.iter().filter(|token| token.text().is_some_and(is_short)) {
            let message = "a token of fewer than 16 characters can be found by trying";
            found.add(token.place, message, "take a long random one, as `openssl rand -hex 16` makes it");
        }
    }
}

/// Warns where a proxy on this machine would be the only client. A file that says of proxies that there are none, or
/// leaves it to the connections, has thought of it.
fn one_client(file: &Node, policy: &Policy, gateway: &Gateway, found: &mut Found<'_>) {
    let Some(listen) = file.get("gateway").and_then(|gateway| gateway.get("listen")) else { return };
    let says_who = file.get("client").is_some_and(|client| client.get("trusted_proxies").is_some());
    let address = gateway.listen;
    let reached_from_here = address.ip().to_canonical().is_loopback() && address.port() != 0;
    let by_address =
        |rule: &Rule| rule.partition.facts().iter().any(|fact| matches!(fact, Fact::Ip | Fact::Client | Fact::User));
    if reached_from_here && !says_who && !gateway.proxy_protocol && every_rule(policy).any(by_address) {
        let message = format!("at {} all clients come from this machine: behind a proxy, they are one", address.ip());
        let help = "add `client: { trusted_proxies: loopback }` if there is a proxy, `[]` if there is none";
        found.add(listen.place, message, help);
    }
}

/// Warns where a client can say of itself whose connection it is: in a header of the PROXY protocol, at a port that more
/// can reach than a proxy and its network.
fn anyone_says_who(file: &Node, gateway: &Gateway, found: &mut Found<'_>) {
    let Some(node) = file.get("gateway").and_then(|gateway| gateway.get("proxy_protocol")) else { return };
    let address = gateway.listen.ip().to_canonical();
    let within = |name: &str| networks::named(name).into_iter().flatten().any(|network| network.contains(&address));
    if gateway.proxy_protocol && !within("loopback") && !within("private") {
        let message = format!("whoever reaches {} can write any address in the PROXY protocol", gateway.listen);
        found.add(
            node.place,
            message,
            "listen at an address in the proxy's network, and let nobody else reach the port",
        );
    }
}

/// Warns of rules that count users, or have plans for them, where nobody is verified.
fn anonymous(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    if policy.proofs().is_empty() {
        let help = "add `identity:`, which says how users prove who they are";
        meaningless(file, policy, &[Fact::User, Fact::Plan], "nobody is verified", help, found);
    }
}

/// Warns of rules that have plans, where no proof tells one.
fn no_plan(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    let tells_plan = |proof: &Proof| match proof {
        Proof::Jwt(jwt) => jwt.plan.is_some(),
        Proof::ApiKey(keys) => keys.keys.iter().any(|key| key.plan.is_some()),
        Proof::Header(_) => false,
    };
    if !policy.proofs().is_empty() && !policy.proofs().iter().any(tells_plan) {
        let help = "name the token's claim in `jwt: { plan: … }`, or write `plan` beside API keys";
        meaningless(file, policy, &[Fact::Plan], "no proof tells a plan", help, found);
    }
}

/// Tells of each rule that counts by one of these facts, or has plans, that it does so in vain.
fn meaningless(file: &Node, policy: &Policy, facts: &[Fact], why: &str, help: &str, found: &mut Found<'_>) {
    let above = file.get("rules").map_or(&[][..], Node::entries).iter();
    let routes = file.get("routes").map_or(&[][..], Node::items).iter();
    let on_routes = routes.flat_map(|route| route.get("rules").map_or(&[][..], Node::entries));
    for entry in above.chain(on_routes) {
        let Some(rule) = every_rule(policy).find(|rule| rule.name() == entry.key) else { continue };
        let what = match rule.partition.facts().iter().find(|fact| facts.contains(fact)) {
            Some(fact) if entry.value.get("per").is_some() => format!("`per: {fact}`"),
            _ if entry.value.get("plans").is_some() => "`plans`".to_owned(),
            _ => continue,
        };
        let message = format!("{why}, so {what} of the rule `{}` means nothing", rule.name());
        found.add(entry.place, message, help);
    }
}

fn every_rule(policy: &Policy) -> impl Iterator<Item = &Rule> {
    policy.rules().iter().chain(policy.routes().iter().flat_map(|route| &route.rules))
}

/// Warns where a monitor's probes would be counted.
fn probes(file: &Node, policy: &Policy, found: &mut Found<'_>) {
    let Some(gateway) = file.entry("gateway") else { return };
    let counted = |path: &str| {
        let request = Probe(path);
        let meeting = policy.meet(&request);
        meeting.exempt().is_none() && meeting.route().is_none() && meeting.rules().any(|rule| rule.quota().is_some())
    };
    // Who exempts anything has thought of it.
    if policy.exemptions().is_empty() && PROBES.iter().all(|path| counted(path)) {
        let message = "no path is exempt, so the probes of a monitor are counted and may be refused";
        found.add(gateway.place, message, "add for example exempt: [{ path: /health }], if the API has such a path");
    }
}
