//! Scripts of other origins, and what they may read.

/// The origins whose scripts may read what a limited response says (the CORS protocol of the Fetch standard).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cors {
    /// The origins, as browsers write them: `https://app.example`. `*` is every one.
    pub origins: Vec<String>,
    /// Whether such scripts may send cookies and other credentials.
    pub credentials: bool,
}

impl Cors {
    /// Whether scripts of that origin, as an `Origin` field names it, may read.
    pub fn admits(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|known| known == "*" || known.as_bytes() == origin)
    }
}
