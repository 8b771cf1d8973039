//! Replies as models write them, read as generously as can be without guessing.

use serde_json::{Map, Value};

use super::claim::claim_of;
use super::delimited;
use super::raw::{RawEntity, RawRelation, RawReply};
use super::reply_item::{entity_of, field, relation_of};
use super::written_triples;
use crate::language_model::{lenient_json, without_thoughts};

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is empty")]
    Empty,
    #[error("it holds only thoughts and no answer")]
    OnlyThoughts,
    #[error("there is no JSON in it")]
    NoJson,
    #[error("its JSON has neither entities nor relations")]
    OtherJson,
    #[error("it says nothing of this passage")]
    NoPart,
}

/// Reads a reply to an extraction prompt: JSON with whatever stands around it, or one of the delimited
/// formats of other tools.
///
/// # Errors
/// There is nothing to read in it.
pub fn read_reply(text: &str) -> Result<RawReply, Unreadable> {
    let (answer, had_thoughts) = without_thoughts(text);
    let answer = answer.trim();
    if answer.is_empty() {
        return Err(if had_thoughts {
            Unreadable::OnlyThoughts
        } else {
            Unreadable::Empty
        });
    }
    let mut reply = RawReply::default();
    // What comes first is the form of the reply; the other one may stand in what it says.
    let before_json = answer.find(['{', '[']).unwrap_or(answer.len());
    if delimited::has_record(&answer[..before_json]) {
        reply.extend(delimited::read(answer));
        return Ok(reply);
    }
    let mut found_json = false;
    let mut is_recognised = false;
    let mut at = 0;
    // Everything that looks like the start of a value, one after the other: some models answer in pieces.
    while let Some(found) = answer[at..].find(['{', '[']) {
        let start = at + found;
        let Some(mut read) = lenient_json::parse(&answer[start..]) else {
            at = start + 1;
            continue;
        };
        at = start + read.length.max(1);
        let is_structured =
            !matches!(&read.value, Value::Array(items) if items.iter().all(is_scalar));
        if !is_structured {
            continue;
        }
        found_json = true;
        // One that ends with a whole item only forgot its brackets.
        let is_cut = read.is_cut && !answer.ends_with(['}', ']']);
        let said = answer.trim_end_matches(|c: char| c == ',' || c.is_whitespace());
        if is_cut && !said.ends_with(['}', ']']) {
            drop_half(&mut read.value);
        }
        if take(&read.value, &mut reply) {
            is_recognised = true;
            reply.is_cut |= is_cut;
        }
        if at >= answer.len() {
            break;
        }
        at = answer.ceil_char_boundary(at);
    }
    if !is_recognised
        && (delimited::has_record(answer) || (!found_json && delimited::is_ended(answer)))
    {
        reply.extend(delimited::read(answer));
        return Ok(reply);
    }
    if !is_recognised {
        let written = written_triples::read(answer);
        if !written.is_empty() {
            reply.oddities.push("facts written as calls");
            reply.extend(written);
            return Ok(reply);
        }
    }
    if !found_json {
        return match answer
            .trim_matches(['"', '\'', '`', '.', ' '])
            .to_lowercase()
            .as_str()
        {
            // The model says that there is nothing.
            "none" | "null" | "n/a" | "nothing" | "[]" => {
                reply.oddities.push("a word instead of JSON");
                Ok(reply)
            }
            _ if answer.starts_with("[]") => Ok(reply),
            _ => Err(Unreadable::NoJson),
        };
    }
    if !is_recognised {
        return Err(Unreadable::OtherJson);
    }
    Ok(reply)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

/// Takes the last item out of a value that was cut: half a name is another name.
fn drop_half(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(last) = map.values_mut().next_back() {
                drop_half(last);
            }
        }
        Value::Array(items) => {
            let holds_lists = |item: &Value| {
                let map = item.as_object();
                map.is_some_and(|map| LISTS.iter().any(|names| field(map, names).is_some()))
            };
            match items.last_mut() {
                Some(last) if holds_lists(last) => drop_half(last),
                _ => drop(items.pop()),
            }
        }
        _ => {}
    }
}

/// Names of lists of entities, of relations, of claims.
const LISTS: [&[&str]; 3] = [
    &["entities", "nodes", "entity", "node", "concepts"],
    &[
        "relations",
        "relationships",
        "edges",
        "triples",
        "facts",
        "relation",
        "links",
    ],
    &["claims", "covariates"],
];

/// Adds what a value says. False when it is not of a form we know.
fn take(value: &Value, reply: &mut RawReply) -> bool {
    match value {
        Value::Object(map) => take_object(map, reply),
        Value::Array(items) => {
            reply
                .oddities
                .push("an array where an object was asked for");
            let mut any = items.is_empty();
            for item in items {
                any |= take(item, reply);
            }
            any
        }
        _ => false,
    }
}

