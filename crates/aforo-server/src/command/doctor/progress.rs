//! Progress: a line on a terminal, for a search that takes long.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// What ends sooner needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(100);

pub(super) struct Progress {
    on_terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress { on_terminal: std::io::stderr().is_terminal(), next: Instant::now() + PATIENCE, shown: false }
    }

    pub(super) fn show(&mut self, keys: u64) {
        let now = Instant::now();
        if self.on_terminal && now >= self.next {
            self.next = now + EVERY;
            self.shown = true;
            write(&format!("\r{keys} keys looked at"));
        }
    }

    pub(super) fn clear(&self) {
        if self.shown {
            write("\r\x1b[K");
        }
    }
}

/// A terminal that is gone is no reason to stop.
fn write(text: &str) {
    let mut terminal = std::io::stderr().lock();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}
