//! `aforo explain`

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use aforo_core::Origin;
use aforo_http::Descriptor;
use aforo_http::client::{Source, Trace, trace};
use aforo_policy::{Describe, Meeting, Policy};
use clap::Args;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use serde_json::{Value, json};

use super::{Failure, live, report, say, source};

/// Say what one request would meet: its client, the normal form of its path, its route, every rule with its key.
#[derive(Debug, Args)]
#[command(after_help = "Example: aforo explain POST /auth/login -H 'X-Api-Key: k' --peer 203.0.113.7")]
pub(super) struct Explain {
    /// The method.
    method: String,
    /// The path and query, or a whole URL.
    url: String,
    /// A header field; as often as you like.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The address that the request comes from.
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    peer: IpAddr,
    /// The policy file [default: aforo.yaml].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Look at the counters too, in a store that processes share. Nothing is taken.
    #[arg(long)]
    live: bool,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
}

/// A request as it was typed.
struct Typed {
    method: Method,
    target: Uri,
    fields: HeaderMap,
}

impl Explain {
    pub(super) fn run(self) -> Result<(), Failure> {
        let typed = self.typed()?;
        let file = source::named_or_default(self.config.clone())?.read()?;
        let policy = &file.policy;
        let descriptor = Descriptor::of(&typed.method, &typed.target, &typed.fields, Some(self.peer), policy);
        let mut explained = explained(policy, &descriptor, &self.trace(&typed.fields, policy));
        if self.live {
            let asked = policy.meet(&descriptor).asked(&descriptor).unwrap_or_default();
            let hits = asked.iter().map(|(_, hit)| *hit).collect();
            let looks = live::look(&file.store, &hits)?;
            let rules = explained.get_mut("rules").and_then(Value::as_array_mut);
            for (rule, look) in rules.into_iter().flatten().zip(looks) {
                rule["live"] = look;
            }
        }
        say(&if self.json { format!("{explained:#}\n") } else { text(&explained) })
    }

    /// The way from the peer to the client, step by step.
    fn trace(&self, fields: &HeaderMap, policy: &Policy) -> Trace {
        let lines = fields.get_all(policy.clients().header.name()).iter().map(HeaderValue::as_bytes);
        trace(Some(self.peer), lines, policy.clients())
    }

    fn typed(&self) -> Result<Typed, Failure> {
        let method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| Failure::Usage(format!("`{}` is no method; write for example GET", self.method)))?;
        let target: Uri = self.url.parse().map_err(|error| {
            Failure::Usage(format!(
                "`{}` is no URL: {error}; write a path that begins with a slash, or a whole URL",
                self.url
            ))
        })?;
        if target.scheme().is_none() && !self.url.starts_with('/') {
            return Err(Failure::Usage(format!("`{}` is no URL: write a path that begins with a slash", self.url)));
        }
        let mut fields = HeaderMap::new();
        for header in &self.headers {
            let (name, value) = field(header)?;
            fields.append(name, value);
        }
        Ok(Typed { method, target, fields })
    }
}

fn field(header: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let wrong = || Failure::Usage(format!("`{header}` is no header field; write `Name: value`"));
    let (name, value) = header.split_once(':').ok_or_else(wrong)?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
    Ok((name, HeaderValue::from_str(value.trim()).map_err(|_| wrong())?))
}

fn explained(policy: &Policy, descriptor: &Descriptor<'_>, trace: &Trace) -> Value {
    let meeting = policy.meet(descriptor);
    let (rules, uncounted, missing) = rules(meeting, descriptor);
    json!({
        "client_ip": trace.walk.address.map(|address| address.to_string()),
        "client_ip_from": match trace.walk.from {
            Source::Peer => "peer",
            Source::Header => policy.clients().header.name(),
        },
        "client_ip_steps": trace.steps.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "identity": descriptor.identity().map(|identity| json!({
            "user": &*identity.user,
            "plan": identity.plan.as_deref(),
            "by": identity.by,
        })),
        "identity_steps": descriptor.proving(policy),
        "path": descriptor.path(),
        "route": meeting.route().map(|route| route.name()),
        "exempt": match meeting.exempt() {
            Some(exemption) => Some(exemption.name.as_str()),
            None if rules.is_empty() && missing.is_none() => Some("it meets no rule"),
            None => None,
        },
        "missing": missing,
        "rules": rules,
        "uncounted": uncounted,
    })
}

