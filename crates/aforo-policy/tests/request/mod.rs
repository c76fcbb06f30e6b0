//! A request that a test writes down.

#![allow(dead_code, reason = "not every test file asks for everything")]

use std::borrow::Cow;
use std::net::IpAddr;

use aforo_core::Cost;
use aforo_policy::{Describe, Identity};

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) other_path: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) identity: Option<Identity>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) cost: Option<Cost>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Request {
        Request {
            method: method.into(),
            path: path.into(),
            other_path: None,
            host: None,
            address: Some(IpAddr::from([203, 0, 113, 7])),
            identity: None,
            query: Vec::new(),
            headers: Vec::new(),
            cost: None,
        }
    }

    /// A preflight of a browser for a request of that method.
    pub(crate) fn preflight(path: &str) -> Request {
        let preflight = Request::new("OPTIONS", path).with_header("origin", "https://app.example");
        preflight.with_header("access-control-request-method", "POST")
    }

    pub(crate) fn from(self, address: &str) -> Request {
        Request { address: address.parse().ok(), ..self }
    }

    pub(crate) fn by(self, user: &str, plan: Option<&str>) -> Request {
        Request { identity: Some(Identity { user: user.into(), plan: plan.map(Into::into), by: "jwt" }), ..self }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl Describe for Request {
    fn method(&self) -> &str {
        &self.method
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn other_path(&self) -> Option<&str> {
        self.other_path.as_deref()
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

    fn query<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str().into())
    }

    fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_bytes())
    }

    fn cost(&self) -> Option<Cost> {
        self.cost
    }
}
