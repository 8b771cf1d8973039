//! The tools of the reference memory server (`@modelcontextprotocol/server-memory`) under their own names and
//! shapes, so that an agent that knows them can switch. An observation is an episode of its entity.

use std::collections::BTreeSet;

use malha_engine::Engine;
use malha_engine::types::{
    ConflictPolicy, Correction, ForgetRequest, GivenEntity, GivenFact, Memory, NeighborRequest,
    PublicId, RecallRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arguments::{Page, Refused};
use super::schema::{answer, list, object, paged, text};
use super::tools::{Access, Tool, quoted, value};

/// Entities of a whole graph that are read at most.
const WHOLE: usize = 2_000;
/// Observations of an entity that are shown.
const OBSERVATIONS: usize = 200;

#[derive(Debug, Serialize, Deserialize)]
struct Entity {
    name: String,
    #[serde(rename = "entityType")]
    kind: String,
    #[serde(default)]
    observations: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Relation {
    from: String,
    to: String,
    #[serde(rename = "relationType")]
    kind: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Observed {
    entity_name: String,
    #[serde(alias = "observations")]
    contents: Vec<String>,
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "create_entities",
        title: "Create entities",
        description: "Create entities with types and observations.",
        access: Access::Adds,
        input: || {
            object(
                &["entities"],
                &json!({"entities": list_of(&["name", "entityType", "observations"])}),
            )
        },
        output: || answer(&json!({"entities": [entity_like()]})),
        run: |engine, given| {
            let entities: Vec<Entity> = given.read(Some("entities"))?;
            let memories: Vec<Memory> = entities
                .iter()
                .map(|entity| Memory {
                    entities: vec![GivenEntity {
                        name: entity.name.clone(),
                        kind: Some(entity.kind.clone()),
                        ..GivenEntity::default()
                    }],
                    ..Memory::default()
                })
                .collect();
            store(engine, &memories)?;
            for entity in &entities {
                observe(engine, &entity.name, &entity.observations)?;
            }
            value(json!({ "entities": entities }))
        },
    },
    Tool {
        name: "create_relations",
        title: "Create relations",
        description: "Create relations between entities, in active voice.",
        access: Access::Adds,
        input: || {
            object(
                &["relations"],
                &json!({"relations": list_of(&["from", "to", "relationType"])}),
            )
        },
        output: || answer(&json!({"relations": [relation_like()]})),
        run: |engine, given| {
            let relations: Vec<Relation> = given.read(Some("relations"))?;
            let memory = Memory {
                relations: relations
                    .iter()
                    .map(|relation| GivenFact {
                        source: relation.from.clone(),
                        target: relation.to.clone(),
                        relation: relation.kind.clone(),
                        ..GivenFact::default()
                    })
                    .collect(),
                ..Memory::default()
            };
            store(engine, &[memory])?;
            value(json!({ "relations": relations }))
        },
    },
    Tool {
        name: "add_observations",
        title: "Add observations",
        description: "Add observations to entities that exist.",
        access: Access::Adds,
        input: || {
            object(
                &["observations"],
                &json!({"observations": list_of(&["entityName", "contents"])}),
            )
        },
        output: || {
            answer(&json!({"results": [{"entityName": "string", "addedObservations": ["string"]}]}))
        },
        run: |engine, given| {
            let observed: Vec<Observed> = given.read(Some("observations"))?;
            let mut results = Vec::new();
            for one in &observed {
                let added = observe(engine, &one.entity_name, &one.contents)?;
                results.push(json!({"entityName": one.entity_name, "addedObservations": added}));
            }
            value(json!({ "results": results }))
        },
    },
    Tool {
        name: "delete_entities",
        title: "Delete entities",
        description: "Delete entities with their relations and observations, for good.",
        access: Access::Destroys,
        input: || object(&["entityNames"], &json!({"entityNames": list("Names")})),
        output: done,
        run: |engine, given| {
            for name in given.texts("entityNames")? {
                if !engine.entity(&name)?.is_empty() {
                    engine.forget(&ForgetRequest {
                        entities: vec![name.clone()],
                        ..ForgetRequest::default()
                    })?;
                    // What is deleted here may be created again, as the reference server has it.
                    engine.allow(&name)?;
                }
            }
            value(json!({"success": true, "message": "Entities deleted successfully"}))
        },
    },
    Tool {
        name: "delete_observations",
        title: "Delete observations",
        description: "Delete observations of entities, for good.",
        access: Access::Destroys,
        input: || {
            object(
                &["deletions"],
                &json!({"deletions": list_of(&["entityName", "observations"])}),
            )
        },
        output: done,
        run: |engine, given| {
            let deletions: Vec<Observed> = given.read(Some("deletions"))?;
            for one in deletions {
                for id in ids(engine, &one.entity_name)? {
                    let found = observations(engine, &id)?;
                    let documents: Vec<String> = found
                        .into_iter()
                        .filter(|(_, text)| one.contents.contains(text))
                        .map(|(uri, _)| uri)
                        .collect();
                    for uri in &documents {
                        engine.forget(&ForgetRequest {
                            documents: vec![uri.clone()],
                            ..ForgetRequest::default()
                        })?;
                        engine.allow(uri)?;
                    }
                }
            }
            value(json!({"success": true, "message": "Observations deleted successfully"}))
        },
    },
    Tool {
        name: "delete_relations",
        title: "Delete relations",
        description: "Take relations back.",
        access: Access::Destroys,
        input: || {
            object(
                &["relations"],
                &json!({"relations": list_of(&["from", "to", "relationType"])}),
            )
        },
        output: done,
        run: |engine, given| {
            let relations: Vec<Relation> = given.read(Some("relations"))?;
            for relation in relations {
                match engine.correct(&Correction {
                    source: relation.from,
                    relation: relation.kind,
                    target: relation.to,
                    ..Correction::default()
                }) {
                    Ok(_) | Err(malha_engine::Error::NotFound { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            value(json!({"success": true, "message": "Relations deleted successfully"}))
        },
    },
    Tool {
        name: "read_graph",
        title: "Read the graph",
        description: "All entities with their observations, and all relations.",
        access: Access::Reads,
        input: || {
            paged(
                &[],
                json!({"limit": {"type": "integer", "minimum": 1, "description": "Entities of a page; 2000 if not said"}}),
            )
        },
        output: graph_like,
        run: |engine, given| {
            let page: Page = given.page(WHOLE, WHOLE)?;
            let mut found = engine.entities(page.start, page.length + 1)?;
            let has_more = found.len() > page.length;
            found.truncate(page.length);
            let names: Vec<String> = found.into_iter().map(|entity| entity.public_id.0).collect();
            let mut graph = graph_of(engine, &names)?;
            graph["next_cursor"] = json!(page.next(names.len(), has_more));
            Ok(graph)
        },
    },
    Tool {
        name: "search_nodes",
        title: "Search nodes",
        description: "Entities that a query names or that the passages it finds speak of, with their relations.",
        access: Access::Reads,
        input: || object(&["query"], &json!({"query": text("Names, types or words")})),
        output: graph_like,
        run: |engine, given| {
            let found = engine.recall(&RecallRequest {
                max_hops: 1,
                ..RecallRequest::new(given.text("query")?)
            });
            let entities = found.entities.into_iter();
            let names: Vec<String> = entities.map(|entity| entity.id.0).collect();
            graph_of(engine, &names)
        },
    },
    Tool {
        name: "open_nodes",
        title: "Open nodes",
        description: "Entities of these names, with the relations among them.",
        access: Access::Reads,
        input: || object(&["names"], &json!({"names": list("Names")})),
        output: graph_like,
        run: |engine, given| graph_of(engine, &given.texts("names")?),
    },
];

/// Stores memories; a bad item refuses the call, as the callers of the reference server expect.
fn store(engine: &Engine, memories: &[Memory]) -> Result<(), Refused> {
    let report = engine.remember(memories, ConflictPolicy::Close)?;
    match report.failed.first() {
        Some(failed) => Err(Refused(failed.reason.clone())),
        None => Ok(()),
    }
}

/// Adds what was observed of an entity; returns what was new.
fn observe(engine: &Engine, name: &str, contents: &[String]) -> Result<Vec<String>, Refused> {
    let id = ids(engine, name)?
        .into_iter()
        .next()
        .ok_or_else(|| Refused(format!("Entity with name {name} not found")))?;
    let known: BTreeSet<String> = observations(engine, &id)?
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let new: Vec<String> = contents
        .iter()
        .filter(|text| !known.contains(*text) && !text.trim().is_empty())
        .cloned()
        .collect();
    let memories: Vec<Memory> = new
        .iter()
        .map(|text| Memory {
            text: format!("{name}: {text}"),
            id: Some(format!(
                "observation/{}/{}",
                id.0,
                PublicId::new("", "observation", text).0
            )),
            ..Memory::default()
        })
        .collect();
    if !memories.is_empty() {
        store(engine, &memories)?;
    }
    Ok(new)
}

fn ids(engine: &Engine, name: &str) -> Result<Vec<PublicId>, Refused> {
    let found = engine.entity(name)?;
    Ok(found.into_iter().map(|entity| entity.public_id).collect())
}

/// Uris and texts of what was observed of an entity.
fn observations(engine: &Engine, id: &PublicId) -> Result<Vec<(String, String)>, Refused> {
    let prefix = format!("memory/observation/{}/", id.0);
    let mut found = Vec::new();
    for document in engine.documents(&prefix, None, OBSERVATIONS)? {
        let text = engine.document_text(&document.uri)?;
        let text = text
            .split_once(": ")
            .map_or(text.as_str(), |(_, text)| text);
        found.push((document.uri, text.to_owned()));
    }
    Ok(found)
}

/// These entities, by name or public id, and the relations among them.
fn graph_of(engine: &Engine, names: &[String]) -> Result<Value, Refused> {
    let mut entities = Vec::new();
    let mut shown: BTreeSet<PublicId> = BTreeSet::new();
    for name in names {
        for entity in engine.entity(name)? {
            if !shown.insert(entity.public_id.clone()) {
                continue;
            }
            let observed = observations(engine, &entity.public_id)?;
            entities.push(Entity {
                name: entity.name,
                kind: entity.types.into_iter().next().unwrap_or_default(),
                observations: entity
                    .description
                    .into_iter()
                    .chain(observed.into_iter().map(|(_, text)| text))
                    .collect(),
            });
        }
    }
    let mut relations: BTreeSet<Relation> = BTreeSet::new();
    if !shown.is_empty() {
        let found = engine.neighbors(&NeighborRequest {
            seeds: shown.iter().map(|id| id.0.clone()).collect(),
            max_hops: 1,
            max_nodes: 2 * WHOLE,
            ..NeighborRequest::new("")
        })?;
        for relation in found.relations {
            if shown.contains(&relation.source_id) && shown.contains(&relation.target_id) {
                relations.insert(Relation {
                    from: relation.source,
                    to: relation.target,
                    kind: relation.relation_type,
                });
            }
        }
    }
    quoted(json!({ "entities": entities, "relations": relations }))
}

fn entity_like() -> Value {
    json!({"name": "string", "entityType": "string", "observations": ["string"]})
}

fn relation_like() -> Value {
    json!({"from": "string", "to": "string", "relationType": "string"})
}

fn graph_like() -> Value {
    answer(&json!({
        "trust": "string", "entities": [entity_like()], "relations": [relation_like()], "next_cursor": "string?",
    }))
}

fn done() -> Value {
    answer(&json!({"success": "boolean", "message": "string"}))
}

fn list_of(fields: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = fields
        .iter()
        .map(|&field| {
            let schema = match field {
                "observations" | "contents" => list("Texts"),
                _ => json!({"type": "string"}),
            };
            (field.to_owned(), schema)
        })
        .collect();
    json!({"type": "array", "items": {"type": "object", "properties": properties, "required": fields}})
}
