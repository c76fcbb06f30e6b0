//! Files that a policy file names, and what is wrong with them.

use std::io;
use std::path::Path;

use super::mistake::{Found, Place};
use super::node::Node;
use super::surroundings::{LARGEST, Surroundings, too_large};

/// The content of the file that a value names. If it cannot be read, that is told at the value.
pub(super) fn bytes(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Vec<u8>> {
    let name = node.text()?;
    match read(name, around) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let by_path = "name a file by its whole path, or by its path from the policy's folder";
            let help = help(&error).unwrap_or(by_path);
            found.add(node.place, format!("the file `{name}` cannot be read: {error}"), help);
            None
        }
    }
}

/// The same as text.
pub(super) fn text(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<String> {
    let bytes = bytes(node, around, found)?;
    let text = String::from_utf8(bytes);
    if text.is_err() {
        let name = node.text().unwrap_or_default();
        found.add(node.place, format!("the file `{name}` is no text"), "save it as UTF-8");
    }
    text.ok()
}

/// All of a file, or why it cannot be read.
pub(super) fn read(name: &str, around: &dyn Surroundings) -> io::Result<Vec<u8>> {
    around.file(Path::new(name)).and_then(|bytes| if bytes.len() > LARGEST { Err(too_large()) } else { Ok(bytes) })
}

/// What helps if a file is there, and is none that can be read.
pub(super) fn help(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Some("split it, and name each part in an entry of its own"),
        io::ErrorKind::InvalidInput => Some("name a regular file: from a pipe or a device it could not be read again"),
        io::ErrorKind::IsADirectory => Some("name a file in it"),
        _ => None,
    }
}

/// The lines of a text that say something, each with its place: not what follows a `#`, and not what is empty.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (Place, &str)> {
    text.lines().enumerate().filter_map(|(at, line)| {
        let said = line.split('#').next().unwrap_or_default();
        let said = said.trim_start_matches('\u{feff}');
        let indented = said.chars().take_while(|letter| letter.is_whitespace()).count();
        let said = said.trim();
        let place = Place { line: at + 1, column: indented + 1, width: said.chars().count() };
        (!said.is_empty()).then_some((place, said))
    })
}
