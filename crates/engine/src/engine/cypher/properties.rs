//! Properties of the store's nodes and relationships.

use std::sync::Arc;

use super::kinds::{LinkKind, NodeKind};
use super::names::own_property;
use super::store_graph::StoreGraph;
use crate::cypher::{NodeId, RelationshipId, Result, Temporal, Value};
use crate::engine::communities::title_of;
use crate::storage::{
    self,
    graph_property::{self, Cell},
};
use crate::text::fold;
use crate::types::EntityId;

type Properties = Vec<(Arc<str>, Value)>;

/// Columns that hold milliseconds since 1970.
const TIMES: &[&str] = &[
    "valid_from",
    "valid_to",
    "recorded_at",
    "retracted_at",
    "observed_at",
];

impl StoreGraph<'_> {
    /// What a property that has an index looks up: a name, a uri or a public id.
    pub(super) fn indexed(name: &str) -> Option<&'static str> {
        own_property(name).filter(|own| matches!(*own, "name" | "title" | "uri" | "id"))
    }

    /// Nodes that may have this value.
    pub(super) fn nodes_with(&self, name: &str, text: &str) -> Result<Vec<NodeId>> {
        let (connection, namespace) = (self.connection, self.namespace);
        let entities: Vec<EntityId> = match Self::indexed(name) {
            Some("id") => {
                let row = storage::entity_by_public_id(connection, namespace, text)?;
                row.map(|row| row.id).into_iter().collect()
            }
            Some("uri") => {
                let row = storage::document_by_uri(connection, namespace, text)?;
                row.map(|row| row.entity).into_iter().collect()
            }
            _ => storage::entities_of_form(connection, namespace, &fold(text))?,
        };
        let mut nodes = Vec::new();
        for id in entities {
            let Some(entity) = self.graph.entities.get(id) else {
                continue;
            };
            nodes.push(NodeKind::Entity(entity).id());
            let documents = self.graph.title_documents.row(entity);
            if documents.len() > 1 {
                nodes.extend(documents.iter().map(|&one| NodeKind::Document(one).id()));
            }
        }
        Ok(nodes)
    }

    pub(super) fn property_of_node(&self, node: NodeId, name: &str) -> Result<Value> {
        // The one that is read most is read alone.
        if let NodeKind::Entity(entity) = NodeKind::of(node)
            && name == "name"
        {
            return Ok(Value::String(self.names.entity_name(self, entity)?));
        }
        Ok(self.find(&self.properties_of_node(node)?, name))
    }

    pub(super) fn property_of_relationship(
        &self,
        relationship: RelationshipId,
        name: &str,
    ) -> Result<Value> {
        Ok(self.find(&self.properties_of_relationship(relationship)?, name))
    }

    pub(super) fn properties_of_node(&self, node: NodeId) -> Result<Properties> {
        let mut properties = match NodeKind::of(node) {
            NodeKind::Entity(entity) => self.properties_of_entity(entity)?,
            NodeKind::Document(_) => Vec::new(),
            NodeKind::Chunk(chunk) => {
                let id = self.chunk_id(chunk);
                let cells = graph_property::chunk_cells(self.connection, id)?;
                let mut properties = named(graph_property::CHUNK_CELLS, cells)?;
                let document = self.graph.chunk_document[chunk as usize];
                let document = self.document_id(document);
                let cells = graph_property::document_cells(self.connection, document)?;
                if let Some(Cell::Text(uri)) = cells.into_iter().nth(1) {
                    properties.push((Arc::from("uri"), Value::string(uri)));
                }
                properties
            }
            NodeKind::Community(community) => {
                let id = i64::from(community);
                let cells = graph_property::community_cells(self.connection, id)?;
                let mut properties = named(graph_property::COMMUNITY_CELLS, cells)?;
                let members = self.members_of(community)?;
                if !properties.iter().any(|(name, _)| &**name == "title") {
                    let title = title_of(self.connection, self.graph, &members)?;
                    properties.push((Arc::from("title"), Value::string(title)));
                }
                let size = Value::Integer(members.len() as i64);
                properties.push((Arc::from("size"), size));
                properties
            }
        };
        if let Some(document) = self.document_of(node) {
            let id = self.document_id(document);
            let cells = graph_property::document_cells(self.connection, id)?;
            for (name, value) in named(graph_property::DOCUMENT_CELLS, cells)? {
                // An entity's own id and kind stay.
                if !properties.iter().any(|(known, _)| *known == name) {
                    properties.push((name, value));
                }
            }
        }
        Ok(properties)
    }

    /// Entities of a community.
    fn members_of(&self, community: u32) -> Result<Vec<EntityId>> {
        let members = &self.members()?.by_community;
        let start = members.partition_point(|row| row.0 < community);
        let end = members.partition_point(|row| row.0 <= community);
        let entities = members[start..end].iter();
        Ok(entities.map(|row| self.entity_id(row.1)).collect())
    }

    fn properties_of_entity(&self, entity: u32) -> Result<Properties> {
        let id = self.entity_id(entity);
        let cells = graph_property::entity_cells(self.connection, id)?;
        let mut properties = named(graph_property::ENTITY_CELLS, cells)?;
        let degree = self.graph.relations.degree(entity, self.at);
        properties.push((Arc::from("degree"), Value::Integer(i64::from(degree))));
        let mentions = self.graph.mentions.chunks(entity).len() as i64;
        properties.push((Arc::from("mentions"), Value::Integer(mentions)));
        let mut aliases: Vec<String> = storage::aliases_of_entity(self.connection, id)?
            .into_iter()
            .map(|alias| alias.written)
            .collect();
        aliases.sort();
        aliases.dedup();
        let aliases = aliases.into_iter().map(Value::string).collect();
        properties.push((Arc::from("aliases"), Value::list(aliases)?));
        Ok(properties)
    }

    /// A property by the name that was asked for, else by the store's or the schema's name for it. A document that is
    /// asked for its title and an entity for its name mean the same.
    fn find(&self, properties: &[(Arc<str>, Value)], name: &str) -> Value {
        let own = own_property(name);
        let other = match own {
            Some("title") => Some("name"),
            Some("name") => Some("title"),
            _ => self.names.given_property(name),
        };
        [Some(name), own, other]
            .into_iter()
            .flatten()
            .find_map(|name| {
                let found = properties.iter().find(|(known, _)| **known == *name);
                found.map(|(_, value)| value.clone())
            })
            .unwrap_or_default()
    }

    pub(super) fn properties_of_relationship(
        &self,
        relationship: RelationshipId,
    ) -> Result<Properties> {
        match LinkKind::of(relationship) {
            LinkKind::Relation(position) => {
                let id = self.graph.relations.edge(position).relation;
                let cells = graph_property::relation_cells(self.connection, id)?;
                named(graph_property::RELATION_CELLS, cells)
            }
            LinkKind::Mention(chunk, place) => {
                let count = self.graph.mentions.counts(chunk)[place as usize];
                let weight = Value::Float(f64::from(count));
                Ok(vec![(Arc::from("weight"), weight)])
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Columns that are not null, by name, and in place of the column `properties` what it holds.
fn named(names: &[&'static str], cells: Vec<Cell>) -> Result<Properties> {
    let mut properties = Vec::new();
    let mut given = None;
    for (name, cell) in names.iter().zip(cells) {
        let value = match cell {
            Cell::Null => continue,
            Cell::Text(text) if *name == "properties" => {
                given = serde_json::from_str::<serde_json::Value>(&text).ok();
                continue;
            }
            Cell::Integer(millis) if TIMES.contains(name) => {
                Value::Temporal(Temporal::from_millis(millis)?)
            }
            Cell::Integer(value) => Value::Integer(value),
            Cell::Real(value) => Value::Float(value),
            Cell::Text(text) => Value::string(text),
        };
        properties.push((Arc::from(*name), value));
    }
    if let Some(serde_json::Value::Object(mut entries)) = given {
        // What a model said gives way to what was given directly.
        let extracted = entries.shift_remove("extracted");
        let extracted = extracted.and_then(|mut said| match said["properties"].take() {
            serde_json::Value::Object(entries) => Some(entries),
            _ => None,
        });
        for (name, value) in entries.into_iter().chain(extracted.into_iter().flatten()) {
            let value = Value::from_json(&value)?;
            if !value.is_null() && !properties.iter().any(|(known, _)| **known == *name) {
                properties.push((Arc::from(name), value));
            }
        }
    }
    Ok(properties)
}
