use rustc_hash::FxHasher;
use std::hash::Hasher;

use crate::communities::Network;
use crate::graph::{EdgeFilter, Graph, Moment};
use crate::types::Direction;

/// Places in the text that bearing a title counts as; the same as in the graph lane of a search.
const TITLE_COUNT: f64 = 2.0;

/// The network that communities are found in. Its nodes are the entities (by index) and after them the chunks: two
/// names that share a passage hang together through it, without an edge for every pair.
pub(crate) struct CommunityNetwork {
    pub network: Network,
    /// Number of nodes that are entities; the rest are chunks.
    pub entities: usize,
}

/// A relation weighs `ln(1 + passages that state it)`. A mention weighs `ln(1 + places)`, divided by the root of the
/// number of chunks the entity is in: what stands everywhere holds nothing together. Both follow from the entity's
/// own chunks alone, so an edit elsewhere changes no weight here.
pub(crate) fn community_network(graph: &Graph, at: Moment) -> CommunityNetwork {
    let entities = graph.entities.len();
    let nodes = entities + graph.chunks.len();
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |source: u32, target: u32, weight: f64| {
        sources.push(source);
        targets.push(target);
        weights.push(weight as f32);
    };
    let filter = EdgeFilter::new(&graph.relations, Direction::Out, None, at);
    for entity in 0..entities as u32 {
        graph.relations.each_outgoing(entity, &filter, |position| {
            let weight = libm::log1p(f64::from(graph.relations.weight(position)));
            push(entity, graph.relations.target_of(position), weight);
        });
        let mentioned = graph.mentions.chunks(entity);
        let titled: Vec<u32> = graph.title_chunks(entity).collect();
        let spread = libm::sqrt((mentioned.len() + titled.len()).max(1) as f64);
        for (&chunk, &count) in mentioned.iter().zip(graph.mentions.chunk_counts(entity)) {
            let weight = libm::log1p(f64::from(count)) / spread;
            push(entity, entities as u32 + chunk, weight);
        }
        for chunk in titled {
            push(
                entity,
                entities as u32 + chunk,
                libm::log1p(TITLE_COUNT) / spread,
            );
        }
    }
    CommunityNetwork {
        network: Network::from_edges(nodes as u32, &sources, &targets, &weights),
        entities,
    }
}

impl CommunityNetwork {
    /// Stands for what is around an entity, by the row ids of its neighbours: equal when nothing there changed.
    pub(crate) fn signature(&self, graph: &Graph, entity: u32) -> i64 {
        let mut hash = FxHasher::default();
        for (neighbor, weight) in self.network.neighbors(entity) {
            let node = neighbor as usize;
            if node < self.entities {
                hash.write_i64(graph.entities.id(neighbor).0);
            } else {
                hash.write_i64(-graph.chunks.id((node - self.entities) as u32).0);
            }
            hash.write_u32(weight.to_bits());
        }
        hash.finish() as i64
    }
}
