//! The graph as a chat model is told of it: labels, relationship types and properties, with counts and samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::kinds::{LinkKind, NodeKind};
use super::names::{LABELS, own_properties};
use super::procedures::{label_counts, type_counts};
use super::rows::text;
use super::store_graph::StoreGraph;
use crate::cypher::{PropertyGraph, Result, Value};

/// Most labels and relationship types that are told.
const LABELS_TOLD: usize = 40;
const TYPES_TOLD: usize = 60;
/// Entities of a label that stand for it, and properties that are told of them.
const SAMPLES: usize = 3;
const PROPERTIES: usize = 8;
/// Relationships of a type that are looked at to see what it joins.
const LOOKED_AT: usize = 200;
/// Longest sample of a property, in characters.
const LONGEST: usize = 40;
/// Relationship types told of an entity that the question names.
const TYPES_OF_NAMED: usize = 8;

/// Labels, relationship types and procedures, a line each.
pub(super) fn schema(graph: &StoreGraph<'_>) -> Result<String> {
    let mut out = String::from("Labels (number of nodes):\n");
    let labels = label_counts(graph);
    for (label, count) in labels.iter().take(LABELS_TOLD) {
        let _ = write!(out, "- {} ({count})", quoted(label));
        let samples = samples(graph, label)?;
        if !samples.is_empty() {
            let _ = write!(out, ": {samples}");
        }
        out.push('\n');
    }
    left_out(&mut out, labels.len(), LABELS_TOLD);
    out.push_str("Relationship types (number of relationships):\n");
    let mut types = type_counts(graph)?;
    types.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let joins = joins(graph);
    for (name, count) in types.iter().take(TYPES_TOLD) {
        let (from, to) = joins.get(&**name).cloned().unwrap_or_default();
        let _ = writeln!(out, "- (:{from})-[:{}]->(:{to}) ({count})", quoted(name));
    }
    left_out(&mut out, types.len(), TYPES_TOLD);
    out.push_str(
        "Properties of all entities: name, description, degree, mentions; of Document: title, uri, language, \
         valid_from; of Chunk: text, uri, line; of Community: title, summary, level, size; of relationships: fact, \
         weight, valid_from, valid_to\n\
         Procedures: CALL search.fulltext(\"words\", 5) YIELD node, score (node is a Chunk); \
         CALL graph.neighbors(\"name\", 2) YIELD node, depth; \
         CALL graph.shortestPath(\"from\", \"to\") YIELD path, cost\n",
    );
    Ok(out)
}

/// What a question names of the graph, a line each: name, labels, and the relationships it has.
pub(super) fn named(graph: &StoreGraph<'_>, entities: &[u32]) -> Result<Vec<String>> {
    let relations = &graph.graph.relations;
    let mut lines = Vec::new();
    for &entity in entities {
        let node = NodeKind::Entity(entity).id();
        let name = text(graph, &Value::Node(node))?;
        let labels: Vec<String> = graph
            .labels(node)?
            .iter()
            .map(|label| quoted(label))
            .collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let into = relations.sources(entity).len().min(LOOKED_AT);
        let around = relations.outgoing(entity).take(LOOKED_AT);
        for position in around.filter(|&position| relations.is_visible(position, graph.at)) {
            let kind = graph.type_name(LinkKind::Relation(position).id())?;
            *counts
                .entry(format!("-[:{}]->", quoted(&kind)))
                .or_default() += 1;
        }
        let mut line = format!("{} (:{})", json(&name), labels.join(":"));
        for (kind, count) in counts.iter().take(TYPES_OF_NAMED) {
            let _ = write!(line, ", {count} {kind}");
        }
        if into > 0 {
            let _ = write!(line, ", {into} <--");
        }
        lines.push(line);
    }
    Ok(lines)
}

/// The most connected entities of a label: their names, and properties that they were given.
fn samples(graph: &StoreGraph<'_>, label: &str) -> Result<String> {
    let is_own = LABELS.iter().any(|(own, _)| *own == label);
    let types = &graph.names.entity_types;
    let Some((_, entities)) = types.iter().find(|(name, _)| !is_own && **name == *label) else {
        return Ok(String::new());
    };
    let degree = |entity: &u32| graph.graph.relations.row_length(*entity);
    let mut best = entities.clone();
    best.sort_by_key(|entity| (std::cmp::Reverse(degree(entity)), *entity));
    best.truncate(SAMPLES);
    let mut names = Vec::new();
    let mut given: Vec<(String, String)> = Vec::new();
    for entity in best {
        let node = NodeKind::Entity(entity).id();
        names.push(json(&text(graph, &Value::Node(node))?));
        for (name, value) in graph.node_properties(node)? {
            let is_new = given.iter().all(|(known, _)| *known != *name);
            if is_new && own_properties().all(|own| own != &*name) && given.len() < PROPERTIES {
                given.push((name.to_string(), shortened(&text(graph, &value)?)));
            }
        }
    }
    let mut told = format!("name such as {}", names.join(", "));
    for (name, sample) in given {
        let _ = write!(told, "; {} such as {}", quoted(&name), json(&sample));
    }
    Ok(told)
}

/// The labels that each relationship type joins most often, by the first of its relationships.
fn joins(graph: &StoreGraph<'_>) -> FxHashMap<String, (String, String)> {
    let mut joins: FxHashMap<String, (String, String)> = [
        ("MENTIONS", "Chunk", "Entity"),
        ("PART_OF", "Chunk", "Document"),
        ("NEXT", "Chunk", "Chunk"),
        ("IN_COMMUNITY", "Entity", "Community"),
    ]
    .map(|(kind, from, to)| (kind.to_owned(), (from.to_owned(), to.to_owned())))
    .into_iter()
    .collect();
    let relations = &graph.graph.relations;
    let mut counts: FxHashMap<(u32, bool), (usize, BTreeMap<String, usize>)> = FxHashMap::default();
    for position in 0..relations.len() {
        let number = graph.type_of(LinkKind::Relation(position).id()).0;
        for (is_target, entity) in [
            (false, relations.source_of(position)),
            (true, relations.target_of(position)),
        ] {
            let (seen, labels) = counts.entry((number, is_target)).or_default();
            if *seen < LOOKED_AT {
                *seen += 1;
                let label = type_of_entity(graph, entity);
                *labels.entry(label).or_default() += 1;
            }
        }
    }
    for ((number, is_target), (_, labels)) in counts {
        let most = labels
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let entry = joins
            .entry(graph.names.type_name(number).to_string())
            .or_default();
        let label = most.map(|(label, _)| quoted(&label)).unwrap_or_default();
        if is_target {
            entry.1 = label;
        } else {
            entry.0 = label;
        }
    }
    joins
}

/// The first of an entity's types.
fn type_of_entity(graph: &StoreGraph<'_>, entity: u32) -> String {
    let types = &graph.names.entity_types;
    let first = types
        .iter()
        .find(|(_, entities)| entities.binary_search(&entity).is_ok());
    first.map_or_else(|| LABELS[0].0.to_owned(), |(name, _)| name.to_string())
}

fn left_out(out: &mut String, all: usize, told: usize) {
    if all > told {
        let _ = writeln!(out, "- and {} more", all - told);
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// A name as a query may write it: between back ticks where it is more than letters, digits and `_`.
pub(super) fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_plain {
        name.to_owned()
    } else {
        let plain: String = name
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        format!("`{}`", plain.replace('`', "``"))
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
