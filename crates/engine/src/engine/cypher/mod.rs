//! openCypher on the store.

mod asked;
mod called;
mod described;
mod expansion;
mod json;
mod kinds;
mod names;
mod procedures;
mod properties;
mod question;
mod rows;
mod store_graph;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use asked::QueryWriter;
pub(super) use names::GraphNames;
use store_graph::StoreGraph;

use super::{Engine, lock};
use crate::cypher::{Budget, Flow, Limits, Parameters, Query, Value};
use crate::extraction::Schema;
use crate::graph::Graph;
use crate::pipeline::extract::last_version;
use crate::storage::{self, Store};
use crate::types::{CypherRequest, CypherRows};
use crate::{Error, Result};

impl Engine {
    /// Rows of a query in openCypher over the present graph, or over that of another moment
    /// ([`Engine::at`]). It can only read; see `docs/cypher.md`. Communities that it names are found first, where
    /// the store can be written.
    ///
    /// # Errors
    /// [`Error::Cypher`]: a query that can not be read, that would write, that names what the graph does not
    /// have, or that reached a limit; [`Error::Interrupted`] once it is cancelled ([`Engine::until`]).
    pub fn cypher(&self, request: &CypherRequest) -> Result<CypherRows> {
        if let Some(rows) = self.rows_of(request, true)? {
            return Ok(rows);
        }
        self.update_communities()?;
        Ok(self.rows_of(request, false)?.unwrap_or_default())
    }

    /// Nothing where `waits` is set and communities have to be found first.
    fn rows_of(&self, request: &CypherRequest, waits: bool) -> Result<Option<CypherRows>> {
        let limits = Limits {
            rows: request.max_rows,
            time: request.timeout,
            ..Limits::default()
        };
        self.on_graph_within(limits, |graph, now, budget| {
            let started = Instant::now();
            let query = bound(graph, request)?;
            if waits && graph.lacks_communities(&query)? {
                return Ok(None);
            }
            let mut rows = Vec::new();
            query.run(graph, now, budget, &mut |values| {
                let mut shown = Vec::with_capacity(values.len());
                for value in values {
                    shown.push(graph.json(value, budget)?);
                }
                rows.push(shown);
                Ok(Flow::Continue)
            })?;
            Ok(Some(CypherRows {
                columns: query.columns().iter().map(ToString::to_string).collect(),
                rows,
                elapsed_ms: started.elapsed().as_secs_f64() * 1_000.0,
            }))
        })
    }

    /// Whether a query names communities that have to be found first, for which the store is written.
    ///
    /// # Errors
    /// A query that can not be bound.
    pub fn lacks_communities(&self, request: &CypherRequest) -> Result<bool> {
        self.on_graph(|graph, _| graph.lacks_communities(&bound(graph, request)?))
    }

    /// The same engine, whose queries know types and properties by the names that `schema` gives them in other
    /// languages, and by those of the last extraction.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.schema = Some(Arc::new(schema));
        self.names = Arc::default();
        self
    }

    /// Whether a question in words may be about communities, which are found when they are first asked for.
    pub fn asks_for_communities(question: &str) -> bool {
        let question = question.to_lowercase();
        ["communit", "comunidade", "社区"]
            .iter()
            .any(|word| question.contains(word))
    }

    /// Finds communities if a question may be about them; where the store cannot be written, the last known ones
    /// serve.
    fn find_communities_for(&self, question: &str) -> Result<()> {
        if Self::asks_for_communities(question) {
            self.update_communities()?;
        }
        Ok(())
    }

    /// Calls `question` with the graph of the asked moment and the time in nanoseconds.
    fn on_graph<T>(
        &self,
        question: impl FnOnce(&StoreGraph<'_>, i128) -> crate::cypher::Result<T>,
    ) -> Result<T> {
        let unlimited = Limits {
            time: Duration::MAX,
            ..Limits::default()
        };
        self.on_graph_within(unlimited, |graph, now, _| question(graph, now))
    }

    /// The same within limits, which begin to count once the graph is there.
    fn on_graph_within<T>(
        &self,
        mut limits: Limits,
        question: impl FnOnce(&StoreGraph<'_>, i128, &Budget) -> crate::cypher::Result<T>,
    ) -> Result<T> {
        let mut store = self.asked()?;
        let ranked = self.ranked_graph(&store)?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let names = {
            let connection = store.connection();
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
        limits.cancel = self.cancel.clone();
        let budget = Budget::new(limits);
        store.stop_when(budget.stop())?;
        self.on_names(&store, namespace, &ranked.graph, &names, |graph, now| {
            question(graph, now, &budget).map_err(|error| budget.explained(error))
        })
    }

    fn on_names<T>(
        &self,
        store: &Store,
        namespace: i64,
        graph: &Graph,
        names: &GraphNames,
        question: impl FnOnce(&StoreGraph<'_>, i128) -> crate::cypher::Result<T>,
    ) -> Result<T> {
        let connection = store.connection();
        let at = self.moment();
        let hidden = if self.times.is_present() {
            storage::Hidden::default()
        } else {
            storage::hidden_chunks(connection, namespace, at.valid, at.known)?
        };
        let vectors = |question: &str| self.vectors_for(store, question);
        let graph = StoreGraph::new((connection, namespace), graph, names, at, &hidden, &vectors);
        let now = i128::from(self.clock.now().0) * 1_000_000;
        question(&graph, now).map_err(|mut error| match error.cause.take() {
            Some(cause) => *cause,
            None => Error::Cypher(error),
        })
    }
}

/// The query of a request, bound to its parameters and the graph's names.
fn bound(graph: &StoreGraph<'_>, request: &CypherRequest) -> crate::cypher::Result<Query> {
    let mut parameters = Parameters::new();
    for (name, value) in &request.parameters {
        parameters.insert(name.clone(), Value::from_json(value)?);
    }
    Query::new(&request.query, graph, &parameters)
}
