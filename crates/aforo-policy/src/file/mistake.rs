//! Mistakes in a policy file: where, what is wrong, and what would be right.

use std::fmt;

use super::secrets;

/// A place in a text. Lines and columns count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    /// Characters from there on that are meant.
    pub(super) width: usize,
}

/// One thing that is wrong, or doubtful, in a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// The file that it is in, as the policy file names it; `None` if it is in the policy file itself.
    pub file: Option<String>,
    /// The line, from one.
    pub line: usize,
    /// The character in the line, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
    excerpt: Option<Excerpt>,
}

/// The line that a mistake is in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    line: String,
    /// What is meant in it: not where it is in the file, if something before it is not shown.
    column: usize,
    width: usize,
}

/// The longest line that is shown.
const LONGEST: usize = 160;

impl Mistake {
    /// A mistake in a text, that may be one that `is_no_yaml`.
    pub(super) fn new(place: Place, text: &str, is_no_yaml: bool, message: String, help: String) -> Mistake {
        let line = lines(text).nth(place.line.saturating_sub(1));
        // What is missing at the end is looked for behind the last line: it is told at that line's end.
        let (number, column, line) = match (line, lines(text).enumerate().last()) {
            (None, Some((last, line))) if !text.is_empty() => (last + 1, line.chars().count() + 1, Some(line)),
            (line, _) => (place.line, place.column, line),
        };
        let fits = line.is_some_and(|line| !line.is_empty() && line.chars().count() <= LONGEST);
        let place = Place { line: number, column, ..place };
        let shown = secrets::shown(text, place, is_no_yaml).filter(|_| fits);
        let excerpt = shown.map(|(line, Place { column, width, .. })| Excerpt { line, column, width });
        Mistake { file: None, line: number, column, message, help, excerpt }
    }
}

/// The lines of a text as YAML breaks them (YAML 1.2.2, section 5.4): at LF, CR, or both.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            let number = self.line.to_string();
            let margin = " ".repeat(number.len());
            let length = excerpt.line.chars().count();
            writeln!(f, "{margin} |")?;
            writeln!(f, "{number} | {}", excerpt.line.trim_end())?;
            if excerpt.column <= length + 1 {
                let carets = excerpt.width.min((length + 1).saturating_sub(excerpt.column)).max(1);
                writeln!(f, "{margin} | {}{}", " ".repeat(excerpt.column - 1), "^".repeat(carets))?;
            }
        }
        write!(f, "help: {}", self.help)
    }
}

/// Everything that is wrong in a policy file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    pub(super) file: String,
    pub(super) all: Vec<Mistake>,
}

impl Mistakes {
    /// What the file is called.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The mistakes; there is at least one.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.all.iter()
    }
}

impl<'a> IntoIterator for &'a Mistakes {
    type Item = &'a Mistake;
    type IntoIter = std::slice::Iter<'a, Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.all.iter().enumerate() {
            let between = if at == 0 { "" } else { "\n\n" };
            let file = mistake.file.as_ref().unwrap_or(&self.file);
            write!(f, "{between}{file}:{}:{}: {mistake}", mistake.line, mistake.column)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Mistakes as they are found.
pub(super) struct Found<'t> {
    text: &'t str,
    is_no_yaml: bool,
    /// Values that came from elsewhere, each with what is written in its place.
    filled: Vec<(String, String)>,
    all: Vec<Mistake>,
}

/// The shortest value from elsewhere that is looked for in what is said: shorter ones stand there by chance.
const SHORTEST: usize = 6;

impl<'t> Found<'t> {
    pub(super) fn in_text(text: &'t str) -> Found<'t> {
        Found { text, is_no_yaml: false, filled: Vec::new(), all: Vec::new() }
    }

    /// In a text of which no line is to be shown.
    pub(super) fn in_secret() -> Found<'static> {
        Found::in_text("")
    }

    pub(super) fn add(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        let untold = |said: String| {
            self.filled.iter().fold(said, |said, (value, written)| said.replace(value.as_str(), written))
        };
        let (message, help) = (untold(message.into()), untold(help.into()));
        self.all.push(Mistake::new(place, self.text, self.is_no_yaml, message, help));
    }

    /// Adds where the text stops being YAML.
    pub(super) fn add_no_yaml(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.is_no_yaml = true;
        self.add(place, message, help);
    }

    /// Takes note of a value that is not to be told, for it came from elsewhere, and of what is written in its place.
    pub(super) fn take_note(&mut self, value: &str, written: &str) {
        if value.len() >= SHORTEST {
            self.filled.push((value.to_owned(), written.to_owned()));
        }
    }

    pub(super) fn add_invalid(&mut self, place: Place, invalid: &crate::Invalid) {
        self.add(place, invalid.message(), invalid.help());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Takes in what was found in another file, of that name.
    pub(super) fn take_in(&mut self, file: &str, within: Found<'_>) {
        let named = |mistake| Mistake { file: Some(file.to_owned()), ..mistake };
        self.all.extend(within.all.into_iter().map(named));
    }

    /// All of them, in the order of the file, and then those in others.
    pub(super) fn in_order(mut self) -> Vec<Mistake> {
        self.all.sort_by(|one, other| {
            let place = |mistake: &Mistake| (mistake.line, mistake.column);
            one.file.cmp(&other.file).then(place(one).cmp(&place(other)))
        });
        self.all
    }
}
