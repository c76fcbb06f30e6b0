//! As much of JSON Schema as the policy's schema uses, so that files can be held against it.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A YAML text as JSON, by the types of YAML's core schema.
pub(crate) fn json(text: &str) -> Value {
    let mut events = Parser::new_from_str(text).map(|event| event.unwrap().0);
    let mut next = || {
        let content = |event: &Event<'_>| {
            matches!(
                event,
                Event::Scalar(..)
                    | Event::SequenceStart(..)
                    | Event::SequenceEnd
                    | Event::MappingStart(..)
                    | Event::MappingEnd
            )
        };
        events.by_ref().find(content)
    };
    node(next().unwrap(), &mut next)
}

fn node<'t>(event: Event<'t>, next: &mut impl FnMut() -> Option<Event<'t>>) -> Value {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) => {
            // What YAML's core schema takes for another type, JSON writes alike.
            serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.into_owned()))
        }
        Event::Scalar(text, ..) => Value::from(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match next().unwrap() {
                    Event::SequenceEnd => return Value::from(items),
                    event => items.push(node(event, next)),
                }
            }
        }
        _ => {
            let mut fields = Map::new();
            loop {
                match next().unwrap() {
                    Event::Scalar(key, ..) => {
                        let event = next().unwrap();
                        fields.insert(key.into_owned(), node(event, next));
                    }
                    _ => return Value::from(fields),
                }
            }
        }
    }
}

/// Holds a value against a schema.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(rules) = schema else {
        return if schema == &Value::Bool(false) { Err(format!("{value} is not allowed")) } else { Ok(()) };
    };
    for (keyword, rule) in rules {
        let holds = match keyword.as_str() {
            "type" => kinds(rule).iter().any(|kind| is(kind, value)),
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_u64().is_none_or(|number| number >= rule.as_u64().unwrap()),
            "maximum" => value.as_u64().is_none_or(|number| number <= rule.as_u64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap()),
            "pattern" => {
                value.as_str().is_none_or(|text| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(text))
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|schema| check(schema, value).is_ok()),
            "required" => value.as_object().is_none_or(|fields| {
                rule.as_array().unwrap().iter().all(|key| fields.contains_key(key.as_str().unwrap()))
            }),
            "items" => {
                value.as_array().into_iter().flatten().try_for_each(|item| check(rule, item))?;
                true
            }
            "propertyNames" => {
                let mut names = value.as_object().into_iter().flat_map(|fields| fields.keys());
                names.try_for_each(|name| check(rule, &Value::from(name.as_str())))?;
                true
            }
            "properties" | "additionalProperties" => {
                if keyword == "properties" || !rules.contains_key("properties") {
                    members(rules, value)?;
                }
                true
            }
            "$schema" | "title" | "description" | "default" | "examples" | "writeOnly" => true,
            unknown => return Err(format!("the test does not know `{unknown}`")),
        };
        if !holds {
            return Err(format!("{value} breaks {keyword}: {rule}"));
        }
    }
    Ok(())
}

fn members(rules: &Map<String, Value>, value: &Value) -> Result<(), String> {
    for (key, value) in value.as_object().into_iter().flatten() {
        let named = rules.get("properties").and_then(|named| named.get(key));
        let schema = named.or_else(|| rules.get("additionalProperties")).unwrap_or(&Value::Bool(true));
        check(schema, value).map_err(|problem| format!("{key}: {problem}"))?;
    }
    Ok(())
}

fn kinds(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        other => panic!("the test does not know the type {other}"),
    }
}
