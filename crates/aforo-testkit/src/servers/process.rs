//! A program that outlives no test.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Ends the program when the process that started it has ended, however that was. Its input is a pipe that nobody
/// writes to: it ends with that process. (The kernel's signal for the death of a parent comes already with the death
/// of the thread that started the program, and threads of tests end early.)
const WATCH: &str = r#"trap '' HUP INT TERM; read -r _; kill -KILL "$1"; rm -rf "$2""#;

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    program: Child,
    watch: Child,
    paused: bool,
}

impl Process {
    /// Starts a program that keeps its files in `folder`. It runs there, too: Redis opens its log before it goes to its
    /// folder, and would leave an empty one here.
    pub(super) fn start(command: &mut Command, folder: &Path) -> Process {
        let quiet = command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = quiet.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let watch = Command::new("sh")
            .args(["-c", WATCH, "sh", &program.id().to_string()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        Process { program, watch, paused: false }
    }

    pub(super) fn id(&self) -> u32 {
        self.program.id()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.program.try_wait().expect("a child can be waited for")
    }

    pub(super) fn pause(&mut self) {
        self.signal("STOP");
        self.paused = true;
    }

    pub(super) fn resume(&mut self) {
        self.signal("CONT");
        self.paused = false;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "signal {name} reaches no process {}", self.id());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The watch first: after the program is waited for, its number may be given to another.
        for child in [&mut self.watch, &mut self.program] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
