//! Queries in openCypher over a property graph, which they can only read.
//!
//! Text is parsed by the `open-cypher` crate, bound to the graph's names, planned and run; see
//! `docs/cypher.md` for the part of the language that is offered. What a graph is, [`PropertyGraph`] says:
//! the store is one, [`MemoryGraph`] another.

mod bind;
mod budget;
mod error;
mod execute;
mod functions;
mod graph;
mod memory_graph;
mod parse;
mod plan;
mod temporal;
mod value;

use std::sync::Arc;

pub use bind::Parameters;
pub use budget::{Budget, Limits};
pub use error::{CypherError, ErrorKind, Phase, Result};
pub use graph::{
    Direction, Expansion, Flow, Key, LabelId, Procedure, ProcedureRows, PropertyGraph, Resolved,
    TypeId, VisitNodes, VisitRelationship, breadth_first,
};
pub use memory_graph::MemoryGraph;
pub use temporal::{DateTime, Duration, LocalDateTime, OffsetTime, Temporal, TemporalType};
pub use value::{Group, List, Map, NodeId, Path, RelationshipId, Value, equals, order};

/// A query bound to a graph's names, which can be run on it.
#[derive(Debug)]
pub struct Query {
    source: String,
    bound: bind::Bound,
}

impl Query {
    /// Reads a query and binds it to the names of `graph` and to its parameters.
    ///
    /// # Errors
    /// What can be known to be wrong before a row is read, with its line and column; above all a clause that
    /// would write.
    pub fn new(source: &str, graph: &dyn PropertyGraph, parameters: &Parameters) -> Result<Self> {
        let bound = parse::parse(source)
            .and_then(|query| bind::bind(source, &query, graph, parameters))
            .map_err(|error| error.located(source))?;
        Ok(Self {
            source: source.to_owned(),
            bound,
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[Arc<str>] {
        &self.bound.plan.columns
    }

    /// Procedures that it calls, by their places in [`PropertyGraph::procedures`].
    pub fn procedures(&self) -> &[usize] {
        &self.bound.procedures
    }

    /// Runs it on the graph that it was bound to; `sink` gets each row and says whether it wants more. `now`
    /// is what the query's clocks show, in nanoseconds since 1970-01-01T00:00Z.
    ///
    /// # Errors
    /// What shows in the data only, a limit that was reached, or what the graph says.
    pub fn run(
        &self,
        graph: &dyn PropertyGraph,
        now: i128,
        budget: &Budget,
        sink: &mut dyn FnMut(&[Value]) -> Result<Flow>,
    ) -> Result<()> {
        execute::execute(&self.bound, graph, now, budget, sink)
            .map_err(|error| budget.explained(error).located(&self.source))
    }
}
