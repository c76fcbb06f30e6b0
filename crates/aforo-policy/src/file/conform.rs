//! Whether a file holds what the table of fields allows: names, types, and the form of every text.

use super::field::{Field, Kind, Need, Section};
use super::mistake::Found;
use super::node::{Entry, Node, Value};
use super::{reference, secrets, text};
use crate::Invalid;
use crate::names::nearest;

/// Reports what in a map is not as its section says.
pub(super) fn map(section: &Section, node: &Node, found: &mut Found<'_>) {
    let Value::Map(entries) = &node.value else {
        return mismatch(node, &format!("{} is a map", section.what), &keys(section), found);
    };
    for entry in entries {
        match section.fields.iter().find(|field| field.name == entry.key) {
            Some(Field { kind: Kind::Later(what), .. }) => {
                let message = format!("`{}` is not yet in this version: {what}", entry.key);
                found.add(entry.place, message, "leave it out until a version brings it");
            }
            Some(field) => value(&field.kind, &entry.key, &entry.value, found),
            None => unknown(section, entry, found),
        }
    }
    for field in section.fields.iter().filter(|field| field.need == Need::Required) {
        if node.entry(field.name).is_none() && !asks_for_later(section, node) {
            let message = format!("{} has no `{}`", section.what, field.name);
            found.add(node.place, message, format!("add `{}:` to it. {}", field.name, field.about));
        }
    }
}

/// Whether a map has a key of a later version: then what it lacks may be what that version does without.
fn asks_for_later(section: &Section, node: &Node) -> bool {
    let later = |entry: &Entry| {
        section.fields.iter().any(|field| field.name == entry.key && matches!(field.kind, Kind::Later(_)))
    };
    node.entries().iter().any(later)
}

fn unknown(section: &Section, entry: &Entry, found: &mut Found<'_>) {
    let known = section.fields.iter().map(|field| field.name);
    let help = match nearest(&entry.key, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => keys(section),
    };
    let is_alone = entry.value.kind() == "nothing" && nearest(&entry.key, known).is_none();
    // Where a colon is missing or wrong, a value is read as a key, and may be a secret.
    let key = if is_alone { "…".to_owned() } else { secrets::printable(&entry.key) };
    found.add(entry.place, format!("{} has no key `{key}`", section.what), help);
}

fn keys(section: &Section) -> String {
    let present = section.fields.iter().filter(|field| !matches!(field.kind, Kind::Later(_)));
    format!("its keys are {}", present.map(|field| field.name).collect::<Vec<_>>().join(", "))
}

fn value(kind: &Kind, key: &str, node: &Node, found: &mut Found<'_>) {
    if matches!(node.value, Value::Broken) {
        return;
    }
    if node.kind() == "nothing" {
        return found.add(node.place, format!("`{key}` has no value"), "write one, or leave the key out");
    }
    match (kind, &node.value) {
        (Kind::Either(kinds), _) => either(kinds, key, node, found),
        (Kind::Map(section), _) => map(section, node, found),
        (Kind::Named { each, .. }, Value::Map(entries)) => {
            entries.iter().for_each(|entry| value(each, &entry.key, &entry.value, found));
        }
        (Kind::Named { .. }, _) => {
            let help = "write a name for each, and after its colon what it says";
            mismatch(node, &format!("`{key}` is a map from names to values"), help, found);
        }
        (Kind::List(kind), Value::List(items)) => items.iter().for_each(|item| value(kind, key, item, found)),
        (Kind::List(_), _) => mismatch(node, &format!("`{key}` is a list"), "write `- ` before each item", found),
        (kind, Value::Scalar { text, quoted, .. }) => {
            if let Err(invalid) = scalar(kind, key, text, *quoted) {
                nonconforming(kind, key, node, &invalid, found);
            }
        }
        _ => mismatch(node, &format!("`{key}` is a single value"), "write one value after the colon", found),
    }
}

/// Reports a single value that is not what its key takes. One that came from elsewhere may be a secret, and is not told.
fn nonconforming(kind: &Kind, key: &str, node: &Node, invalid: &Invalid, found: &mut Found<'_>) {
    match &node.value {
        Value::Scalar { from: Some(from), text, .. } if !text.trim().is_empty() => {
            let help = format!("set it to what `{key}` takes: {}", reference::words(kind));
            found.add(node.place, format!("`{key}` cannot be the value of {from}"), help);
        }
        _ => found.add_invalid(node.place, invalid),
    }
}

/// A value is held against the kind of its shape: the map, the list, or any of the single ones.
fn either(kinds: &[Kind], key: &str, node: &Node, found: &mut Found<'_>) {
    let of_shape = kinds.iter().find(|kind| match &node.value {
        Value::Map(_) => matches!(kind, Kind::Map(_) | Kind::Named { .. }),
        Value::List(_) => matches!(kind, Kind::List(_)),
        _ => false,
    });
    if let Some(kind) = of_shape {
        return value(kind, key, node, found);
    }
    let single = |kind: &&Kind| !matches!(kind, Kind::Map(_) | Kind::Named { .. } | Kind::List(_));
    let Value::Scalar { text, quoted, .. } = &node.value else {
        return mismatch(node, &format!("`{key}` is a single value"), "write one value after the colon", found);
    };
    let mut last = None;
    for kind in kinds.iter().filter(single) {
        match scalar(kind, key, text, *quoted) {
            Ok(()) => return,
            Err(invalid) => last = Some((kind, invalid)),
        }
    }
    match (last, kinds.iter().find(|kind| matches!(kind, Kind::Map(_)))) {
        (Some((kind, invalid)), _) if !matches!(kinds, [Kind::Choice(["false"]), Kind::Map(_)]) => {
            nonconforming(kind, key, node, &invalid, found);
        }
        (_, Some(Kind::Map(section))) => {
            mismatch(node, &format!("`{key}` is a map, or `false`"), &keys(section), found);
        }
        _ => mismatch(node, &format!("`{key}` is a list"), "write `- ` before each item", found),
    }
}

fn scalar(kind: &Kind, key: &str, text: &str, quoted: bool) -> Result<(), Invalid> {
    match kind {
        Kind::Flag if !quoted && (text == "true" || text == "false") => Ok(()),
        Kind::Flag => Err(Invalid::new(
            format!("`{text}` is not true or false"),
            format!("write `{key}: true` or `{key}: false`"),
        )),
        Kind::Count { least, most } => match text.parse::<u64>() {
            Ok(count) if !quoted && (*least..=*most).contains(&count) && is_plain(text) => Ok(()),
            _ => Err(Invalid::new(
                format!("`{text}` is no whole number from {least} to {most}"),
                format!("write for example `{key}: {}`", (*least).max(10).min(*most)),
            )),
        },
        Kind::Choice(words) if words.contains(&text) => Ok(()),
        Kind::Choice(words) => {
            let meant = nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`? "));
            let choices = words.join(", ");
            let help = match words {
                [word] => format!("write `{word}`"),
                _ => format!("{}it is one of {choices}", meant.unwrap_or_default()),
            };
            Err(Invalid::new(format!("`{key}` cannot be `{text}`"), help))
        }
        Kind::Text(form) => text::conforms(*form, text),
        _ => Ok(()),
    }
}

/// Whether a number is written as numbers are: `007` and `+7` are something else.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

fn mismatch(node: &Node, message: &str, help: &str, found: &mut Found<'_>) {
    if !matches!(node.value, Value::Broken) {
        found.add(node.place, format!("{message}, and here is {}", node.kind()), help);
    }
}
