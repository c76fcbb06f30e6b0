//! Routes: which requests, and which rules they meet there.

use std::fmt;
use std::str::FromStr;

use aforo_core::Cost;

use crate::names::is_token;
use crate::{Invalid, Rule, Template};

/// What the requests that match no route are called, in keys and in metrics.
pub const UNMATCHED: &str = "unmatched";

/// The methods of a route.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Methods {
    /// Every one.
    Any,
    /// These, in alphabetical order. `GET` stands for `HEAD` too.
    Only(Vec<String>),
}

impl Methods {
    /// Whether some method is named by both, or both are for every one.
    pub(crate) fn overlap(&self, other: &Methods) -> bool {
        match (self, other) {
            (Methods::Any, Methods::Any) => true,
            (Methods::Only(these), Methods::Only(those)) => these.iter().any(|method| those.contains(method)),
            _ => false,
        }
    }
}

impl FromStr for Methods {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Methods, Invalid> {
        if text == "*" {
            return Ok(Methods::Any);
        }
        let mut methods: Vec<String> = Vec::new();
        for method in text.split('|').map(str::trim) {
            if !is_token(method) || method.contains('*') {
                return Err(Invalid::new(
                    format!("`{method}` is no method"),
                    "write a method, several as GET|POST, or * for every one",
                ));
            }
            if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
                return Err(Invalid::new(
                    format!("the method `{method}` is not in capitals"),
                    format!("methods are case-sensitive: write {}", method.to_ascii_uppercase()),
                ));
            }
            if methods.iter().any(|known| known == method) {
                return Err(Invalid::new(format!("the method {method} stands there twice"), "name each method once"));
            }
            methods.push(method.to_owned());
        }
        methods.sort_unstable();
        Ok(Methods::Only(methods))
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Methods::Any => f.write_str("*"),
            Methods::Only(methods) => f.write_str(&methods.join("|")),
        }
    }
}

/// Which requests a route is for: methods, a path template and, if it says so, one host.
///
/// It is written `POST /auth/login`, `GET|POST /orders/{id}`, `* /admin/{*rest}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Match {
    /// The methods.
    pub methods: Methods,
    /// The paths.
    pub template: Template,
    host: Option<String>,
}

impl Match {
    /// These paths by these methods, at every host.
    pub fn every(methods: Methods, template: Template) -> Match {
        Match { methods, template, host: None }
    }

    /// The same match, for requests to that host alone.
    ///
    /// # Errors
    ///
    /// If it is no host's name: a port, a scheme or a pattern is none.
    pub fn at_host(self, host: &str) -> Result<Match, Invalid> {
        let help = "write the name alone, as in api.example: no scheme, no port, no `*`";
        let host = host.trim().to_ascii_lowercase();
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_host = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(plain) && !host.starts_with('.') && !host.ends_with('.'),
        };
        if !is_host {
            return Err(Invalid::new(format!("`{host}` is no host"), help));
        }
        Ok(Match { host: Some(host), ..self })
    }

    /// The host, in lower case.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }
}

impl FromStr for Match {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Match, Invalid> {
        let text = text.trim();
        let Some((methods, template)) = text.split_once(char::is_whitespace) else {
            let help = if text.starts_with('/') {
                format!("write `* {text}` for every method")
            } else {
                "write a method and a path: POST /auth/login".to_owned()
            };
            return Err(Invalid::new(format!("`{text}` is not a method and a path"), help));
        };
        Ok(Match { methods: methods.parse()?, template: template.trim().parse()?, host: None })
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.methods, self.host.as_deref().unwrap_or_default(), self.template)
    }
}

/// Some requests, and the rules that they meet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Route {
    matches: Match,
    name: String,
    /// What a request takes from the rules that do not say it themselves.
    pub cost: Cost,
    /// Every rule that a request meets here, in order.
    pub rules: Vec<Rule>,
}

impl Route {
    /// A route on which requests meet these rules and no others, at a cost of one.
    pub fn new(matches: Match, rules: impl IntoIterator<Item = Rule>) -> Route {
        Route { name: matches.to_string(), matches, cost: Cost::ONE, rules: rules.into_iter().collect() }
    }

    /// Which requests it is for.
    pub fn matches(&self) -> &Match {
        &self.matches
    }

    /// The match as text, in its normal form: what the route is called in keys and in metrics.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }
}
