//! Files that a policy file names, and what is wrong with them.

use std::path::Path;

use super::mistake::{Found, Place};
use super::node::Node;
use super::surroundings::{LARGEST, Surroundings};

/// The content of the file that a value names. If it cannot be read, that is told at the value.
pub(super) fn bytes(node: &Node, around: &dyn Surroundings, found: &mut Found<'_>) -> Option<Vec<u8>> {
    let name = node.text()?;
    match read(name, around) {
        Ok(bytes) => Some(bytes),
        Err(reason) => {
            let help = "name a file by its whole path, or by its path from the policy's folder";
            found.add(node.place, format!("the file `{name}` cannot be read: {reason}"), help);
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
pub(super) fn read(name: &str, around: &dyn Surroundings) -> Result<Vec<u8>, String> {
    match around.file(Path::new(name)) {
        Ok(bytes) if bytes.len() > LARGEST => Err("it is larger than 4 MiB".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
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
