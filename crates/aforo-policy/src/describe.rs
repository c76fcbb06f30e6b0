//! What a request says about itself.

use std::net::IpAddr;

use aforo_core::Cost;

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

    /// The host that was asked for, in lower case, without a port.
    fn host(&self) -> Option<&str>;

    /// The address of the client, if it has one.
    fn peer(&self) -> Option<IpAddr>;

    /// The values of a header, one for each line, in the order of arrival. The name is in lower case.
    fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;

    /// What this request takes, for the rules that do not say it themselves. `None` leaves it to the route.
    fn cost(&self) -> Option<Cost> {
        None
    }
}
