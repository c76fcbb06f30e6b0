//! What clients are shown, as the file says it.

use super::mistake::Found;
use super::node::{Node, Value};
use super::text;
use crate::{Cors, Denied, Headers, Legacy, LegacyReset, Standard, Upstream};

pub(super) fn headers(file: &Node) -> Headers {
    let headers = file.get("headers");
    let said = |key| headers.and_then(|headers| headers.get(key)).and_then(Node::text).unwrap_or_default();
    Headers {
        standard: match said("standard") {
            "draft-7" => Standard::Draft7,
            "draft-6" => Standard::Draft6,
            "off" => Standard::Off,
            _ => Standard::Draft11,
        },
        legacy: if said("legacy") == "off" { Legacy::Off } else { Legacy::XRateLimit },
        legacy_reset: match said("legacy_reset") {
            "delta" => LegacyReset::Delta,
            "iso8601" => LegacyReset::Iso8601,
            _ => LegacyReset::Epoch,
        },
        upstream: if said("upstream") == "keep" { Upstream::Keep } else { Upstream::Replace },
    }
}

pub(super) fn denied(file: &Node, found: &mut Found<'_>) -> Option<Denied> {
    let Some(node) = file.get("denied") else { return Some(Denied::Problem) };
    let Some(template) = node.get("template") else {
        if let Some(entry) = node.entry("content_type") {
            found.add(entry.place, "`content_type` stands without a template", "add `template:`, or leave it out");
        }
        return Some(Denied::Problem);
    };
    if let Some(entry) = node.entry("body") {
        found.add(entry.place, "`body` stands beside a template", "leave one of them out");
    }
    let content_type = node.get("content_type");
    let media_type = content_type.and_then(Node::text).unwrap_or("application/json");
    match Denied::template(media_type, template.text()?) {
        Ok(denied) => Some(denied),
        Err(invalid) => {
            let of_type = invalid.message().ends_with("media type");
            found.add_invalid(content_type.filter(|_| of_type).unwrap_or(template).place, &invalid);
            None
        }
    }
}

/// The origins whose scripts may read it.
pub(super) fn cors(file: &Node, found: &mut Found<'_>) -> Option<Cors> {
    let node = file.get("cors")?;
    let listed = node.get("origins")?;
    let origins: Vec<String> = listed.items().iter().filter_map(|item| text::origin(item.text()?).ok()).collect();
    let credentials = node.get("credentials");
    let cors = Cors { origins, credentials: credentials.and_then(Node::text) == Some("true") };
    if matches!(&listed.value, Value::List(items) if items.is_empty()) {
        found.add(listed.place, "the list of origins is empty", "name at least one: https://app.example");
    }
    if let Some(credentials) =
        credentials.filter(|_| cors.credentials && cors.origins.iter().any(|origin| origin == "*"))
    {
        let message = "browsers send no credentials to what every origin may read";
        found.add(credentials.place, message, "name the origins, or leave `credentials` out");
    }
    Some(cors)
}
