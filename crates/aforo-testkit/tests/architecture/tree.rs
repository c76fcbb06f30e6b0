//! The source tree as text, and the words in it.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
pub(crate) struct File {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every text file below `folder`, which is named from the root; what is built or recorded is left out.
pub(crate) fn files(folder: &str) -> Vec<File> {
    const SKIPPED: [&str; 6] = [".git", "target", "artifacts", "corpus", "coverage", "__pycache__"];
    let root = root();
    let mut folders = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    folders.push(path);
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push(File { path, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The Rust files of the crates.
pub(crate) fn sources() -> Vec<File> {
    files("crates").into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

impl File {
    /// A file that a test makes up.
    pub(crate) fn sample(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether all of the file is test, benchmark or example.
    pub(crate) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"))
    }

    /// The lines with their numbers, comments left out.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The lines before the tests at the end of the file.
    pub(crate) fn untested_lines(&self) -> usize {
        self.text.lines().take_while(|line| *line != "#[cfg(test)]").count()
    }
}

/// Whether a line of code uses `path`, such as `hyper` or `answer::http`, as the beginning of a path.
pub(crate) fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].trim_end();
        let after = &line[at + path.len()..];
        let begins = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"');
        let is_item = before.ends_with("use") || before.ends_with("crate") || before.ends_with(['{', ',']);
        let ends = after.starts_with("::") || (is_item && after.starts_with([';', ',', '}', ' ']));
        begins && ends
    })
}

/// Fails with every violation, one a line.
#[track_caller]
pub(crate) fn assert_none(violations: Vec<String>) {
    assert!(violations.is_empty(), "{} broken:\n  {}", violations.len(), violations.join("\n  "));
}