pub(super) fn take_object(map: &Map<String, Value>, reply: &mut RawReply) -> bool {
    let [entities, relations, claims] = LISTS.map(|names| field(map, names));
    let is_list = |value: Option<&Value>| value.is_some_and(|v| v.is_array() || v.is_object());
    // `{"relation": "knows", "source": …}` is one relation, no list of them.
    if !is_list(entities) && !is_list(relations) && !is_list(claims) {
        if let Some(relation) = relation_of(map) {
            reply.relations.push(relation);
            return true;
        }
        // Alone, a title or a text may be anything; with a type it is an entity.
        if let Some(entity) = entity_of(map, None).filter(|entity| entity.kind.is_some()) {
            reply.entities.push(entity);
            return true;
        }
        // An envelope: {"result": {…}}, {"output": "…"}; or lists that are there and null.
        if entities.is_some() || relations.is_some() {
            return true;
        }
        let mut any = false;
        for inner in map.values().filter(|inner| !is_scalar(inner)) {
            any |= take(inner, reply);
        }
        return any;
    }
    for (key, item) in items(entities) {
        match item {
            Value::Object(map) => match entity_of(map, key) {
                Some(entity) => reply.entities.push(entity),
                None => unread(item, reply),
            },
            Value::String(name) => reply.entities.push(RawEntity {
                name: name.clone(),
                kind: key.map(str::to_owned),
                ..RawEntity::default()
            }),
            // `["Ana", "Person"]`, or `"Person": ["Ana", "Bea"]`.
            Value::Array(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                match (key, texts.as_slice()) {
                    (Some(kind), names) if !names.is_empty() => {
                        for name in names {
                            reply.entities.push(RawEntity {
                                name: (*name).to_owned(),
                                kind: Some(kind.to_owned()),
                                ..RawEntity::default()
                            });
                        }
                    }
                    (None, [name, rest @ ..]) => reply.entities.push(RawEntity {
                        name: (*name).to_owned(),
                        kind: rest.first().map(|kind| (*kind).to_owned()),
                        description: rest.get(1).map(|text| (*text).to_owned()),
                        ..RawEntity::default()
                    }),
                    _ => unread(item, reply),
                }
            }
            Value::Null => {}
            _ => unread(item, reply),
        }
    }
    for (_, item) in items(relations) {
        match item {
            Value::Object(map) => match relation_of(map) {
                Some(relation) => reply.relations.push(relation),
                None => unread(item, reply),
            },
            Value::Array(parts) => match parts.as_slice() {
                [
                    Value::String(source),
                    Value::String(kind),
                    Value::String(target),
                    ..,
                ] => {
                    reply.relations.push(RawRelation {
                        source: source.clone(),
                        kind: kind.clone(),
                        target: target.clone(),
                        ..RawRelation::default()
                    });
                }
                _ => unread(item, reply),
            },
            Value::Null => {}
            _ => unread(item, reply),
        }
    }
    for (_, item) in items(claims) {
        match item.as_object().map(claim_of) {
            Some(Some(claim)) => reply.claims.push(claim),
            None if item.is_null() => {}
            _ => unread(item, reply),
        }
    }
    true
}

fn unread(item: &Value, reply: &mut RawReply) {
    reply.unread.push(item.to_string());
}

