//! What a policy file asks for and does not hold: values of an environment, and other files.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::settings::{InvalidStore, StoreSettings};
use crate::digest::sha256;
use crate::{Identify, InvalidProof, Proof};

/// The largest file that is read, in bytes: half a million API keys.
pub(super) const LARGEST: usize = 64 << 20;

/// Where a policy file finds what it asks for and does not hold.
pub trait Surroundings {
    /// The value of the environment that has this name.
    fn value(&self, name: &str) -> Option<String>;

    /// The content of the file of that name. A name that is not absolute begins at the policy file's folder.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn file(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What finds out who a request is from, by these proofs. Whoever reads requests can say it; where nobody does, a
    /// policy that asks for proof is refused, for else everyone would be anonymous without a word.
    ///
    /// # Errors
    ///
    /// What is wrong with each proof that nobody can give.
    fn identify(&self, proofs: &[Proof]) -> Result<Option<Arc<dyn Identify>>, Vec<InvalidProof>> {
        match proofs {
            [] => Ok(None),
            _ => Err(vec![InvalidProof {
                proof: 0,
                message: "nothing here verifies who a request is from".to_owned(),
                help: "read the file with the surroundings `aforo_http::identity::Verifying`".to_owned(),
            }]),
        }
    }

    /// Whether counters can be kept like that, as far as it can be known without a connection. Whoever opens stores can
    /// say it; where nobody does, it shows when the store is opened.
    ///
    /// # Errors
    ///
    /// Why they cannot.
    fn store(&self, _: &StoreSettings) -> Result<(), InvalidStore> {
        Ok(())
    }
}

/// Nothing: for a policy that stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone;

impl Surroundings for Alone {
    fn value(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::Error::other("this policy has no files beside it"))
    }
}

/// The environment of this process, and the files beside a policy file.
///
/// It remembers which files were read, so that one can look later whether they are still the same. It forgets nothing: take
/// a new one for each reading.
#[derive(Debug)]
pub struct Process {
    folder: PathBuf,
    read: Mutex<Vec<(PathBuf, Option<[u8; 32]>)>>,
}

impl Process {
    /// The files beside the policy file of that path, and the environment.
    pub fn beside(policy: &Path) -> Process {
        Process { folder: policy.parent().unwrap_or(Path::new("")).to_owned(), read: Mutex::default() }
    }

    /// Whether a file that was read is another by now. One that was there and is away for a moment is being replaced, and
    /// counts as the same.
    pub fn has_changed(&self) -> bool {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = |path: &Path| content(path).ok().map(|bytes| sha256(&bytes));
        read.iter().any(|(path, before)| now(path).is_some_and(|now| Some(now) != *before))
    }
}

impl Surroundings for Process {
    fn value(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.folder.join(path);
        let content = content(&path);
        let digest = content.as_ref().ok().map(|bytes| sha256(bytes));
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push((path, digest));
        content
    }
}

/// All of a file, if it is a regular one and not too large. Who opens a pipe may wait for ever, and some devices have no
/// end.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST { Err(too_large()) } else { Ok(bytes) }
}

pub(super) fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 64 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_read_and_a_link_to_a_file_is() {
        let beside = Process::beside(Path::new("policy.yaml"));
        assert_eq!(beside.file(Path::new("/dev/null")).unwrap_err().to_string(), "it is no regular file");
        let file = std::env::temp_dir().join(format!("aforo-linked-{}", std::process::id()));
        let link = file.with_extension("link");
        fs::write(&file, "10.0.0.0/8").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(beside.file(&link).unwrap(), b"10.0.0.0/8");
        fs::remove_file(&link).unwrap();
        // A socket, like a pipe, is in the file system and holds nothing: who opens a pipe waits for somebody to write.
        let _listener = std::os::unix::net::UnixListener::bind(&link).unwrap();
        assert_eq!(beside.file(&link).unwrap_err().to_string(), "it is no regular file");
        fs::remove_file(&link).unwrap();
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_file_that_was_read_and_is_another_now_has_changed() {
        let folder = std::env::temp_dir().join(format!("aforo-surroundings-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("networks.txt");
        let _ = fs::remove_file(&file);
        let beside = || Process::beside(&folder.join("policy.yaml"));
        let before = beside();
        assert!(!before.has_changed(), "nothing was read");
        assert!(before.file(Path::new("networks.txt")).is_err());
        assert!(!before.has_changed(), "what was not there and is not there");
        fs::write(&file, "10.0.0.0/8").unwrap();
        assert!(before.has_changed(), "what was not there and is there");
        let with_file = beside();
        assert_eq!(with_file.file(Path::new("networks.txt")).unwrap(), b"10.0.0.0/8");
        assert_eq!(with_file.file(&file).unwrap(), b"10.0.0.0/8", "a whole path is taken as it is");
        assert!(!with_file.has_changed());
        fs::write(&file, "10.0.0.0/9").unwrap();
        assert!(with_file.has_changed());
        fs::remove_file(&file).unwrap();
        assert!(!with_file.has_changed(), "it is being replaced");
        fs::write(&file, vec![b'#'; LARGEST + 1]).unwrap();
        assert_eq!(with_file.file(&file).unwrap_err().to_string(), "it is larger than 64 MiB");
        assert_eq!(with_file.file(&folder).unwrap_err().to_string(), "it is a folder");
        fs::remove_dir_all(&folder).unwrap();
    }
}
