//! Replies about several passages at once: each passage's own part.

use serde_json::{Map, Value};

use super::raw::RawReply;
use super::reply::{Unreadable, take_object};
use super::reply_item::field;
use crate::language_model::{lenient_json, without_thoughts};

/// Names of what a reply numbers its parts with.
const NUMBER: [&str; 4] = ["passage", "number", "id", "index"];

/// What a reply about `of` passages says of passage `number`, from 1. A part that is not there, that may have been cut
/// off, or that may be another passage's has to be asked for by itself.
///
/// # Errors
/// There is no whole part that is certain to be of this number.
pub fn read_part(
    text: &str,
    number: usize,
    of: usize,
    is_truncated: bool,
) -> Result<RawReply, Unreadable> {
    let (answer, _) = without_thoughts(text);
    let start = answer.find(['{', '[']).ok_or(Unreadable::NoJson)?;
    let read = lenient_json::parse(&answer[start..]).ok_or(Unreadable::NoJson)?;
    let is_cut = is_truncated || read.is_cut;
    let mut parts = parts_of(&read.value).ok_or(Unreadable::NoPart)?;
    if is_cut {
        // The last one may be half of a part.
        parts.pop();
    }
    let numbers: Vec<Option<usize>> = parts.iter().map(|part| number_of(part)).collect();
    let at = if numbers.iter().all(Option::is_none) {
        // Without numbers they are in order, if there is one for each.
        (parts.len() == of && (1..=of).contains(&number)).then(|| number - 1)
    } else {
        // A number that nobody asked about says that they were counted in another way.
        let is_ours = |number: &Option<usize>| number.is_some_and(|n| (1..=of).contains(&n));
        let mut found = (0..parts.len()).filter(|&at| numbers[at] == Some(number));
        let at = found.next();
        at.filter(|_| numbers.iter().all(is_ours) && found.next().is_none())
    };
    let at = at.ok_or(Unreadable::NoPart)?;
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
            let found = read_part(text, number, 2, false).ok();
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
        assert!(read_part(two, 1, 2, true).is_err());
        assert!(read_part(two, 2, 2, true).is_ok());
        // Counted from nothing, twice the same, or fewer than asked for: whose they are is not known.
        let from_nothing = two.replace(r#""passage":2"#, r#""passage":0"#);
        check(&from_nothing, 1, None);
        check(&two.replace(r#""passage":2"#, r#""passage":1"#), 1, None);
        assert!(read_part(bare, 1, 3, false).is_err());
        assert!(read_part(bare, 1, 2, true).is_err());
    }
}
