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
    let mut properties = properties_of(map);
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
        properties: properties_of(map),
    })
}

/// The properties of an item. Written as a string that holds a dictionary, they are read from it.
fn properties_of(map: &Map<String, Value>) -> Map<String, Value> {
    match field(map, &["properties", "attributes", "props"]) {
        Some(Value::Object(inner)) => {
            let mut inner = inner.clone();
            inner.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
            inner
        }
        Some(Value::String(text)) if text.trim_start().starts_with('{') => {
            match lenient_json::parse(text.trim_start()) {
                Some(read) => match read.value {
                    Value::Object(inner) => inner,
                    _ => Map::new(),
                },
                None => Map::new(),
            }
        }
        _ => Map::new(),
    }
}
