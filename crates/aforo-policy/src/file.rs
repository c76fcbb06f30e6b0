//! The policy file: YAML 1.2, of which JSON is a part.
//!
//! A text becomes a tree in which every value knows its place; the tree is held against the table of fields; what
//! conforms is compiled. All mistakes are reported, in the order of the file.

mod beside;
mod clients;
mod conform;
mod environment;
mod exempt;
mod field;
mod fields;
mod identity;
mod masked;
mod mistake;
mod node;
mod outage;
mod reference;
mod routes;
mod rules;
mod schema;
mod secrets;
mod server;
mod settings;
mod shown;
mod store_url;
mod surroundings;
mod text;
mod warnings;

pub use mistake::{Mistake, Mistakes};
pub use reference::reference;
pub use schema::schema;
pub use settings::{Admin, Gateway, InvalidStore, StoreSettings, Timeouts, Tls, Token};
pub use store_url::StoreUrl;
pub use surroundings::{Alone, Process, Surroundings};

use aforo_core::MAX_HITS;

use crate::{Flaw, Flaws, Parts, Paths, Policy, Route};
use mistake::{Found, Place};
use node::{Node, Value};

/// What a policy file says.
#[derive(Debug)]
#[non_exhaustive]
pub struct File {
    /// The proxy in front of an API, if there is to be one.
    pub gateway: Option<Gateway>,
    /// The listener for people and monitoring, unless it is off.
    pub admin: Option<Admin>,
    /// Where counters are kept.
    pub store: StoreSettings,
    /// Which rules meet a request.
    pub policy: Policy,
    /// What is allowed and yet looks like no good.
    pub warnings: Vec<Mistake>,
}

impl File {
    /// Reads a policy file that is called `name` in messages.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use aforo_policy::{Alone, File, Process};
    ///
    /// let text = "rules: { each: { quota: \"${LIMIT:-5}/s\", burst: 20 } }";
    /// let file = File::read("policy.yaml", text, &Process::beside(Path::new("policy.yaml")))?;
    /// assert_eq!(file.policy.rules()[0].name(), "each");
    ///
    /// let mistakes = File::read("policy.yaml", "rules: { each: { qouta: 5/s } }", &Alone).unwrap_err();
    /// assert!(mistakes.to_string().starts_with("policy.yaml:1:18: a rule has no key `qouta`"));
    /// # Ok::<(), aforo_policy::Mistakes>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every mistake in it, and in the files that it names.
    pub fn read(name: &str, text: &str, around: &dyn Surroundings) -> Result<File, Mistakes> {
        // Editors on some systems begin a file with a byte order mark. It is no part of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut found = Found::in_text(text);
        if text.len() > LARGEST {
            let start = Place { line: 1, column: 1, width: 1 };
            found.add(start, "the file is larger than 4 MiB", "is it a policy? Leave out what is not");
            return Err(Mistakes { file: name.to_owned(), all: found.in_order() });
        }
        let environment = |name: &str| around.value(name);
        let file = node::read(text, &environment, BEGINNING, &mut found)
            .and_then(|file| compile(&file, text, around, &mut found));
        match file {
            Some(file) if found.is_empty() => Ok(file),
            _ => Err(Mistakes { file: name.to_owned(), all: found.in_order() }),
        }
    }

    /// The same for bytes that may be no text.
    ///
    /// # Errors
    ///
    /// Every mistake in it, and in the files that it names.
    pub fn read_bytes(name: &str, bytes: &[u8], around: &dyn Surroundings) -> Result<File, Mistakes> {
        match std::str::from_utf8(bytes) {
            Ok(text) => File::read(name, text, around),
            Err(error) => {
                let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                let message = "here is a byte that is no UTF-8".to_owned();
                let help = "save the file as UTF-8".to_owned();
                let mistake = Mistake::new(Place { line, column, width: 1 }, "", true, message, help);
                Err(Mistakes { file: name.to_owned(), all: vec![mistake] })
            }
        }
    }
}

/// The largest policy file, in bytes.
const LARGEST: usize = 4 << 20;
/// How a policy file begins.
const BEGINNING: &str = "begin with `rules:`, for example rules: { each: { quota: 20/s } }";

