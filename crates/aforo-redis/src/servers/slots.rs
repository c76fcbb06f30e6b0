//! Slots: which server owns which, as a server tells it.

use redis::Value;

use crate::endpoint::Endpoint;

/// A run of slots, and the server that owns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<T> {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) owner: T,
}

/// Reads the answer to CLUSTER SLOTS: `[[first, last, [host, port, …], replicas…], …]`, sorted by slot.
///
/// A host that is empty, absent or `?` is the one that was asked: a server need not know its own name.
pub(super) fn read(answer: &Value, asked: &Endpoint) -> Option<Vec<Span<Endpoint>>> {
    let mut spans = array(answer)?.iter().map(|span| one(span, asked)).collect::<Option<Vec<_>>>()?;
    spans.sort_unstable_by_key(|span| span.first);
    Some(spans)
}

/// The owner of a slot.
pub(super) fn owner<T>(spans: &[Span<T>], slot: u16) -> Option<&T> {
    let place = spans.partition_point(|span| span.last < slot);
    spans.get(place).filter(|span| span.first <= slot).map(|span| &span.owner)
}

fn one(span: &Value, asked: &Endpoint) -> Option<Span<Endpoint>> {
    let [first, last, primary, ..] = array(span)? else { return None };
    let [host, port, ..] = array(primary)? else { return None };
    let host = match host {
        Value::Nil => asked.host.clone(),
        host => match redis::from_redis_value_ref::<String>(host).ok()?.as_str() {
            "" | "?" => asked.host.clone(),
            host => host.to_owned(),
        },
    };
    Some(Span { first: number(first)?, last: number(last)?, owner: Endpoint { host, port: number(port)? } })
}

fn array(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

fn number(value: &Value) -> Option<u16> {
    match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn span(first: i64, last: i64, host: Value, port: i64) -> Value {
        let primary = Value::Array(vec![host, Value::Int(port), text("id"), Value::Array(Vec::new())]);
        let replica = Value::Array(vec![text("10.0.0.99"), Value::Int(6379), text("id")]);
        Value::Array(vec![Value::Int(first), Value::Int(last), primary, replica])
    }

    fn asked() -> Endpoint {
        Endpoint::new("seed", 7000)
    }

    #[test]
    fn each_slot_has_the_owner_of_its_span() {
        let answer = Value::Array(vec![
            span(8192, 16383, text("b"), 7002),
            span(0, 99, text("a"), 7001),
            span(101, 8191, text("c"), 7003),
        ]);
        let spans = read(&answer, &asked()).unwrap();
        let owner = |slot| owner(&spans, slot).map(Endpoint::to_string);
        assert_eq!(owner(0).as_deref(), Some("a:7001"));
        assert_eq!(owner(99).as_deref(), Some("a:7001"));
        assert_eq!(owner(100), None, "nobody owns it");
        assert_eq!(owner(101).as_deref(), Some("c:7003"));
        assert_eq!(owner(16383).as_deref(), Some("b:7002"));
    }

    #[test]
    fn a_server_that_does_not_know_its_name_is_where_it_was_asked() {
        for host in [Value::Nil, text(""), text("?")] {
            let spans = read(&Value::Array(vec![span(0, 1, host, 7001)]), &asked()).unwrap();
            assert_eq!(spans[0].owner, Endpoint::new("seed", 7001));
        }
    }

    #[test]
    fn an_answer_of_another_shape_is_not_understood() {
        for answer in [
            Value::Nil,
            Value::Array(vec![Value::Int(0)]),
            Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(1)])]),
            Value::Array(vec![span(-1, 5, text("a"), 1)]),
            Value::Array(vec![span(0, 70000, text("a"), 1)]),
        ] {
            assert_eq!(read(&answer, &asked()), None, "{answer:?}");
        }
    }

    #[test]
    fn a_cluster_without_slots_owns_none() {
        let spans = read(&Value::Array(Vec::new()), &asked()).unwrap();
        assert_eq!(owner(&spans, 0), None);
    }
}
