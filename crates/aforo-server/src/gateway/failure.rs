//! Why there is no response from an upstream, for the client and for the log.

use std::error::Error;
use std::io;

use http::StatusCode;

use super::problem::Problem;

/// Why there is no response from an upstream.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no connection to any.
    Unreachable(io::Error),
    /// The upstream did not accept a connection in time.
    ConnectTimeout,
    /// It was silent for too long.
    Silent,
    /// It broke off, or what it said is not HTTP.
    Broken(hyper::Error),
    /// What it said cannot be passed on safely.
    Invalid(&'static str),
    /// The client stopped sending its request.
    ClientSilent,
    /// The client's request broke off or made no sense.
    ClientBroken,
}

impl Failure {
    /// What the client hears: what failed, and nothing of what is behind the gateway.
    pub(super) fn problem(&self) -> Problem {
        match self {
            Self::Unreachable(_) => Problem::new(StatusCode::BAD_GATEWAY, "The upstream server cannot be reached."),
            Self::ConnectTimeout => {
                Problem::new(StatusCode::GATEWAY_TIMEOUT, "The upstream server did not accept a connection in time.")
            }
            Self::Silent => Problem::new(StatusCode::GATEWAY_TIMEOUT, "The upstream server did not answer in time."),
            Self::Broken(_) => {
                Problem::new(StatusCode::BAD_GATEWAY, "The upstream server broke off before it had answered.")
            }
            Self::Invalid(_) => {
                Problem::new(StatusCode::BAD_GATEWAY, "The response of the upstream server cannot be passed on.")
            }
            Self::ClientSilent => {
                Problem::last(StatusCode::REQUEST_TIMEOUT, "The body of the request took too long to arrive.")
            }
            Self::ClientBroken => Problem::last(StatusCode::BAD_REQUEST, "The body of the request is malformed."),
        }
    }

    /// What an operator reads. The client's own doing is no news for one.
    pub(super) fn reason(&self) -> Option<(&'static str, Option<&(dyn Error + 'static)>)> {
        match self {
            Self::Unreachable(error) => Some(("no upstream can be reached", Some(error))),
            Self::ConnectTimeout => Some(("no upstream accepted a connection in time", None)),
            Self::Silent => Some(("the upstream was silent for too long", None)),
            Self::Broken(error) => Some(("the upstream broke off", Some(error))),
            Self::Invalid(reason) => Some((reason, None)),
            Self::ClientSilent | Self::ClientBroken => None,
        }
    }
}
