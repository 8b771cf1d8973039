//! A model's opinion on names that may mean one thing.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::prompt::Prompts;
use crate::language_model::{ChatRequest, Message, Role, lenient_json};

/// Room for the answer about one pair.
const TOKENS_PER_PAIR: u32 = 32;

/// A name with what is known of it, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedName {
    pub name: String,
    pub about: String,
}

/// Asks which of these pairs are one thing.
pub fn judge_request(prompts: &Prompts, pairs: &[(JudgedName, JudgedName)]) -> ChatRequest {
    let mut user = String::new();
    for (number, (one, other)) in pairs.iter().enumerate() {
        let _ = writeln!(user, "{}. {} | {}", number + 1, shown(one), shown(other));
    }
    let text = json!({ "type": "string", "enum": ["yes", "no", "unsure"] });
    ChatRequest {
        messages: vec![
            Message {
                role: Role::System,
                text: prompts.judge.fill(&[]),
            },
            Message {
                role: Role::User,
                text: user,
            },
        ],
        max_output_tokens: 64 + TOKENS_PER_PAIR * pairs.len() as u32,
        temperature: 0.0,
        reply_schema: Some(json!({
            "type": "object",
            "properties": { "pairs": { "type": "array", "items": {
                "type": "object",
                "properties": { "number": { "type": "integer" }, "same": text },
                "required": ["number", "same"],
            } } },
            "required": ["pairs"],
        })),
    }
}

fn shown(name: &JudgedName) -> String {
    if name.about.is_empty() {
        format!("{:?}", name.name)
    } else {
        format!("{:?} ({})", name.name, name.about)
    }
}

/// What a reply says of each of `count` pairs; `None` where it does not say, or does not know. Numbers that
/// were never asked about are left out.
///
/// # Errors
/// The reply holds no verdicts.
pub fn read_verdicts(reply: &str, count: usize) -> Result<Vec<Option<bool>>, String> {
    let mut verdicts = vec![None; count];
    let mut is_any = false;
    let mut at = 0;
    while let Some(found) = reply[at..].find(['{', '[']) {
        let start = at + found;
        let Some(read) = lenient_json::parse(&reply[start..]) else {
            break;
        };
        for item in items_of(&read.value) {
            let number = match &item["number"] {
                Value::Number(number) => number.as_u64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            let place = number.and_then(|number| (number as usize).checked_sub(1));
            if let Some(place) = place.filter(|&place| place < count) {
                is_any = true;
                verdicts[place] = verdict_of(&item["same"]);
            }
        }
        at = reply.ceil_char_boundary((start + read.length.max(1)).min(reply.len()));
    }
    if is_any {
        Ok(verdicts)
    } else {
        Err("the reply holds no verdicts".to_owned())
    }
}

fn items_of(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(items_of).collect(),
        Value::Object(map) if map.contains_key("number") => vec![value],
        Value::Object(map) => map.values().flat_map(items_of).collect(),
        _ => Vec::new(),
    }
}

fn verdict_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(is_same) => Some(*is_same),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "yes" | "true" | "same" | "sim" | "sí" => Some(true),
            "no" | "false" | "different" | "não" | "nao" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_however_they_are_wrapped() {
        let check = |reply: &str, expected: &[Option<bool>]| {
            assert_eq!(
                read_verdicts(reply, expected.len()).unwrap(),
                expected,
                "{reply}"
            );
        };
        check(
            r#"{"pairs":[{"number":1,"same":"yes"},{"number":2,"same":"no"}]}"#,
            &[Some(true), Some(false)],
        );
        check(
            "Sure:\n```json\n[{\"number\":\"2\",\"same\":true}]\n```",
            &[None, Some(true)],
        );
        check(r#"{"number":1,"same":"unsure"}"#, &[None]);
        // A number that was never offered changes nothing.
        check(
            r#"{"pairs":[{"number":12,"same":"yes"},{"number":0,"same":"yes"},{"number":1,"same":"no"}]}"#,
            &[Some(false)],
        );
        assert!(read_verdicts("I think they are the same.", 1).is_err());
        assert!(read_verdicts("", 1).is_err());
    }

    #[test]
    fn the_question_as_it_is_sent() {
        let name = |name: &str, about: &str| JudgedName {
            name: name.to_owned(),
            about: about.to_owned(),
        };
        let pairs = [(name("J. Silva", "Person"), name("João Silva", ""))];
        let request = judge_request(&Prompts::builtin(), &pairs);
        assert_eq!(
            request.messages[1].text,
            "1. \"J. Silva\" (Person) | \"João Silva\"\n"
        );
        assert!(
            request.messages[0]
                .text
                .starts_with("You decide which names mean one")
        );
    }
}
