use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::rows::read_text;
use super::{Passage, Question};
use crate::{Error, Result};

/// Reads a set of ids: one a line, or JSON (a list, or an object whose values are lists or ids).
/// `m0..m12` stands for the thirteen ids m0 to m12.
pub fn read_ids(path: &Path) -> Result<BTreeSet<String>> {
    let text = read_text(path)?;
    let mut ids = BTreeSet::new();
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => from_json(&value, &mut ids),
        Err(_) => text.lines().for_each(|line| insert(line, &mut ids)),
    }
    if ids.is_empty() {
        return Err(Error::Usage(format!("{}: no id in it", path.display())));
    }
    Ok(ids)
}

/// Keeps what `ids` names. A set that names no passage leaves the passages alone, one that names no question the
/// questions, so that one option serves both; a set that names neither is an error.
pub fn restrict(
    ids: &BTreeSet<String>,
    passages: &mut Vec<Passage>,
    questions: &mut Vec<Question>,
) -> Result<()> {
    let names_passages = passages.iter().any(|passage| ids.contains(&passage.id));
    let names_questions = questions.iter().any(|question| ids.contains(&question.qid));
    if names_passages {
        passages.retain(|passage| ids.contains(&passage.id));
    }
    if names_questions {
        questions.retain(|question| ids.contains(&question.qid));
    }
    if names_passages || names_questions {
        Ok(())
    } else {
        Err(Error::Usage(
            "none of the ids to include is that of a passage or of a question".to_owned(),
        ))
    }
}

fn from_json(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::String(id) => insert(id, ids),
        Value::Number(id) => insert(&id.to_string(), ids),
        Value::Array(items) => items.iter().for_each(|item| from_json(item, ids)),
        Value::Object(fields) => fields.values().for_each(|item| from_json(item, ids)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn insert(written: &str, ids: &mut BTreeSet<String>) {
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
    fn ids_of_passages_and_of_questions() {
        let check = |named: &[&str], expected: Option<(usize, usize)>| {
            let mut passages: Vec<Passage> = ["p1", "p2"]
                .map(|id| Passage {
                    id: id.to_owned(),
                    title: String::new(),
                    text: String::new(),
                    scope: None,
                    turn: None,
                })
                .into();
            let mut questions: Vec<Question> = ["q1", "q2", "q3"]
                .map(|qid| Question {
                    qid: qid.to_owned(),
                    text: String::new(),
                    gold: vec!["p1".to_owned()],
                    groups: Vec::new(),
                    scope: None,
                    part: None,
                })
                .into();
            let ids = named.iter().map(|id| (*id).to_owned()).collect();
            let left = restrict(&ids, &mut passages, &mut questions)
                .ok()
                .map(|()| (passages.len(), questions.len()));
            assert_eq!(left, expected, "{named:?}");
        };
        check(&["p1", "p7"], Some((1, 3)));
        check(&["q1", "q2"], Some((2, 2)));
        check(&["p2", "q3"], Some((1, 1)));
        check(&["other"], None);
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
