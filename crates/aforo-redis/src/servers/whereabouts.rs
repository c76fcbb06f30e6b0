//! Whereabouts: where a server is to be found now.

use std::fmt;

use super::sentinel::Sentinels;
use crate::endpoint::Endpoint;
use crate::trouble::Trouble;

/// Where a server is to be found. It is asked before each connecting.
pub(super) enum Whereabouts {
    /// At one place, under a name or an address.
    Fixed(Endpoint),
    /// Where the Sentinels say.
    Told(Box<Sentinels>),
}

impl Whereabouts {
    pub(super) async fn find(&self) -> Result<Endpoint, Trouble> {
        match self {
            Whereabouts::Fixed(endpoint) => Ok(endpoint.clone()),
            Whereabouts::Told(sentinels) => sentinels.primary().await,
        }
    }

    /// Whether it can be elsewhere although the connections live: a primary that was cut off does not know that it is
    /// none any more.
    pub(super) fn may_change(&self) -> bool {
        matches!(self, Whereabouts::Told(_))
    }
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whereabouts::Fixed(endpoint) => endpoint.fmt(f),
            Whereabouts::Told(sentinels) => f.write_str(sentinels.service()),
        }
    }
}
