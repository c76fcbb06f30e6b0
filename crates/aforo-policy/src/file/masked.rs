//! A line of a policy file with its keys and its structure, and without what it says.
//!
//! It may be a line of what is no YAML, so nothing is relied on: what is not known to be harmless is not told.

use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use super::field::{Kind, Section};
use super::fields::FILE;
use super::mistake::Place;
use super::secrets::SECRETS;
use crate::allowance::Amount;
use crate::names::{is_identifier, nearest};
use crate::{Percent, duration};

/// Keys whose values are told: they say where, and not by what.
const TOLD: [&str; 3] = ["path", "cidr", "name"];
/// The most digits of a number that is told.
const MOST_DIGITS: usize = 7;

/// The words of the table of fields: names of keys, and choices.
static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words { keys: Vec::new(), choices: vec!["true", "false", "unlimited", "memory"] };
    words.add(&FILE, &mut Vec::new());
    words
});

struct Words {
    keys: Vec<&'static str>,
    choices: Vec<&'static str>,
}

impl Words {
    fn add(&mut self, section: &'static Section, known: &mut Vec<*const Section>) {
        if known.iter().any(|other| std::ptr::eq(*other, section)) {
            return;
        }
        known.push(section);
        for field in section.fields {
            self.keys.push(field.name);
            self.add_of(&field.kind, known);
        }
    }

    fn add_of(&mut self, kind: &'static Kind, known: &mut Vec<*const Section>) {
        match kind {
            Kind::Choice(choices) => self.choices.extend(*choices),
            Kind::List(kind) | Kind::Named { each: kind, .. } => self.add_of(kind, known),
            Kind::Map(section) => self.add(section, known),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| self.add_of(kind, known)),
            _ => {}
        }
    }
}

/// A line without its values, and where in it a place is now. `owner` is the key above that its first value belongs to.
pub(super) fn masked(line: &str, place: Place, owner: &str) -> (String, Place) {
    let letters: Vec<char> = line.chars().collect();
    let mut masked = Masked { letters: &letters, shown: String::new(), length: 0, columns: Vec::new() };
    masked.read(owner.to_owned());
    masked.columns.push(masked.length);
    let column_of = |at: usize| {
        let beyond = at.saturating_sub(letters.len());
        masked.columns.get(at - beyond).copied().unwrap_or_default() + beyond
    };
    let start = column_of(place.column.saturating_sub(1));
    let end = column_of(place.column.saturating_sub(1) + place.width);
    let place = Place { line: place.line, column: start + 1, width: end.saturating_sub(start).max(1) };
    (masked.shown, place)
}

struct Masked<'l> {
    letters: &'l [char],
    shown: String,
    /// Characters that are shown so far.
    length: usize,
    /// For each character of the line, where it is shown.
    columns: Vec<usize>,
}

