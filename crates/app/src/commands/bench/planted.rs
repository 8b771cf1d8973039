//! The graph that graph algorithms are measured on.

use std::path::PathBuf;

use malha_engine::graph::{Graph, GraphBuilder, RelationRow, Window};
use malha_engine::types::{EntityId, RelationId, RelationTypeId, Timestamp};
use malha_evaluation::generate::{EdgeList, PlantedGraph, read_edges};

/// Which graph.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// Edge file (little-endian u32: nodes, edges, sources, targets); otherwise a planted graph is drawn
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
    /// Nodes of the planted graph; it has ten times as many edges
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    nodes: u32,
}

impl GraphArgs {
    pub(super) fn edges(&self) -> malha_evaluation::Result<EdgeList> {
        match &self.edges {
            Some(path) => read_edges(path),
            None => Ok(PlantedGraph {
                nodes: self.nodes,
                edges: self.nodes as usize * 10,
                ..PlantedGraph::large()
            }
            .draw()),
        }
    }
}

/// The engine's graph of these edges; entity index and node number are the same.
pub(super) fn graph(edges: &EdgeList) -> Graph {
    let entities = (0..edges.nodes)
        .map(|node| EntityId(i64::from(node)))
        .collect();
    let mut builder = GraphBuilder::new(1, entities, Vec::new());
    let window = Window::new(None, None, Timestamp(0), None);
    for (n, (source, target)) in edges.sources.iter().zip(&edges.targets).enumerate() {
        builder.relation(&RelationRow {
            id: RelationId(n as i64),
            source: EntityId(i64::from(*source)),
            target: EntityId(i64::from(*target)),
            relation_type: RelationTypeId(1),
            weight: 1.0,
            window,
        });
    }
    builder.build().0
}