/// The items of a list, or of an object that holds them by name.
fn items(value: Option<&Value>) -> Vec<(Option<&str>, &Value)> {
    match value {
        Some(Value::Array(items)) => items.iter().map(|item| (None, item)).collect(),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(key, item)| (Some(key.as_str()), item))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(reply: &RawReply) -> Vec<&str> {
        reply
            .entities
            .iter()
            .map(|entity| entity.name.as_str())
            .collect()
    }

    fn ties(reply: &RawReply) -> Vec<String> {
        reply
            .relations
            .iter()
            .map(|tie| format!("{} {} {}", tie.source, tie.kind, tie.target))
            .collect()
    }

    #[test]
    fn one_answer_in_many_forms() {
        let answer = r#"{"entities":[{"name":"Ana","type":"Person"},{"name":"Bea"}],"relations":[{"source":"Ana","target":"Bea","type":"KNOWS"}]}"#;
        let check = |text: &str| {
            let reply = read_reply(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(names(&reply), ["Ana", "Bea"], "{text}");
            assert_eq!(ties(&reply), ["Ana KNOWS Bea"], "{text}");
        };
        check(answer);
        check(&format!("```json\n{answer}\n```"));
        check(&format!(
            "Here is what I found:\n\n{answer}\n\nI hope [this] helps {{you}}!"
        ));
        check(&format!(
            "<think>maybe {{\"entities\":[{{\"name\":\"X\"}}]}}</think>{answer}"
        ));
        check(&format!("so {{it}} goes</think>\n{answer}"));
        check(&format!("[{answer}]"));
        check(&format!("{{\"result\": {answer}}}"));
        check(&answer.replace("]}", "],}"));
        check(
            r#"{"nodes":[{"id":"Ana","label":"Person"},{"id":"Bea"}],"edges":[["Ana","KNOWS","Bea"]]}"#,
        );
        check(
            r#"{"entities":["Ana","Bea"],"triples":[{"subject":"Ana","predicate":"KNOWS","object":"Bea"}]}"#,
        );
        check(
            r#"{"Entities":[["Ana","Person"],["Bea","Person"]],"Relationships":[{"from":{"name":"Ana"},"to":"Bea","relation":"KNOWS"}]}"#,
        );
        check(&answer[..answer.len() - 2]);
    }

    #[test]
    fn what_a_quote_says_decides_nothing() {
        for quote in [
            "Models write <think> before they answer",
            "it ends with </think>",
            "fields are parted by <|> and ended by <|COMPLETE|>",
            r#"(\"entity\"<|>ANA<|>PERSON)"#,
        ] {
            let text = format!(
                r#"{{"entities":[{{"name":"Ana"}},{{"name":"Bea"}}],"relations":[{{"source":"Ana","target":"Bea","type":"T","quote":"{quote}"}}]}}"#
            );
            let reply = read_reply(&text).unwrap();
            assert_eq!(names(&reply), ["Ana", "Bea"], "{text}");
            assert_eq!(ties(&reply), ["Ana T Bea"], "{text}");
        }
        let ended = r#"{"entities":[{"name":"Ana"}]}<|COMPLETE|>"#;
        assert_eq!(names(&read_reply(ended).unwrap()), ["Ana"]);
        assert!(read_reply("<|COMPLETE|>").unwrap().is_empty());
        let records = "Found [all of it]:\n(\"entity\"<|>Ana<|>x<|>y)";
        assert_eq!(names(&read_reply(records).unwrap()), ["Ana"]);
        assert_eq!(
            read_reply(r#"{"answer":"a <|> b"}"#).unwrap_err(),
            Unreadable::OtherJson
        );
    }

    #[test]
    fn properties_as_a_quoted_pseudo_dictionary() {
        let text = r#"{"nodes":[{"id":"0","label":"Person","properties":"{'name': 'Ana Prado', 'note': 'said \"yes\"'}"}],"relationships":[]}"#;
        let reply = read_reply(text).unwrap();
        assert_eq!(reply.entities[0].name, "Ana Prado");
        assert_eq!(reply.entities[0].properties["note"], json!("said \"yes\""));
        assert_eq!(reply.entities[0].kind.as_deref(), Some("Person"));
    }

    #[test]
    fn arrays_and_words_where_an_object_was_expected() {
        let reply = read_reply(r#"[{"nodes":[{"id":"A"}],"relationships":[]}]"#).unwrap();
        assert_eq!(names(&reply), ["A"]);
        let reply = read_reply(r#"[{"source":"A","type":"USES","target":"B"}]"#).unwrap();
        assert_eq!(ties(&reply), ["A USES B"]);
        let reply = read_reply("\"none\"").unwrap();
        assert!(reply.is_empty());
        assert_eq!(reply.oddities, ["a word instead of JSON"]);
    }

    #[test]
    fn what_is_no_answer_says_so() {
        let check = |text: &str, expected: Unreadable| {
            assert_eq!(read_reply(text).unwrap_err(), expected, "{text}");
        };
        check("", Unreadable::Empty);
        check("  \n", Unreadable::Empty);
        check("<think>I should", Unreadable::OnlyThoughts);
        check("<think>a</think>  ", Unreadable::OnlyThoughts);
        check("Let me analyse the text…", Unreadable::NoJson);
        check(
            r#"I am sorry, I cannot do that. {"broken": [1, 2"#,
            Unreadable::OtherJson,
        );
        check(r#"{"answer": 42}"#, Unreadable::OtherJson);
    }

    #[test]
    fn an_empty_answer_is_an_answer() {
        for text in [
            r#"{"entities":[],"relations":[]}"#,
            r#"{"entities":[]}"#,
            r#"{"entities":null}"#,
            "[]",
        ] {
            assert!(read_reply(text).unwrap().is_empty(), "{text}");
        }
    }

    #[test]
    fn an_item_of_no_known_form_costs_only_itself() {
        let reply = read_reply(
            r#"{"entities":[{"name":"A"},7,{"x":1}],"relations":[["a","b"],["a","b","c"]]}"#,
        )
        .unwrap();
        assert_eq!(names(&reply), ["A"]);
        assert_eq!(ties(&reply), ["a b c"]);
        assert_eq!(reply.unread.len(), 3);
    }

    #[test]
    fn nested_properties_come_back_as_they_came() {
        let profile = json!({"profile":{"title":"stream","tags":["a",{"k":1}]},"year":2011});
        let text = json!({"entities":[{"name":"Kafka","attributes":profile}]}).to_string();
        assert_eq!(
            Value::Object(read_reply(&text).unwrap().entities[0].properties.clone()),
            profile
        );
    }
}
