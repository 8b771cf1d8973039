//! openCypher on the store.

mod asked;
mod described;
mod expansion;
mod names;
mod procedures;
mod properties;
mod question;
mod rows;
mod store_graph;

use std::sync::Arc;
use std::time::Instant;

pub use asked::QueryWriter;
pub(super) use names::GraphNames;
use store_graph::StoreGraph;

use super::{Engine, lock};
use crate::cypher::{Flow, Limits, Parameters, PropertyGraph, Query, Value};
use crate::extraction::Schema;
use crate::pipeline::extract::last_version;
use crate::storage;
use crate::types::{CypherRequest, CypherRows};
use crate::{Error, Result};

impl Engine {
    /// Rows of a query in openCypher over the present graph, or over that of another moment
    /// ([`Engine::at`]). It can only read; see `docs/cypher.md`.
    ///
    /// # Errors
    /// [`Error::Cypher`]: a query that can not be read, that would write, that names what the graph does not
    /// have, or that reached a limit.
    pub fn cypher(&self, request: &CypherRequest) -> Result<CypherRows> {
        self.find_communities_for(&request.query)?;
        self.on_graph(|graph, now| {
            let mut parameters = Parameters::new();
            for (name, value) in &request.parameters {
                parameters.insert(name.clone(), Value::from_json(value)?);
            }
            let limits = Limits {
                rows: request.max_rows,
                time: request.timeout,
                ..Limits::default()
            };
            let started = Instant::now();
            let query = Query::new(&request.query, graph, &parameters)?;
            let mut rows = Vec::new();
            query.run(graph, now, limits, &mut |values| {
                let shown = values.iter().map(|value| graph.json(value));
                rows.push(shown.collect::<Result<_, _>>()?);
                Ok(Flow::Continue)
            })?;
            Ok(CypherRows {
                columns: query.columns().iter().map(ToString::to_string).collect(),
                rows,
                elapsed_ms: started.elapsed().as_secs_f64() * 1_000.0,
            })
        })
    }

    /// The same engine, whose queries know types and properties by the names that `schema` gives them in other
    /// languages, and by those of the last extraction.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.schema = Some(Arc::new(schema));
        self.names = Arc::default();
        self
    }

    /// Whether a query may read communities, which are found when they are first asked for.
    pub fn asks_for_communities(query: &str) -> bool {
        let query = query.to_lowercase();
        ["communit", "comunidade", "社区"]
            .iter()
            .any(|word| query.contains(word))
    }

    /// Finds communities if a query may read them; where the store cannot be written, the last known ones serve.
    fn find_communities_for(&self, query: &str) -> Result<()> {
        if Self::asks_for_communities(query) {
            self.update_communities()?;
        }
        Ok(())
    }

    /// Calls `question` with the graph of the asked moment and the time in nanoseconds.
    fn on_graph<T>(
        &self,
        question: impl FnOnce(&StoreGraph<'_>, i128) -> crate::cypher::Result<T>,
    ) -> Result<T> {
        let store = self.store();
        let ranked = self.ranked_graph(&store)?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let connection = store.connection();
        let names = {
            let mut slot = lock(&self.names);
            match slot.as_ref() {
                Some(names) if names.generation == ranked.graph.generation => Arc::clone(names),
                _ => {
                    let stored = last_version(connection, namespace)?;
                    let stored = stored.map(|(_, settings)| Arc::new(settings.schema));
                    let schemas = self.schema.iter().cloned().chain(stored).collect();
                    let names = GraphNames::load(connection, namespace, &ranked.graph, schemas)?;
                    let names = Arc::new(names);
                    *slot = Some(Arc::clone(&names));
                    names
                }
            }
        };
        let at = self.moment();
        let hidden = if self.times.is_present() {
            storage::Hidden::default()
        } else {
            storage::hidden_chunks(connection, namespace, at.valid, at.known)?
        };
        let vectors = |question: &str| self.vectors_for(&store, question);
        let graph = StoreGraph::new(
            (connection, namespace),
            &ranked.graph,
            &names,
            at,
            &hidden,
            &vectors,
        );
        let now = i128::from(self.clock.now().0) * 1_000_000;
        question(&graph, now).map_err(|mut error| match error.cause.take() {
            Some(cause) => *cause,
            None => Error::Cypher(error),
        })
    }
}

impl StoreGraph<'_> {
    /// A value as JSON: nodes and relationships with their labels and properties, paths as their parts.
    fn json(&self, value: &Value) -> crate::cypher::Result<serde_json::Value> {
        use serde_json::{Map, Value as Json};
        let entries = |properties: Vec<(Arc<str>, Value)>| {
            properties
                .into_iter()
                .map(|(name, value)| Ok((name.to_string(), self.json(&value)?)))
                .collect::<crate::cypher::Result<Map<String, Json>>>()
        };
        Ok(match value {
            Value::Null => Json::Null,
            Value::Boolean(value) => Json::from(*value),
            Value::Integer(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::String(text) => Json::from(&**text),
            Value::List(_) => {
                let items = value.as_list().unwrap_or_default().iter();
                Json::Array(
                    items
                        .map(|item| self.json(item))
                        .collect::<Result<_, _>>()?,
                )
            }
            Value::Map(_) => {
                let map = value.as_map().cloned().unwrap_or_default();
                Json::Object(entries(map.into_iter().collect())?)
            }
            Value::Node(id) => serde_json::json!({
                "id": &*self.node_name(*id)?,
                "labels": self.labels(*id)?.iter().map(|label| &**label).collect::<Vec<_>>(),
                "properties": entries(self.node_properties(*id)?)?,
            }),
            Value::Relationship(id) => {
                let (source, target) = self.ends(*id);
                serde_json::json!({
                    "type": &*self.type_name(*id)?,
                    "source": &*self.node_name(source)?,
                    "target": &*self.node_name(target)?,
                    "properties": entries(self.relationship_properties(*id)?)?,
                })
            }
            Value::Path(path) => {
                let nodes = path.nodes.iter().map(|id| self.json(&Value::Node(*id)));
                let relationships = path.relationships.iter();
                let relationships = relationships.map(|id| self.json(&Value::Relationship(*id)));
                serde_json::json!({
                    "nodes": nodes.collect::<Result<Vec<_>, _>>()?,
                    "relationships": relationships.collect::<Result<Vec<_>, _>>()?,
                })
            }
            Value::Temporal(temporal) => Json::from(temporal.to_string()),
            Value::Duration(duration) => Json::from(duration.to_string()),
        })
    }
}
