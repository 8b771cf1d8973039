//! A schema proposed by a model from a sample of passages.

use serde_json::Value;

use super::passage::Passage;
use super::prompt::Prompts;
use super::schema::{EntityType, RelationType, Schema};
use crate::language_model::{ChatRequest, Message, Role, lenient_json};
use crate::text::clean_name;

/// Characters of each passage that are shown.
const SHOWN: usize = 1_500;

/// Asks for a schema that fits these passages.
pub fn infer_request(
    prompts: &Prompts,
    language: Option<&str>,
    passages: &[&Passage],
    max_output_tokens: u32,
) -> ChatRequest {
    let language = language.map_or("the language of the passages", |language| language);
    let system = prompts.infer.fill(&[("language", language)]);
    let texts: Vec<String> = passages
        .iter()
        .enumerate()
        .map(|(number, passage)| {
            let shown: String = passage.text.chars().take(SHOWN).collect();
            format!("Passage {}:\n{shown}", number + 1)
        })
        .collect();
    let message = |role, text| Message { role, text };
    ChatRequest {
        messages: vec![
            message(Role::System, system),
            message(Role::User, texts.join("\n\n")),
        ],
        max_output_tokens,
        temperature: 0.0,
        reply_schema: None,
    }
}

/// The schema in a reply; what cannot be read of it is left out.
///
/// # Errors
/// There is no schema in it.
pub fn read_schema_reply(text: &str) -> Result<Schema, String> {
    let mut at = 0;
    while let Some(found) = text[at..].find('{') {
        let start = at + found;
        let Some(read) = lenient_json::parse(&text[start..]) else {
            break;
        };
        let schema = schema_of(&read.value);
        if !schema.is_free() {
            return Ok(schema);
        }
        at = text.ceil_char_boundary((start + read.length.max(1)).min(text.len()));
    }
    Err("the reply holds no schema".to_owned())
}

fn schema_of(value: &Value) -> Schema {
    let mut schema = Schema::default();
    for (name, item) in named(value, &["entity", "entities", "entity_types", "nodes"]) {
        let mut kind: EntityType = serde_json::from_value(known_fields(&item)).unwrap_or_default();
        kind.examples.truncate(3);
        schema.entity.insert(name, kind);
    }
    for (name, item) in named(
        value,
        &["relation", "relations", "relation_types", "relationships"],
    ) {
        let mut kind: RelationType =
            serde_json::from_value(known_fields(&item)).unwrap_or_default();
        // A type that the model did not declare would make the schema unusable.
        for ends in [&mut kind.source, &mut kind.target] {
            ends.retain(|end| schema.entity_type(end).is_some());
        }
        schema.relation.insert(name, kind);
    }
    schema
}

/// Items by name, from an object of them or from a list.
fn named(value: &Value, fields: &[&str]) -> Vec<(String, Value)> {
    let Some(items) = fields.iter().find_map(|field| value.get(*field)) else {
        return Vec::new();
    };
    let pairs: Vec<(Option<&str>, &Value)> = match items {
        Value::Object(map) => map
            .iter()
            .map(|(name, item)| (Some(name.as_str()), item))
            .collect(),
        Value::Array(list) => list
            .iter()
            .map(|item| (item["name"].as_str().or(item.as_str()), item))
            .collect(),
        _ => Vec::new(),
    };
    pairs
        .into_iter()
        .filter_map(|(name, item)| Some((clean_name(name?).ok()?, item.clone())))
        .collect()
}

/// Only the fields that a type has, with a single text where a list is due made one.
fn known_fields(item: &Value) -> Value {
    const LISTS: [&str; 5] = ["aliases", "properties", "examples", "source", "target"];
    const OTHERS: [&str; 4] = ["description", "exclusive", "symmetric", "reflexive"];
    let mut out = serde_json::Map::new();
    for (name, value) in item.as_object().into_iter().flatten() {
        let value = match (LISTS.contains(&name.as_str()), value) {
            (true, Value::String(one)) => vec![one.clone()].into(),
            (true, Value::Array(list)) => list
                .iter()
                .filter(|one| one.is_string())
                .cloned()
                .collect::<Vec<_>>()
                .into(),
            (false, Value::String(_) | Value::Bool(_)) if OTHERS.contains(&name.as_str()) => {
                value.clone()
            }
            _ => continue,
        };
        out.insert(name.clone(), value);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_read_and_made_whole() {
        let text = "Sure:\n```json\n{\"entity\":{\"Person\":{\"description\":\"a human\",\"examples\":\"Ana\",\"x\":1},\"Place\":{}},\
            \"relation\":{\"LIVES_IN\":{\"source\":\"Person\",\"target\":[\"Place\",\"Planet\"],\"exclusive\":true}}}\n```";
        let schema = read_schema_reply(text).unwrap();
        assert_eq!(schema.entity["Person"].examples, ["Ana"]);
        assert_eq!(schema.relation["LIVES_IN"].target, ["Place"]);
        assert!(schema.relation["LIVES_IN"].exclusive);
        assert_eq!(schema.check().errors, Vec::<String>::new());
        let list = r#"{"entities":[{"name":"Person"},"Place"],"relations":[]}"#;
        assert_eq!(read_schema_reply(list).unwrap().entity.len(), 2);
        assert!(read_schema_reply("no idea").is_err());
    }
}
