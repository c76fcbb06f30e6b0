//! The policy while it is served: read again when asked, swapped whole, and left alone when the new text is bad.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use aforo_memory::MemoryStore;
use aforo_policy::{File, Limiter, Mistakes};

use crate::command::Failure;

/// Where a policy's text comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file, read again at each reload.
    File(PathBuf),
    /// Text that the program brings along.
    BuiltIn {
        /// What it is called in messages.
        name: &'static str,
        /// The policy.
        text: String,
    },
}

impl Source {
    /// What it is called in messages.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::BuiltIn { name, .. } => (*name).to_owned(),
        }
    }

    /// The bytes of the text as they are now.
    ///
    /// # Errors
    ///
    /// That the file cannot be read, and why.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Source::File(path) => {
                std::fs::read(path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
            }
            Source::BuiltIn { text, .. } => Ok(text.clone().into_bytes()),
        }
    }

    /// Reads the text as a policy file, with the values of the environment.
    ///
    /// # Errors
    ///
    /// All mistakes in it, or that it cannot be read.
    pub fn read(&self) -> Result<File, Failure> {
        File::read_bytes(&self.name(), &self.bytes().map_err(Failure::Input)?, &|name| std::env::var(name).ok())
            .map_err(Failure::Policy)
    }
}

/// What became of the last reload.
#[derive(Clone, Debug)]
pub struct LastReload {
    /// When it was.
    pub at: SystemTime,
    /// The mistakes that it was refused for, if it was.
    pub refused: Option<Refused>,
}

/// Why a reload changed nothing.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The file cannot be read.
    Unreadable(String),
    /// The text is at fault.
    Mistaken(Mistakes),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Unreadable(message) => f.write_str(message),
            Refused::Mistaken(mistakes) => mistakes.fmt(f),
        }
    }
}

struct Inner {
    version: u64,
    text: Vec<u8>,
    last: LastReload,
}

/// The policy that is served, and its source.
pub struct Reloading {
    source: Source,
    limiter: Limiter<MemoryStore>,
    inner: Mutex<Inner>,
}

impl Reloading {
    /// Serves what `source` said when `limiter`'s policy was read from `text`.
    pub fn new(source: Source, text: Vec<u8>, limiter: Limiter<MemoryStore>) -> Reloading {
        let last = LastReload { at: SystemTime::now(), refused: None };
        Reloading { source, limiter, inner: Mutex::new(Inner { version: 1, text, last }) }
    }

    /// Where the policy comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How many policies took effect, counting the first; and what became of the last reload.
    pub fn state(&self) -> (u64, LastReload) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.version, inner.last.clone())
    }

    /// Reads the source again. A good policy takes effect with the next decision and counters go on; a bad one changes
    /// nothing. Either way the log says so.
    ///
    /// # Errors
    ///
    /// Why the policy that is served stays.
    pub fn reload(&self) -> Result<u64, Refused> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.reload_locked(&mut inner)
    }

    fn reload_locked(&self, inner: &mut Inner) -> Result<u64, Refused> {
        let outcome = self.read_again(&mut inner.text);
        inner.last = LastReload { at: SystemTime::now(), refused: outcome.as_ref().err().cloned() };
        match outcome {
            Ok(file) => {
                self.limiter.replace(file.policy);
                inner.version += 1;
                tracing::info!(policy.version = inner.version, source = self.source.name(), "policy reloaded");
                Ok(inner.version)
            }
            Err(refused) => {
                tracing::error!(
                    source = self.source.name(),
                    "policy not reloaded, the last good one stays:\n{refused}"
                );
                Err(refused)
            }
        }
    }

    fn read_again(&self, text: &mut Vec<u8>) -> Result<File, Refused> {
        let bytes = self.source.bytes().map_err(Refused::Unreadable)?;
        text.clone_from(&bytes);
        File::read_bytes(&self.source.name(), &bytes, &|name| std::env::var(name).ok()).map_err(Refused::Mistaken)
    }

    /// Reloads if the source's text is another than at the last reload.
    fn reload_if_changed(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that is away for a moment is being replaced.
        if self.source.bytes().is_ok_and(|bytes| bytes != inner.text) {
            let _ = self.reload_locked(&mut inner);
        }
    }
}

/// How often the source is looked at. The text itself is compared: that sees a changed file, a file moved into place
/// and a swapped symbolic link alike, which notifications of the file system do not.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks at the source for as long as it is polled.
pub async fn watch(reloading: Arc<Reloading>) {
    if !matches!(reloading.source, Source::File(_)) {
        return;
    }
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        reloading.reload_if_changed();
    }
}
