//! What a policy file asks for and does not hold, where a server reads it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use aforo::Counters;
use aforo_http::identity::Verifying;
use aforo_policy::{Identify, InvalidProof, InvalidStore, Process, Proof, StoreSettings, Surroundings};

/// The environment and the files beside a policy file, what verifies its proofs, and what opens its store.
#[derive(Debug)]
pub struct Around(Verifying<Process>);

impl Around {
    /// Around the policy file of that path.
    pub fn of(policy: &Path) -> Around {
        Around(Verifying(Process::beside(policy)))
    }

    /// Whether a file that was read is another by now.
    pub fn has_changed(&self) -> bool {
        let Verifying(process) = &self.0;
        process.has_changed()
    }
}

impl Surroundings for Around {
    fn value(&self, name: &str) -> Option<String> {
        self.0.value(name)
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.file(path)
    }

    fn identify(&self, proofs: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
        self.0.identify(proofs)
    }

    fn store(&self, settings: &StoreSettings) -> Result<(), InvalidStore> {
        Counters::examine(settings)
    }
}