impl Masked<'_> {
    fn read(&mut self, mut owner: String) {
        let mut is_key_due = true;
        let mut at = 0;
        while let Some(letter) = self.letters.get(at).copied() {
            let next = self.letters.get(at + 1).copied();
            if letter.is_whitespace() {
                self.show(&[' ']);
                at += 1;
            } else if "{}[],".contains(letter) || ("-?:".contains(letter) && next.is_none_or(char::is_whitespace)) {
                self.show(&[letter]);
                is_key_due = true;
                at += 1;
            } else {
                let end = if letter == '#' { self.letters.len() } else { self.end_of_scalar(at) };
                let scalar = self.letters.get(at..end).unwrap_or_default();
                let text: String = scalar.iter().collect();
                let text = unquoted(&text);
                if let Some(after) = self.after_colon(end) {
                    let is_told = WORDS.keys.contains(&text) || (is_key_due && is_identifier(text));
                    if is_told {
                        self.show(scalar)
                    } else {
                        self.mask(scalar.len())
                    }
                    self.show(self.letters.get(end..after).unwrap_or_default());
                    text.clone_into(&mut owner);
                    is_key_due = false;
                    at = after;
                } else {
                    if letter != '#' && may_be_told(&owner, text) {
                        self.show(scalar)
                    } else {
                        self.mask(scalar.len())
                    }
                    at = end;
                }
            }
        }
    }

    /// Where the scalar ends that begins there.
    fn end_of_scalar(&self, start: usize) -> usize {
        let quote = self.letters.get(start).copied().filter(|letter| matches!(letter, '"' | '\''));
        let mut at = start + 1;
        while let Some(letter) = self.letters.get(at).copied() {
            let next = self.letters.get(at + 1).copied();
            let is_end = match quote {
                Some('"') if letter == '\\' => {
                    at += 2;
                    continue;
                }
                Some(quote) if letter == quote => return at + 1,
                Some(_) => false,
                None => {
                    let begins_value = next.is_none_or(|next| next.is_whitespace() || "{}[],".contains(next));
                    "{}[],".contains(letter)
                        || (letter == ':' && begins_value)
                        || (letter.is_whitespace() && next.is_some_and(|next| next == '#'))
                }
            };
            if is_end {
                break;
            }
            at += 1;
        }
        let end = at.min(self.letters.len());
        let scalar = self.letters.get(start..end).unwrap_or_default();
        end - scalar.iter().rev().take_while(|letter| letter.is_whitespace()).count()
    }

    /// Behind the colon, if one follows.
    fn after_colon(&self, end: usize) -> Option<usize> {
        let rest = self.letters.get(end..)?;
        let spaces = rest.iter().take_while(|letter| letter.is_whitespace()).count();
        (rest.get(spaces) == Some(&':')).then_some(end + spaces + 1)
    }

    fn show(&mut self, letters: &[char]) {
        for letter in letters {
            self.columns.push(self.length);
            self.shown.push(*letter);
            self.length += 1;
        }
    }

    fn mask(&mut self, letters: usize) {
        self.columns.extend(std::iter::repeat_n(self.length, letters));
        self.shown.push('…');
        self.length += 1;
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

/// Whether a value tells nothing that is secret.
fn may_be_told(owner: &str, text: &str) -> bool {
    let names_value =
        |text: &str| text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(is_identifier);
    if text.is_empty() || names_value(text) {
        return true;
    }
    if nearest(owner, SECRETS).is_some() {
        return false;
    }
    let is_number = text.len() <= MOST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    TOLD.contains(&owner)
        || is_number
        || WORDS.keys.contains(&text)
        || WORDS.choices.contains(&text)
        || duration::read(text, false).is_ok()
        || text.parse::<Amount>().is_ok()
        || text.parse::<Percent>().is_ok()
        || text.parse::<SocketAddr>().is_ok()
        || text.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_structure_are_shown_and_what_is_said_is_not() {
        for (line, expected) in [
            ("  - jwt: { sekret: LEAK, leeway: 5min }", "  - jwt: { sekret: …, leeway: 5min }"),
            ("  - token: { header: x b, value: LEAK }", "  - token: { header: …, value: … }"),
            ("admin: { tokn: 1234, listen: 127.0.0.1:9 }", "admin: { tokn: …, listen: 127.0.0.1:9 }"),
            (" LEAK-a, foo: 1 }", " …, foo: 1 }"),
            ("  - 'LEAK: more", "  - …"),
            ("  - \"LE\\\"AK\" # LEAK", "  - … …"),
            ("secret: LEAK: more", "secret: …: …"),
            ("jwt: { secret:LEAK, claim : sub }", "jwt: { …, claim : … }"),
            ("{\"store\":{\"url\":\"LEAK\",\"timeout\":\"1s\"}}", "{\"store\":{\"url\":…,\"timeout\":\"1s\"}}"),
            ("token: \"${TOKEN}\"", "token: \"${TOKEN}\""),
            ("token: \"${TOKEN:-LEAK}\"", "token: …"),
            ("- { path: /a, cidr: [10.0.0.0/33, b] }", "- { path: /a, cidr: [10.0.0.0/33, b] }"),
            ("store: { when_down: deny, prefix: \"\" }", "store: { when_down: deny, prefix: \"\" }"),
        ] {
            let place = Place { line: 1, column: 1, width: 1 };
            assert_eq!(masked(line, place, "").0, expected, "{line}");
        }
        let place = Place { line: 1, column: 3, width: 4 };
        assert_eq!(masked("- 1234", place, "values").0, "- …", "it goes on with a secret");
    }

    #[test]
    fn a_place_is_where_it_was_before() {
        let line = "jwt: { secret: LEAK, foo: 1 }";
        for (column, width, expected) in
            [(1, 3, (1, 3)), (16, 4, (16, 1)), (17, 1, (16, 1)), (22, 3, (19, 3)), (30, 1, (27, 1))]
        {
            let (_, place) = masked(line, Place { line: 1, column, width }, "");
            assert_eq!((place.column, place.width), expected, "column {column}");
        }
    }
}
