//! One entity or relation of a reply, under the many names that models give its fields.

use serde_json::{Map, Value};

use super::raw::{RawEntity, RawRelation};
use crate::language_model::lenient_json;

/// The first of these fields that is there, whatever its case.
pub(super) fn field<'a>(map: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| {
        map.get(*name).or_else(|| {
            map.iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        })
    })
}

/// A field as text: numbers too, and the name of an object.
pub(super) fn text(map: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let text = match field(map, names)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Object(inner) => return text(inner, &["name", "id", "label", "text"]),
        Value::Array(parts) => parts.iter().find_map(Value::as_str)?.to_owned(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

pub(super) fn entity_of(map: &Map<String, Value>, key: Option<&str>) -> Option<RawEntity> {
    let (mut properties, unread_properties) = properties_of(map);
    let id = text(map, &["id", "entity_id", "node_id", "index"]);
    let named = text(
        map,
        &["name", "entity_name", "entity", "title", "text", "value"],
    )
    .or_else(|| text(&properties, &["name", "title", "label"]))
    .or_else(|| key.map(str::to_owned));
    // In some formats the id is the name.
    let name = named.or_else(|| {
        id.clone()
            .filter(|id| id.chars().any(|c| !c.is_ascii_digit()))
    })?;
    if properties.get("name").and_then(Value::as_str) == Some(name.as_str()) {
        properties.shift_remove("name");
    }
    let aliases = match field(
        map,
        &["aliases", "alias", "alternative_names", "also_known_as"],
    ) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(Value::String(text)) if !text.trim().is_empty() => vec![text.clone()],
        _ => Vec::new(),
    };
    Some(RawEntity {
        id,
        name,
        kind: text(
            map,
            &[
                "type",
                "entity_type",
                "label",
                "labels",
                "category",
                "kind",
                "class",
            ],
        ),
        aliases,
        description: text(
            map,
            &["description", "desc", "summary", "entity_description"],
        ),
        properties,
        unread_properties,
    })
}

pub(super) fn relation_of(map: &Map<String, Value>) -> Option<RawRelation> {
    let source = text(
        map,
        &[
            "source",
            "from",
            "subject",
            "head",
            "source_entity",
            "src",
            "start_node_id",
            "start",
            "source_id",
            "entity1",
            "s",
        ],
    )?;
    let target = text(
        map,
        &[
            "target",
            "to",
            "object",
            "tail",
            "target_entity",
            "tgt",
            "dst",
            "end_node_id",
            "end",
            "target_id",
            "entity2",
            "o",
        ],
    )?;
    let fact = text(
        map,
        &[
            "fact",
            "description",
            "desc",
            "sentence",
            "relationship_description",
        ],
    );
    let kind = text(
        map,
        &[
            "type",
            "relation",
            "relation_type",
            "predicate",
            "relationship",
            "label",
            "rel",
            "keywords",
            "p",
        ],
    );
    let (properties, unread_properties) = properties_of(map);
    Some(RawRelation {
        source,
        target,
        // A tie without a type is still a tie.
        kind: kind.unwrap_or_else(|| "RELATED_TO".to_owned()),
        fact,
        quote: text(map, &["quote", "evidence", "citation", "supporting_text"]),
        status: text(map, &["status", "modality", "certainty"]),
        valid_from: text(
            map,
            &["valid_from", "valid_at", "start_date", "since", "date"],
        ),
        valid_to: text(map, &["valid_to", "invalid_at", "end_date", "until"]),
        properties,
        unread_properties,
    })
}

/// The properties of an item, and what stands there where none can be made of it. A dictionary in quotes is read from
/// the string, and so is a list of pairs of a key and a value.
fn properties_of(map: &Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let Some(value) = field(map, &["properties", "attributes", "props"]) else {
        return (Map::new(), None);
    };
    let read = match value {
        Value::Object(inner) => Some(inner.clone()),
        Value::String(text) if text.trim().is_empty() => Some(Map::new()),
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            lenient_json::parse(text.trim_start()).and_then(|read| dictionary(&read.value))
        }
        Value::Null => Some(Map::new()),
        value => dictionary(value),
    };
    let Some(mut read) = read else {
        let shown = value.as_str().map(str::to_owned);
        return (Map::new(), Some(shown.unwrap_or_else(|| value.to_string())));
    };
    read.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
    (read, None)
}

/// A dictionary, or a list of them: `[{"key": "born", "value": 1990}]`, `[{"born": 1990}]`.
fn dictionary(value: &Value) -> Option<Map<String, Value>> {
    let items = match value {
        Value::Object(map) => return Some(map.clone()),
        Value::Array(items) => items,
        _ => return None,
    };
    let mut out = Map::new();
    for item in items {
        let item = item.as_object()?;
        match (
            text(item, &["key", "name", "property"]),
            field(item, &["value"]),
        ) {
            (Some(key), Some(value)) => {
                out.insert(key, value.clone());
            }
            _ => out.extend(item.clone()),
        }
    }
    Some(out)
}
