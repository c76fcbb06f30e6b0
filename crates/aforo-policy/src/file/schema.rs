//! The JSON Schema of the policy file, made from the table of fields.

use serde_json::{Map, Value, json};

use super::field::{Field, Kind, Need, Section, Text};
use super::fields::FILE;

/// The JSON Schema of a policy file, in the draft of 2020-12: for editors, and for programs that write such files.
pub fn schema() -> Value {
    let mut schema = section(&FILE);
    if let Value::Object(fields) = &mut schema {
        fields.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        fields.insert("title".into(), "aforo policy".into());
    }
    schema
}

fn section(section: &Section) -> Value {
    let present = || section.fields.iter().filter(|field| !matches!(field.kind, Kind::Later(_)));
    let properties: Map<String, Value> = present().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<&str> = present().filter(|field| field.need == Need::Required).map(|field| field.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Value::Object(fields) = &mut schema
        && !required.is_empty()
    {
        fields.insert("required".into(), json!(required));
    }
    schema
}

fn property(field: &Field) -> Value {
    let mut schema = or_environment(&field.kind);
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".into(), field.about.into());
        if let Some(default) = default(field) {
            fields.insert("default".into(), default);
        }
    }
    schema
}

/// The default as JSON, where it is a single value.
fn default(field: &Field) -> Option<Value> {
    match field.default {
        "" => None,
        "true" => Some(true.into()),
        "false" => Some(false.into()),
        text if text.starts_with('{') => None,
        text => Some(text.parse::<u64>().map_or_else(|_| text.into(), Value::from)),
    }
}

/// A value of a kind. Numbers and words may also come from the environment.
fn or_environment(kind: &Kind) -> Value {
    match kind {
        Kind::Flag | Kind::Count { .. } | Kind::Choice(_) => json!({ "anyOf": [value(kind), from_environment()] }),
        _ => value(kind),
    }
}

fn from_environment() -> Value {
    json!({ "type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}" })
}

fn value(kind: &Kind) -> Value {
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Choice(["false"]) => json!({ "const": false }),
        Kind::Choice([word]) => json!({ "const": word }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Text(Text::Any) => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Text(form) => text(*form),
        Kind::List(kind) => json!({ "type": "array", "items": value(kind) }),
        Kind::Map(fields) => section(fields),
        Kind::Named { names, each } => json!({
            "type": "object",
            "propertyNames": { "pattern": names },
            "additionalProperties": value(each),
        }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(or_environment).collect::<Vec<_>>() }),
        Kind::Later(_) => Value::Bool(false),
    }
}

fn text(form: Text) -> Value {
    let duration = r"^\s*[0-9]+\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)\s*$";
    let quota = r"^\s*(unlimited|[0-9]+\s*(/|\sper\s)\s*[0-9]*\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?))\s*$";
    let (pattern, example) = match form {
        Text::Duration => (duration, "10s"),
        Text::Deadline => (r"^\s*[0-9]+\s*(ms|s|sec|seconds?)\s*$", "50ms"),
        Text::Prefix => (r"^[!-z|~]{1,64}$", "aforo"),
        Text::Quota => (quota, "300/min"),
        Text::Percent => (r"^\s*([1-9][0-9]?|100)\s*%\s*$", "90%"),
        Text::Fact => ("^(ip|client|user|plan|route|path|host|everyone|(header|cookie|query):.+)$", "client"),
        Text::Match => (r"^\s*\S+\s+/.*$", "POST /auth/login"),
        Text::Path => ("^/", "/health"),
        Text::Store => ("^(memory|rediss?(-cluster|-sentinel)?://.+)$", "redis://127.0.0.1:6379/0"),
        Text::Url => ("^https?://[^/?#@]+/?$", "http://127.0.0.1:3000"),
        Text::Address => (r"^.+:[0-9]+$", "127.0.0.1:8080"),
        Text::HeaderName => (r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "x-http-method-override"),
        Text::Host => (r"^[^/*]+$", "api.example"),
        Text::Leeway => (r"^\s*[0-9]+\s*(ms|s|sec|seconds?|m|min|minutes?)\s*$", "60s"),
        Text::Origin => (r"^(\*|https?://[^/?#@]+)$", "https://app.example"),
        Text::Sha256 => ("^[0-9A-Fa-f]{64}$", "a hash"),
        Text::User => (r"^[^\x00-\x1f\x7f]{1,256}$", "alice"),
        Text::Secret => return json!({ "type": "string", "minLength": 1, "writeOnly": true }),
        Text::Any | Text::File | Text::Network => return json!({ "type": "string", "minLength": 1 }),
    };
    json!({ "anyOf": [{ "type": "string", "pattern": pattern }, from_environment()], "examples": [example] })
}
