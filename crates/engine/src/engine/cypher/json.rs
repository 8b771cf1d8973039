//! Values of a query as JSON.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::store_graph::StoreGraph;
use crate::cypher::{Budget, PropertyGraph, Result, Value};

/// What a value takes besides its letters, and what an entry of an object does.
const VALUE: u64 = 32;
const ENTRY: u64 = 64;

impl StoreGraph<'_> {
    /// A value as JSON: nodes and relationships with their labels and properties, paths as their parts. It is held,
    /// so it counts as memory.
    pub(super) fn json(&self, value: &Value, budget: &Budget) -> Result<Json> {
        budget.tick()?;
        budget.hold(VALUE + value.as_text().map_or(0, |text| text.len() as u64))?;
        Ok(match value {
            Value::Null => Json::Null,
            Value::Boolean(value) => Json::from(*value),
            Value::Integer(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::String(text) => Json::from(&**text),
            Value::List(_) => self.list(value.as_list().unwrap_or_default(), budget)?,
            Value::Map(_) => {
                let map = value.as_map().cloned().unwrap_or_default();
                Json::Object(self.entries(map, budget)?)
            }
            Value::Node(id) => serde_json::json!({
                "id": &*self.node_name(*id)?,
                "labels": self.labels(*id)?.iter().map(|label| &**label).collect::<Vec<_>>(),
                "properties": self.entries(self.node_properties(*id)?, budget)?,
            }),
            Value::Relationship(id) => {
                let (source, target) = self.ends(*id);
                serde_json::json!({
                    "type": &*self.type_name(*id)?,
                    "source": &*self.node_name(source)?,
                    "target": &*self.node_name(target)?,
                    "properties": self.entries(self.relationship_properties(*id)?, budget)?,
                })
            }
            Value::Path(path) => {
                let nodes: Vec<Value> = path.nodes.iter().map(|id| Value::Node(*id)).collect();
                let relationships = path.relationships.iter();
                let relationships: Vec<Value> =
                    relationships.map(|id| Value::Relationship(*id)).collect();
                serde_json::json!({
                    "nodes": self.list(&nodes, budget)?,
                    "relationships": self.list(&relationships, budget)?,
                })
            }
            Value::Temporal(temporal) => Json::from(temporal.to_string()),
            Value::Duration(duration) => Json::from(duration.to_string()),
        })
    }

    fn list(&self, items: &[Value], budget: &Budget) -> Result<Json> {
        let items = items.iter().map(|item| self.json(item, budget));
        Ok(Json::Array(items.collect::<Result<_>>()?))
    }

    fn entries(
        &self,
        properties: impl IntoIterator<Item = (Arc<str>, Value)>,
        budget: &Budget,
    ) -> Result<Map<String, Json>> {
        let entries = properties.into_iter().map(|(name, value)| {
            budget.hold(ENTRY + name.len() as u64)?;
            Ok((name.to_string(), self.json(&value, budget)?))
        });
        entries.collect()
    }
}
