//! An environment and files that a test writes down.

use std::io;
use std::path::Path;
use std::sync::Arc;

use aforo_policy::{Identify, InvalidProof, Proof, Surroundings};

/// What a policy file finds around it, by name.
pub(crate) struct Around<'a> {
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) files: &'a [(&'a str, &'a str)],
}

fn find<'a>(all: &[(&'a str, &'a str)], name: &str) -> Option<&'a str> {
    all.iter().find(|(known, _)| *known == name).map(|(_, said)| *said)
}

impl Surroundings for Around<'_> {
    fn value(&self, name: &str) -> Option<String> {
        find(self.environment, name).map(str::to_owned)
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = path.to_str().and_then(|name| find(self.files, name));
        content.map(|text| text.as_bytes().to_vec()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Proofs are read here, and verified elsewhere.
    fn identify(&self, _: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
        Ok(None)
    }
}