/// The rules that are met: those that count the request, those that do not, or else what it lacks.
fn rules(meeting: Meeting<'_>, descriptor: &Descriptor<'_>) -> (Vec<Value>, Vec<Value>, Option<String>) {
    match meeting.asked(descriptor) {
        Ok(asked) => {
            let plan = descriptor.identity().and_then(|identity| identity.plan.as_deref());
            let others =
                meeting.rules().filter(|rule| asked.iter().all(|(counting, _)| counting.scope() != rule.scope()));
            let uncounted = others.map(|rule| {
                let why = match rule.quota_by(plan, Origin::Store) {
                    None => "unlimited",
                    Some(_) => "skipped, for the request lacks what it counts by",
                };
                json!({ "rule": rule.name(), "why": why })
            });
            let rules = asked.iter().map(|(rule, hit)| {
                json!({
                    "rule": rule.name(),
                    "key": report::key(&hit.key),
                    "quota": report::quota(&hit.quota.into()),
                    "algorithm": report::algorithm(rule),
                    "cost": hit.cost.units(),
                    "mode": report::mode(rule),
                })
            });
            (rules.collect(), uncounted.collect(), None)
        }
        Err(missing) => {
            (Vec::new(), Vec::new(), Some(format!("the request lacks the fact `{missing}`, and a rule insists on it")))
        }
    }
}

/// The steps of that name, each on a line of its own below what they led to.
fn steps(explained: &Value, name: &str) -> String {
    let steps = explained.get(name).and_then(Value::as_array).into_iter().flatten();
    steps.filter_map(Value::as_str).map(|step| format!("\n          {step}")).collect()
}

/// Who it is, and what became of each proof on the way to that.
fn identity(explained: &Value) -> String {
    let word = |name: &str| explained.pointer(&format!("/identity/{name}")).and_then(Value::as_str);
    let mut who = match (word("user"), word("plan")) {
        (Some(user), Some(plan)) => format!("{user}, plan {plan}"),
        (Some(user), None) => user.to_owned(),
        (None, _) => "anonymous".to_owned(),
    };
    who.push_str(&steps(explained, "identity_steps"));
    who
}

/// A wait, from a second on in whole seconds, so that who waits that long does not come too early.
fn lasting(millis: u64) -> humantime::FormattedDuration {
    let millis = if millis < 1_000 { millis } else { millis.div_ceil(1_000).saturating_mul(1_000) };
    humantime::format_duration(Duration::from_millis(millis))
}

fn text(explained: &Value) -> String {
    let word = |name: &str, none: &str| match explained.get(name) {
        Some(Value::String(word)) => word.clone(),
        _ => none.to_owned(),
    };
    let mut text = format!(
        "client    {}, from {}{}\n\
         identity  {}\n\
         path      {}\n\
         route     {}\n\
         exempt    {}\n",
        word("client_ip", "unknown"),
        word("client_ip_from", "peer"),
        steps(explained, "client_ip_steps"),
        identity(explained),
        word("path", ""),
        word("route", "none: the rules for everything else"),
        explained.get("exempt").and_then(Value::as_str).map_or("no".to_owned(), |by| format!("yes: {by}")),
    );
    let missing = explained.get("missing").and_then(Value::as_str);
    if let Some(missing) = missing {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "refused   403: {missing}");
    }
    let rules = explained.get("rules").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let uncounted = explained.get("uncounted").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if rules.is_empty() && uncounted.is_empty() && missing.is_none() {
        text.push_str("rules     none\n");
    }
    for rule in rules {
        let part = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let cost = rule.get("cost").and_then(Value::as_u64).unwrap_or_default();
        let _ = writeln!(
            text,
            "rule      {}: {}, {}, cost {cost}, {}\n          key {}",
            part("rule"),
            part("quota"),
            part("algorithm"),
            part("mode"),
            part("key"),
        );
        if let Some(look) = rule.get("live") {
            let number = |name: &str| look.get(name).and_then(Value::as_u64);
            let (left, limit) = (number("remaining").unwrap_or_default(), number("limit").unwrap_or_default());
            let _ = match (look.get("allowed").and_then(Value::as_bool), number("retry_after_ms")) {
                (Some(true), _) => writeln!(text, "          now {left} of {limit} left: it would pass"),
                (_, Some(wait)) => writeln!(text, "          now {left} of {limit} left: it fits in {}", lasting(wait)),
                (_, None) => writeln!(text, "          now {left} of {limit} left: it can never fit"),
            };
        }
    }
    for rule in uncounted {
        let part = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(text, "rule      {}: {}", part("rule"), part("why"));
    }
    text
}
