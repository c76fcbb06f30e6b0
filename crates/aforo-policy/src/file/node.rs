//! The tree of a YAML text, in which every node knows its place.
//!
//! What makes YAML surprising is left out and refused by name: anchors and aliases, tags, keys that are no text, and more
//! than one document. So a small file stays small in memory, and one key means one value.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::mistake::{Found, Place};
use super::{environment, secrets};

/// The deepest nesting.
const DEEPEST: usize = 24;

/// A value and its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    Scalar {
        text: String,
        /// Whether it was quoted, so that it is text whatever it looks like.
        quoted: bool,
        /// Which values of the environment it is made of, as they are written: it may be a secret, and is not told.
        from: Option<String>,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Something that has been reported already.
    Broken,
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) value: Node,
}

impl Node {
    /// What kind of value it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { text, quoted: false, .. } if text.is_empty() || text == "~" || text == "null" => "nothing",
            Value::Scalar { .. } => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Broken => "a mistake",
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The entry of a map that has this key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The items of a list; of any other value, itself.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Broken => &[],
            _ => std::slice::from_ref(self),
        }
    }
}

/// Reads a text; `None` if it is no YAML, or empty. A node that cannot be read is [`Value::Broken`], so that the mistakes
/// around it come to light too. `beginning` says how a file of that kind begins.
pub(super) fn read(
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    beginning: &str,
    found: &mut Found<'_>,
) -> Option<Node> {
    let mut reader = Reader { events: Parser::new_from_str(text), environment, found };
    let node = reader.document();
    if node.is_none() && found.is_empty() {
        let start = Place { line: 1, column: 1, width: 1 };
        found.add(start, "the file is empty", beginning);
    }
    node
}

struct Reader<'t, 'f, 'm> {
    events: Parser<'t, StrInput<'t>>,
    environment: &'f dyn Fn(&str) -> Option<String>,
    found: &'f mut Found<'m>,
}

/// The place of a span.
fn place(span: Span) -> Place {
    let same_line = span.start.line() == span.end.line();
    let width = if same_line { span.end.col().saturating_sub(span.start.col()).max(1) } else { 1 };
    Place { line: span.start.line().max(1), column: span.start.col() + 1, width }
}

impl<'t> Reader<'t, '_, '_> {
    /// The next event; `None` at the end, or where the text is no YAML, which is reported.
    fn next(&mut self) -> Option<(Event<'t>, Place)> {
        match self.events.next_event()? {
            Ok((event, span)) => Some((event, place(span))),
            Err(error) => {
                let at = Place { line: error.marker().line().max(1), column: error.marker().col() + 1, width: 1 };
                let (message, help) = in_our_words(error.info());
                self.found.add_no_yaml(at, message, help);
                None
            }
        }
    }

    fn document(&mut self) -> Option<Node> {
        let mut document = None;
        while let Some((event, place)) = self.next() {
            match event {
                Event::DocumentStart(_) if document.is_some() => {
                    self.found.add(
                        place,
                        "a second document begins here",
                        "a policy is one document: remove the `---`",
                    );
                    return document;
                }
                Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event => match self.node(event, place, 0)? {
                    node if node.kind() == "nothing" => return None,
                    node => document = Some(node),
                },
            }
        }
        document
    }

    /// The node that begins with `event`; `None` where the text ends or is no YAML.
    fn node(&mut self, event: Event<'t>, place: Place, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            self.found.add(place, "values are nested too deeply here", "a policy needs no more than six levels");
            return None;
        }
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            _ => (0, false),
        };
        if anchor != 0 {
            self.found.add(place, "this value has an anchor", "anchors and aliases are not read: write the value out");
        }
        if tag {
            self.found.add(place, "this value has a tag", "tags such as !!str are not read: leave it out");
        }
        let value = match event {
            Event::Scalar(text, style, ..) => self.scalar(&text, style, place),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(items),
                        (event, place) => items.push(self.node(event, place, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => self.map(depth)?,
            _ => {
                self.found.add(place, "this is an alias", "anchors and aliases are not read: write the value out");
                Value::Broken
            }
        };
        Some(Node { place, value })
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, place: Place) -> Value {
        let quoted = style != ScalarStyle::Plain;
        match environment::fill(text, self.environment) {
            Ok(None) => Value::Scalar { text: text.to_owned(), quoted, from: None },
            // A value of the environment has no quotes, so it is what it looks like, unless it is empty.
            Ok(Some(filled)) => {
                let from = environment::named(text);
                self.found.take_note(&filled, &from);
                Value::Scalar { quoted: filled.is_empty(), text: filled, from: Some(from) }
            }
            Err(invalid) => {
                self.found.add_invalid(place, &invalid);
                Value::Broken
            }
        }
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, place) = self.next()?;
            let key = match event {
                Event::MappingEnd => return Some(Value::Map(entries)),
                Event::Scalar(text, ..) => Some(text.into_owned()),
                event => {
                    self.found.add(place, "this key is no text", "write a name before the colon");
                    self.node(event, place, depth + 1)?;
                    None
                }
            };
            let (event, value_place) = self.next()?;
            let value = self.node(event, value_place, depth + 1)?;
            let Some(key) = key else { continue };
            if key == "<<" {
                self.found.add(place, "`<<` would merge another map", "merge keys are not read: write the values out");
            } else if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let key = secrets::printable(&key);
                let message = format!("`{key}` stands there twice: first on line {}", first.place.line);
                self.found.add(place, message, "keep one of them");
            } else {
                entries.push(Entry { key, place, value });
            }
        }
    }
}

/// What the scanner says is for those who know how YAML is scanned; these say it to the others.
fn in_our_words(info: &str) -> (String, &'static str) {
    let help = match info {
        _ if info.contains("tab") => "YAML indents with spaces: replace the tab",
        _ if info.contains("mapping values are not allowed") => {
            "a colon and a space begin a value: quote the text, or look at the indentation"
        }
        _ if info.contains("quoted scalar") => "close the quotation mark",
        _ if info.contains("simple key expect") || info.contains("could not find expected ':'") => {
            "write `name: value`: a name alone is no entry"
        }
        _ if info.contains("flow") || info.contains("expected ',' or") => {
            "close every `{` and `[`, with commas between"
        }
        _ => "look at the indentation and the quotation marks around here",
    };
    (format!("this is no YAML: {info}"), help)
}
