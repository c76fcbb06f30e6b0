//! The sections that a server obeys. A text that does not conform has been reported, and its default stands in.

use std::time::Duration;

use super::mistake::Found;
use super::node::{Node, Value};
use super::settings::{Admin, Gateway, InvalidStore, StoreSettings, Timeouts, Tls, Token};
use super::surroundings::Surroundings;
use super::text;

pub(super) fn gateway(file: &Node, found: &mut Found<'_>) -> Option<Gateway> {
    let node = file.get("gateway")?;
    let upstream = node.get("upstream");
    let mut gateway = Gateway::to(texts(upstream));
    if let Some(list) = upstream.filter(|node| matches!(&node.value, Value::List(items) if items.is_empty())) {
        found.add(list.place, "the list of upstreams is empty", "name at least one: http://127.0.0.1:3000");
    }
    if let Some(listen) = node.get("listen").and_then(Node::text).and_then(|text| text::address(text).ok()) {
        gateway.listen = listen;
    }
    gateway.proxy_protocol = node.get("proxy_protocol").and_then(Node::text) == Some("true");
    gateway.workers = number(node.get("workers")).and_then(|workers| workers.try_into().ok());
    gateway.drain = waiting(Some(node), "drain", gateway.drain);
    let timeouts = node.get("timeouts");
    let Timeouts { header, body, connect, upstream, idle } = gateway.timeouts;
    gateway.timeouts = Timeouts {
        header: waiting(timeouts, "header", header),
        body: waiting(timeouts, "body", body),
        connect: waiting(timeouts, "connect", connect),
        upstream: waiting(timeouts, "upstream", upstream),
        idle: waiting(timeouts, "idle", idle),
    };
    gateway.tls = node.get("tls").and_then(|tls| {
        let file = |name| tls.get(name).and_then(Node::text).map(Into::into);
        Some(Tls { cert: file("cert")?, key: file("key")? })
    });
    Some(gateway)
}

pub(super) fn admin(file: &Node, found: &mut Found<'_>) -> Option<Admin> {
    let Some(entry) = file.entry("admin") else { return Some(Admin::default()) };
    let node = &entry.value;
    if node.text() == Some("false") {
        return None;
    }
    let mut admin = Admin::default();
    let listen = node.get("listen");
    if let Some(listen) = listen.and_then(Node::text).and_then(|text| text::address(text).ok()) {
        admin.listen = listen;
        admin.listen_is_given = true;
    }
    admin.token = node.get("token").and_then(Node::text).map(|token| Token(token.to_owned()));
    if !admin.listen.ip().to_canonical().is_loopback() && node.entry("token").is_none() {
        let place = listen.map_or(entry.place, |listen| listen.place);
        let message =
            format!("the admin listener at {} can be reached from other machines and has no token", admin.listen);
        found.add(place, message, "add `token: ${AFORO_ADMIN_TOKEN}`, or listen at 127.0.0.1");
    }
    Some(admin)
}

/// Two listeners cannot have one address.
pub(super) fn addresses(file: &Node, gateway: Option<&Gateway>, admin: Option<&Admin>, found: &mut Found<'_>) {
    let (Some(gateway), Some(admin)) = (gateway, admin) else { return };
    let place = ["admin", "gateway"].iter().find_map(|section| file.get(section)?.get("listen")).map(|node| node.place);
    if let Some(place) = place
        && gateway.listen == admin.listen
        && admin.listen_is_given
        && admin.listen.port() != 0
    {
        let message = format!("the gateway and the admin listener have the same address, {}", admin.listen);
        found.add(place, message, "give them different ports");
    }
}

/// Where counters are kept, examined by whoever will keep them.
pub(super) fn store(file: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> StoreSettings {
    let settings = store_settings(file);
    if let (Err(InvalidStore { key, message, help }), Some(node)) = (around.store(&settings), file.get("store")) {
        found.add(node.get(key).unwrap_or(node).place, message, help);
    }
    settings
}

fn store_settings(file: &Node) -> StoreSettings {
    let Some(node) = file.get("store") else { return StoreSettings::default() };
    let named = node.text().or_else(|| node.get("url")?.text());
    let mut settings = named.and_then(|text| StoreSettings::named(text).ok()).unwrap_or_default();
    let count =
        |name| number(node.get(name)).and_then(|count| count.try_into().ok()).filter(|count: &usize| *count > 0);
    match &mut settings {
        StoreSettings::Memory { max_keys } => *max_keys = count("max_keys").unwrap_or(*max_keys),
        StoreSettings::Redis { timeout, prefix, connections, max_keys, .. } => {
            let said = |name| node.get(name).and_then(Node::text);
            *timeout = said("timeout").and_then(|text| text::deadline(text).ok()).unwrap_or(*timeout);
            if let Some(said) = said("prefix").filter(|said| text::prefix(said).is_ok()) {
                *prefix = said.to_owned();
            }
            *connections = said("connections").and_then(|text| text.parse().ok()).unwrap_or(*connections);
            *max_keys = count("max_keys").unwrap_or(*max_keys);
        }
    }
    settings
}

fn waiting(node: Option<&Node>, name: &str, default: Duration) -> Duration {
    let text = node.and_then(|node| node.get(name)).and_then(Node::text);
    text.and_then(|text| text::setting(text).ok()).unwrap_or(default)
}

fn texts(node: Option<&Node>) -> Vec<String> {
    let items = node.map_or(&[][..], Node::items);
    items.iter().filter_map(Node::text).map(str::to_owned).collect()
}

fn number(node: Option<&Node>) -> Option<u64> {
    node?.text()?.parse().ok()
}
