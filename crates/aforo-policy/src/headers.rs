//! Which response fields clients are shown.

/// The `RateLimit` fields, by the version of draft-ietf-httpapi-ratelimit-headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Standard {
    /// `RateLimit-Policy` and `RateLimit` as lists of named policies, one for each rule.
    #[default]
    Draft11,
    /// `RateLimit-Policy`, and `RateLimit` as a dictionary for one rule.
    Draft7,
    /// `RateLimit-Policy`, and `RateLimit-Limit`, `-Remaining` and `-Reset` for one rule.
    Draft6,
    /// None.
    Off,
}

/// The fields that came before the drafts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Legacy {
    /// `X-RateLimit-Limit`, `-Remaining`, `-Reset` and `-Warning`.
    #[default]
    XRateLimit,
    /// None.
    Off,
}

/// What `X-RateLimit-Reset` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LegacyReset {
    /// Seconds since the Unix epoch.
    #[default]
    Epoch,
    /// Seconds from now.
    Delta,
    /// A date and time as ISO 8601 writes it.
    Iso8601,
}

/// What becomes of fields of the same names that the upstream sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Upstream {
    /// Ours stand in their place.
    #[default]
    Replace,
    /// They stay, and ours are left out.
    Keep,
}

/// Which response fields clients are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Headers {
    /// The `RateLimit` fields.
    pub standard: Standard,
    /// The `X-RateLimit-*` fields.
    pub legacy: Legacy,
    /// What `X-RateLimit-Reset` says.
    pub legacy_reset: LegacyReset,
    /// What becomes of the upstream's.
    pub upstream: Upstream,
}
