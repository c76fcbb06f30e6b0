//! What a request says about itself.

use std::borrow::Cow;
use std::net::IpAddr;

use aforo_core::Cost;

use crate::{Identity, cookie};

/// The facts that a request offers.
///
/// Whoever stands at a door implements it: the HTTP layer for a request, a program for its own jobs.
pub trait Describe {
    /// The method, as it was sent.
    fn method(&self) -> &str;

    /// The method that some server may take it for instead. Such a request meets what either method meets.
    fn other_method(&self) -> Option<&str> {
        None
    }

    /// The path in its normal form, beginning with a slash. Where [`Paths::case_insensitive`](crate::Paths) is set, it
    /// is in lower case.
    fn path(&self) -> &str;

    /// The path in another form that could be meant by what was sent. Such a request meets what either form meets, so
    /// that no spelling gets around a limit.
    fn other_path(&self) -> Option<&str> {
        None
    }

    /// The path for a server that takes the beginning of it for a host. Such a request meets what that form meets, too.
    fn path_behind_host(&self) -> Option<&str> {
        None
    }

    /// The host that was asked for, in lower case, without a port.
    fn host(&self) -> Option<&str>;

    /// The address of the client, if it has one. Behind proxies that are believed, it is the one that they tell of.
    fn address(&self) -> Option<IpAddr>;

    /// Who the request is from, if that was verified.
    fn identity(&self) -> Option<&Identity> {
        None
    }

    /// The values of a header, one for each line, in the order of arrival. The name is in lower case.
    fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;

    /// The values of a cookie, in the order of arrival.
    fn cookie<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.header("cookie").flat_map(move |line| cookie::values(line, name))
    }

    /// The decoded values of a parameter of the query, in the order of arrival.
    fn query<'a>(&'a self, _name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        std::iter::empty()
    }

    /// What this request takes, for the rules that do not say it themselves. `None` leaves it to the route.
    fn cost(&self) -> Option<Cost> {
        None
    }
}
