//! The policy while it is served: read again when asked, swapped whole, and left alone when the new text is bad.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use aforo::Counters;
use aforo_policy::{Admin, File, Gateway, Limiter, Mistakes, StoreSettings};

use crate::command::Failure;
use crate::serving::{self, Overrides};
use crate::surroundings::Around;

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

    /// What the text asks for and does not hold.
    pub fn surroundings(&self) -> Around {
        Around::of(match self {
            Source::File(path) => path,
            Source::BuiltIn { .. } => Path::new(""),
        })
    }

    /// Reads the text as a policy file.
    ///
    /// # Errors
    ///
    /// All mistakes in it, or that it cannot be read.
    pub fn read(&self) -> Result<File, Failure> {
        let bytes = self.bytes().map_err(Failure::Input)?;
        File::read_bytes(&self.name(), &bytes, &self.surroundings()).map_err(Failure::Policy)
    }
}

/// What became of the last reload.
#[derive(Clone, Debug)]
pub struct LastReload {
    /// When it was.
    pub at: SystemTime,
    /// The mistakes that it was refused for, if it was.
    pub refused: Option<Refused>,
    /// The keys that were changed since the start and take effect only at the next one.
    pub needs_restart: Vec<&'static str>,
}

/// What a file says that is obeyed from the start to the end.
struct Fixed {
    gateway: Option<Gateway>,
    admin: Option<Admin>,
    store: StoreSettings,
}

impl Fixed {
    fn of(file: &File) -> Fixed {
        Fixed { gateway: file.gateway.clone(), admin: file.admin.clone(), store: file.store.clone() }
    }

    /// The keys whose values are others in `now`.
    fn differing(&self, now: &Fixed) -> Vec<&'static str> {
        let mut keys = Vec::new();
        match (&self.gateway, &now.gateway) {
            (Some(old), Some(new)) => keys.extend(
                [
                    ("gateway.listen", old.listen != new.listen),
                    ("gateway.upstream", old.upstream != new.upstream),
                    ("gateway.workers", old.workers != new.workers),
                    ("gateway.tls", old.tls != new.tls),
                    ("gateway.proxy_protocol", old.proxy_protocol != new.proxy_protocol),
                    ("gateway.timeouts", old.timeouts != new.timeouts),
                    ("gateway.drain", old.drain != new.drain),
                ]
                .into_iter()
                .filter_map(|(key, differs)| differs.then_some(key)),
            ),
            (None, None) => {}
            _ => keys.push("gateway"),
        }
        match (&self.admin, &now.admin) {
            (Some(old), Some(new)) => {
                keys.extend((old.listen != new.listen).then_some("admin.listen"));
                keys.extend((old.token != new.token).then_some("admin.token"));
            }
            (None, None) => {}
            _ => keys.push("admin"),
        }
        keys.extend((self.store != now.store).then_some("store"));
        keys
    }
}

/// Why a reload changed nothing.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The file cannot be read.
    Unreadable(String),
    /// The text is at fault.
    Mistaken(Mistakes),
    /// The text is good, and something that it names cannot be used.
    Unusable(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Unreadable(message) | Refused::Unusable(message) => f.write_str(message),
            Refused::Mistaken(mistakes) => mistakes.fmt(f),
        }
    }
}

/// What was read at the last reload.
pub struct Read {
    /// The policy's text.
    pub text: Vec<u8>,
    /// What it asked for.
    pub around: Around,
}

struct Inner {
    version: u64,
    read: Read,
    last: LastReload,
}

/// The policy that is served, and its source.
pub struct Reloading {
    source: Source,
    limiter: Limiter<Counters>,
    overrides: Overrides,
    fixed: Fixed,
    /// Held while the source is read, which may take as long as the file system likes: nobody else waits for it.
    reading: Mutex<()>,
    inner: Mutex<Inner>,
}

impl Reloading {
    /// Serves what `source` said when `file` was `read`, less what the call has said in its place.
    pub fn new(source: Source, read: Read, file: File, overrides: Overrides, counters: Counters) -> Reloading {
        let last = LastReload { at: SystemTime::now(), refused: None, needs_restart: Vec::new() };
        let fixed = Fixed::of(&file);
        let inner = Mutex::new(Inner { version: 1, read, last });
        Reloading { source, limiter: counters.limiter(file.policy), overrides, fixed, reading: Mutex::default(), inner }
    }

    /// Where the policy comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The limiter that obeys the policy.
    pub fn limiter(&self) -> &Limiter<Counters> {
        &self.limiter
    }

    /// How many policies took effect, counting the first; and what became of the last reload.
    pub fn state(&self) -> (u64, LastReload) {
        let inner = self.locked();
        (inner.version, inner.last.clone())
    }

    /// Reads the source again. A good policy takes effect with the next decision and counters go on; a bad one changes
    /// nothing. Either way the log says so. It waits for the file system.
    ///
    /// # Errors
    ///
    /// Why the policy that is served stays.
    pub fn reload(&self) -> Result<u64, Refused> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        match self.source.bytes() {
            Ok(bytes) => self.take_over(bytes),
            Err(message) => self.settle(Err(Refused::Unreadable(message))),
        }
    }

    /// Reloads if the source's text, or a file that it names, is another than at the last reload.
    fn reload_if_changed(&self) {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that is away for a moment is being replaced.
        let Ok(bytes) = self.source.bytes() else { return };
        let inner = self.locked();
        let has_changed = bytes != inner.read.text || inner.read.around.has_changed();
        drop(inner);
        if has_changed {
            // The log tells what became of it.
            let _ = self.take_over(bytes);
        }
    }

    fn take_over(&self, bytes: Vec<u8>) -> Result<u64, Refused> {
        let name = self.source.name();
        let around = self.source.surroundings();
        let read = File::read_bytes(&name, &bytes, &around).map_err(Refused::Mistaken);
        self.locked().read = Read { text: bytes, around };
        let usable = read.and_then(|file| match serving::examine(&file, &self.overrides, &self.source) {
            Ok(()) => Ok(file),
            Err(failure) => Err(Refused::Unusable(failure.message().unwrap_or_default())),
        });
        self.settle(usable)
    }

    fn settle(&self, outcome: Result<File, Refused>) -> Result<u64, Refused> {
        let source = self.source.name();
        let mut inner = self.locked();
        inner.last.at = SystemTime::now();
        inner.last.refused = outcome.as_ref().err().cloned();
        match outcome {
            Ok(file) => {
                inner.last.needs_restart = self.fixed.differing(&Fixed::of(&file));
                inner.version += 1;
                self.limiter.replace(file.policy);
                tracing::info!(policy.version = inner.version, source, "policy reloaded");
                if !inner.last.needs_restart.is_empty() {
                    let keys = inner.last.needs_restart.join(", ");
                    tracing::warn!(source, "changed, and in effect only after a restart: {keys}");
                }
                Ok(inner.version)
            }
            Err(refused) => {
                tracing::error!(source, "policy not reloaded, the last good one stays:\n{refused}");
                Err(refused)
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often the source is looked at. What it says itself is compared: that sees a changed file, a file moved into place
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
        let reloading = Arc::clone(&reloading);
        // A look that ends in a panic was reported by it; the next one is a new one.
        let _ = tokio::task::spawn_blocking(move || reloading.reload_if_changed()).await;
    }
}