/// What a tree says; `None` if it makes no policy, for reasons that are reported.
fn compile(file: &Node, text: &str, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<File> {
    if !matches!(file.value, Value::Map(_)) {
        found.add(file.place, format!("a policy file is a map, and here is {}", file.kind()), BEGINNING);
        return None;
    }
    conform::map(&fields::FILE, file, found);
    let gateway = server::gateway(file, found);
    let admin = server::admin(file, found);
    server::addresses(file, gateway.as_ref(), admin.as_ref(), found);
    let store = server::store(file, around, found);
    let policy = policy(file, around, found)?;
    let warnings = warnings::of(file, text, &policy, &store, gateway.as_ref());
    Some(File { gateway, admin, store, policy, warnings })
}

fn policy(file: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Policy> {
    let defaults = rules::Defaults::of(file, found);
    let globals = routes::globals(file, &defaults, found);
    let listed = |section| file.get(section).map_or(&[][..], Node::items);
    let routes: Vec<(&Node, Route)> = listed("routes")
        .iter()
        .filter_map(|node| Some((node, routes::route(node, &globals, &defaults, found)?)))
        .collect();
    let exemptions: Vec<_> =
        listed("exempt").iter().filter_map(|node| Some((node, exempt::exemption(node, around, found)?))).collect();
    let (proofs, identify) = identity::proofs(file, around, found);
    let parts = Parts {
        rules: globals.iter().filter_map(|global| global.rule.clone()).collect(),
        routes: routes.iter().map(|(_, route)| route.clone()).collect(),
        exemptions: exemptions.iter().map(|(_, exemption)| exemption.clone()).collect(),
        paths: paths(file),
        headers: shown::headers(file),
        // What is wrong with it is reported; the rest is examined all the same.
        denied: shown::denied(file, found).unwrap_or_default(),
        clients: clients::clients(file, around, found),
        proofs,
        preflight: rules::preflight(file, &defaults, found),
        cors: shown::cors(file, found),
    };
    match Policy::of(parts) {
        Ok(policy) => Some(policy.with_identify(identify)),
        Err(Flaws(flaws)) => {
            let route = |at: usize| routes.get(at).map(|(node, _)| node.get("match").unwrap_or(node).place);
            let exemption = |at: usize| exemptions.get(at).map(|(node, _)| node.get("path").unwrap_or(node).place);
            let above = file.entry("rules").map(|entry| entry.place);
            for flaw in flaws {
                report(&flaw, &route, &exemption, above, found);
            }
            None
        }
    }
}

/// Says a flaw in the words of the file.
fn report(
    flaw: &Flaw,
    route: &dyn Fn(usize) -> Option<Place>,
    exemption: &dyn Fn(usize) -> Option<Place>,
    above: Option<Place>,
    found: &mut Found<'_>,
) {
    let line = |place: Option<Place>| place.map_or(0, |place| place.line);
    let (place, message, help) = match flaw {
        Flaw::Ambiguous { earlier, later } => {
            let first = line(route(*earlier));
            let message =
                format!("this route and the one on line {first} match the same requests, and neither is more specific");
            (route(*later), message, "make them one, or give one a method, a host or a longer path of its own")
        }
        Flaw::ExemptTwice { earlier, later } => {
            let message = format!("this path is exempt already, on line {}", line(exemption(*earlier)));
            (exemption(*later), message, "remove one of them")
        }
        Flaw::TooManyRules { route: at, met } => {
            let whom = if at.is_some() { "a request on this route" } else { "a request that matches no route" };
            let message = format!("{whom} would meet {met} rules, and {MAX_HITS} are the most");
            (at.map_or(above, route), message, "skip some of the rules, or let one rule take the place of several")
        }
        Flaw::SameScope { route: at, rule, .. } => {
            let message = format!("the counters of the rule `{rule}` here would be those of another rule");
            (at.map_or(above, route), message, "give the rule another name")
        }
        Flaw::OtherAlgorithm { route: at, .. } => {
            (at.map_or(above, route), flaw.to_string(), "count all plans of a rule by one algorithm")
        }
        Flaw::NoShare { route: at, .. } => (at.map_or(above, route), flaw.to_string(), "take another share"),
    };
    found.add(place.unwrap_or(Place { line: 1, column: 1, width: 1 }), message, help);
}

fn paths(file: &Node) -> Paths {
    let path = file.get("path");
    let said = |key| path.and_then(|path| path.get(key)).and_then(Node::text);
    Paths {
        case_insensitive: said("case_insensitive") == Some("true"),
        method_override: said("method_override").filter(|name| *name != "false").map(str::to_ascii_lowercase),
    }
}
