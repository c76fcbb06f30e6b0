//! What the table of fields is made of.

/// A part of the file: the keys that a map may have.
#[derive(Debug)]
pub(super) struct Section {
    /// What it is, for messages: "a rule".
    pub(super) what: &'static str,
    pub(super) fields: &'static [Field],
}

/// One key of a map.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What holds if it is left out, as it would be written; empty if nothing does.
    pub(super) default: &'static str,
    pub(super) need: Need,
    /// A sentence for the reference and the schema.
    pub(super) about: &'static str,
}

/// Whether a key may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Optional,
    Required,
}

/// What a value may be.
#[derive(Debug)]
pub(super) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in a range.
    Count { least: u64, most: u64 },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text that is read by one of the readers of texts.
    Text(Text),
    /// A list.
    List(&'static Kind),
    /// A map with the keys of a section.
    Map(&'static Section),
    /// A map from names that the file chooses, of the form of that regular expression, to such values.
    Named { names: &'static str, each: &'static Kind },
    /// One of several; at most one of them is a list and one a map.
    Either(&'static [Kind]),
    /// Something that a later version brings, and what it is.
    Later(&'static str),
}

/// The texts that have a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Any,
    Address,
    Deadline,
    Duration,
    Fact,
    File,
    HeaderName,
    Host,
    Leeway,
    Match,
    Network,
    Origin,
    Path,
    Percent,
    Prefix,
    Quota,
    Secret,
    Sha256,
    Store,
    Url,
    User,
}
