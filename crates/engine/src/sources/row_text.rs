//! Values of a row as text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Longer column names and ids are cut. Bytes.
pub(super) const MAX_NAME: usize = 200;

/// A value as running text: strings as they are, lists one item a line, objects as `key: value`.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            items.iter().map(plain).collect::<Vec<_>>().join("\n")
        }
        Value::Array(_) | Value::Object(_) => {
            let mut text = String::new();
            write_fields("", value, &mut text);
            text
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// All fields as `name: value` lines.
pub(super) fn all_fields(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (key, value) in fields {
        write_fields(cut(key), value, &mut text);
    }
    text
}

/// Writes `name: value` lines; names of nested values are joined by dots.
fn write_fields(name: &str, value: &Value, text: &mut String) {
    let below = |key: &str| {
        if name.is_empty() {
            key.to_owned()
        } else {
            format!("{name}.{key}")
        }
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                write_fields(cut(&below(cut(key))), value, text);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for item in items {
                write_fields(name, item, text);
            }
        }
        Value::Array(items) => {
            let joined = items.iter().map(plain).collect::<Vec<_>>().join(", ");
            write_fields(name, &Value::String(joined), text);
        }
        scalar => {
            let value = plain(scalar);
            let value = value.trim();
            if !value.is_empty() {
                if !text.is_empty() {
                    text.push('\n');
                }
                if name.is_empty() {
                    text.push_str(value);
                } else {
                    write!(text, "{name}: {value}").expect("writing to a string succeeds");
                }
            }
        }
    }
}

/// A text or number on one line; anything else is empty.
pub(super) fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A name of bounded length.
pub(super) fn cut(name: &str) -> &str {
    let end = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    let end = end.take_while(|end| *end <= MAX_NAME).last();
    &name[..end.unwrap_or(0)]
}
