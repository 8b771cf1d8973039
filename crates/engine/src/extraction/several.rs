//! Replies about several passages at once: each passage's own part.

use serde_json::{Map, Value};

use super::raw::RawReply;
use super::reply::{Unreadable, take_object};
use super::reply_item::field;
use crate::language_model::{lenient_json, without_thoughts};

/// Names of what a reply numbers its parts with.
const NUMBER: [&str; 4] = ["passage", "number", "id", "index"];

/// What a reply says of passage `number`, from 1. A part that is not there, or that may have been cut off, has to be
/// asked for by itself.
///
/// # Errors
/// There is no whole part of this number.
pub fn read_part(text: &str, number: usize, is_truncated: bool) -> Result<RawReply, Unreadable> {
    let (answer, _) = without_thoughts(text);
    let start = answer.find(['{', '[']).ok_or(Unreadable::NoJson)?;
    let read = lenient_json::parse(&answer[start..]).ok_or(Unreadable::NoJson)?;
    let parts = parts_of(&read.value).ok_or(Unreadable::NoPart)?;
    let at = parts
        .iter()
        .position(|part| number_of(part) == Some(number))
        // Without numbers they are in order, if there is one for each.
        .or_else(|| {
            let is_numbered = parts.iter().any(|part| number_of(part).is_some());
            (!is_numbered && number <= parts.len()).then(|| number - 1)
        })
        .ok_or(Unreadable::NoPart)?;
    let is_last = at + 1 == parts.len();
    if is_last && (is_truncated || read.is_cut) {
        return Err(Unreadable::NoPart);
    }
    let mut reply = RawReply::default();
    if take_object(parts[at], &mut reply) {
        Ok(reply)
    } else {
        Err(Unreadable::NoPart)
    }
}

fn parts_of(value: &Value) -> Option<Vec<&Map<String, Value>>> {
    let list = match value {
        Value::Object(map) => field(map, &["passages", "results", "parts"])?,
        list => list,
    };
    list.as_array()?.iter().map(Value::as_object).collect()
}

fn number_of(part: &Map<String, Value>) -> Option<usize> {
    match field(part, &NUMBER)? {
        Value::Number(number) => number.as_u64().map(|number| number as usize),
        Value::String(text) => text
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_passage_has_its_own_part() {
        let check = |text: &str, number: usize, expected: Option<&str>| {
            let found = read_part(text, number, false).ok();
            let name = found.map(|reply| {
                let names: Vec<&str> = reply.entities.iter().map(|e| e.name.as_str()).collect();
                names.join(",")
            });
            assert_eq!(name.as_deref(), expected, "{number} of {text}");
        };
        let two = r#"{"passages":[{"passage":2,"entities":[{"name":"B"}]},{"passage":1,"entities":[{"name":"A"}]}]}"#;
        check(two, 1, Some("A"));
        check(two, 2, Some("B"));
        check(two, 3, None);
        let fenced = format!("Sure:\n```json\n{two}\n```");
        check(&fenced, 2, Some("B"));
        check(&format!("<think>{{}}</think>{two}"), 1, Some("A"));
        let named =
            r#"[{"passage":"passage 1","entities":["A"]},{"passage":"2","entities":["B"]}]"#;
        check(named, 2, Some("B"));
        let bare = r#"{"passages":[{"entities":[{"name":"A"}]},{"entities":[],"relations":[]}]}"#;
        check(bare, 1, Some("A"));
        check(bare, 2, Some(""));
        check(bare, 3, None);
        check("no", 1, None);
        check(r#"{"entities":[{"name":"A"}]}"#, 1, None);
        // What was cut may be half of a part.
        let cut = &two[..two.len() - 10];
        check(cut, 2, Some("B"));
        check(cut, 1, None);
        assert!(read_part(two, 1, true).is_err());
        assert!(read_part(two, 2, true).is_ok());
    }
}
