//! Reading a policy file whose proofs are verified here.

use std::io;
use std::path::Path;
use std::sync::Arc;

use aforo_policy::{Identify, InvalidProof, InvalidStore, Proof, StoreSettings, Surroundings};

use super::compile;

/// The surroundings of a policy file, and what verifies the proofs that it names.
///
/// ```
/// use aforo_http::identity::Verifying;
/// use aforo_policy::{Alone, File};
///
/// let text = "identity: [ { header: { name: x-user-id } } ]\nrules: { each: { quota: 5/s, per: user } }";
/// let file = File::read("policy.yaml", text, &Verifying(Alone))?;
/// assert!(file.policy.identify().is_some());
/// # Ok::<(), aforo_policy::Mistakes>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Verifying<S>(pub S);

impl<S: Surroundings> Surroundings for Verifying<S> {
    fn value(&self, name: &str) -> Option<String> {
        self.0.value(name)
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.file(path)
    }

    fn identify(&self, proofs: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
        compile(proofs)
    }

    fn store(&self, settings: &StoreSettings) -> Result<(), InvalidStore> {
        self.0.store(settings)
    }
}
