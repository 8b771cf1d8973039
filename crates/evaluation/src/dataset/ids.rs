use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::rows::read_text;
use crate::{Error, Result};

/// Reads a set of ids: one a line, or JSON (a list, or an object whose values are lists or ids).
/// `m0..m12` stands for the thirteen ids m0 to m12.
pub fn read_ids(path: &Path) -> Result<HashSet<String>> {
    let text = read_text(path)?;
    let mut ids = HashSet::new();
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => from_json(&value, &mut ids),
        Err(_) => text.lines().for_each(|line| insert(line, &mut ids)),
    }
    if ids.is_empty() {
        return Err(Error::Usage(format!("{}: no id in it", path.display())));
    }
    Ok(ids)
}

fn from_json(value: &Value, ids: &mut HashSet<String>) {
    match value {
        Value::String(id) => insert(id, ids),
        Value::Number(id) => insert(&id.to_string(), ids),
        Value::Array(items) => items.iter().for_each(|item| from_json(item, ids)),
        Value::Object(fields) => fields.values().for_each(|item| from_json(item, ids)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn insert(written: &str, ids: &mut HashSet<String>) {
    let id = written.trim();
    match range(id) {
        Some((prefix, numbers)) => ids.extend(numbers.map(|n| format!("{prefix}{n}"))),
        None if id.is_empty() => {}
        None => {
            ids.insert(id.to_owned());
        }
    }
}

/// `m0..m12` as its prefix and numbers.
fn range(id: &str) -> Option<(&str, std::ops::RangeInclusive<u64>)> {
    let (first, last) = id.split_once("..")?;
    let digits = first.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (prefix, from) = first.split_at(digits);
    let to = last.strip_prefix(prefix)?;
    Some((prefix, from.parse().ok()?..=to.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ids");
        std::fs::write(&path, content).unwrap();
        let mut ids: Vec<_> = read_ids(&path).unwrap().into_iter().collect();
        ids.sort();
        assert_eq!(ids, expected, "{content}");
    }

    #[test]
    fn lines_lists_objects_and_ranges() {
        check("a\n b \n\nc/D1:2\n", &["a", "b", "c/D1:2"]);
        check("[\"a\", 3]", &["3", "a"]);
        check("{\"part\": \"m8..m11\"}", &["m10", "m11", "m8", "m9"]);
        check("{\"part\": [\"x\", \"y\"]}", &["x", "y"]);
        check("x..y\n", &["x..y"]);
        check("17\n", &["17"]);
    }

    #[test]
    fn an_empty_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ids");
        std::fs::write(&path, "\n").unwrap();
        assert!(
            read_ids(&path)
                .unwrap_err()
                .to_string()
                .contains("no id in it")
        );
    }
}
