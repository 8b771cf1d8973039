//! Schemas of arguments and answers, written short.

use serde_json::{Map, Value, json};

/// An object with these properties and no others; some of them are needed.
pub(super) fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// An object of which pages are taken: `limit` is the length of one, `cursor` the next.
pub(super) fn paged(required: &[&str], mut properties: Value) -> Value {
    properties["cursor"] = text("`next_cursor` of the page before; the first page if not said");
    object(required, &properties)
}

pub(super) fn text(what: &str) -> Value {
    json!({"type": "string", "description": what})
}

pub(super) fn name() -> Value {
    text("Name, alias or public id")
}

pub(super) fn date(what: &str) -> Value {
    text(&format!("{what}: 2024, 2024-05-01 or with a time"))
}

pub(super) fn number(what: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": what})
}

pub(super) fn flag(what: &str) -> Value {
    json!({"type": "boolean", "description": what})
}

/// One of these words.
pub(super) fn one_of(words: &[&str], what: &str) -> Value {
    json!({"type": "string", "enum": words, "description": what})
}

pub(super) fn list(what: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": what})
}

/// A list of objects with these properties.
pub(super) fn list_of(required: &[&str], properties: &Value) -> Value {
    json!({"type": "array", "items": object(required, properties)})
}

/// The schema of an answer that looks like this: names of types in the place of values, `"string?"` for what may be
/// null or missing, `"any"` for what is not told. Answers may hold more.
pub(super) fn answer(like: &Value) -> Value {
    match like {
        Value::String(kind) => match kind.as_str() {
            "any" => json!({}),
            kind => match kind.strip_suffix('?') {
                Some(kind) => json!({"type": [kind, "null"]}),
                None => json!({"type": kind}),
            },
        },
        Value::Array(items) => match items.first() {
            Some(item) => json!({"type": "array", "items": answer(item)}),
            None => json!({"type": "array"}),
        },
        Value::Object(fields) => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(name, like)| (name.trim_end_matches('?').to_owned(), answer(like)))
                .collect();
            let is_needed = |name: &str, like: &Value| {
                !name.ends_with('?') && !like.as_str().is_some_and(|kind| kind.ends_with('?'))
            };
            let required: Vec<&String> = fields
                .iter()
                .filter(|(name, like)| is_needed(name, like))
                .map(|(name, _)| name)
                .collect();
            json!({"type": "object", "properties": properties, "required": required})
        }
        other => unreachable!("no type is called {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_described_by_its_likeness() {
        let found = answer(
            &json!({"query": "string", "at": "string?", "list": [{"n": "integer"}], "rest?": "any"}),
        );
        let expected = json!({"type": "object", "required": ["query", "list"], "properties": {
            "query": {"type": "string"},
            "at": {"type": ["string", "null"]},
            "list": {"type": "array", "items":
                {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
            "rest": {},
        }});
        assert_eq!(found, expected);
    }
}
