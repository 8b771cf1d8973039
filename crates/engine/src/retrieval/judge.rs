//! What the graph says of a candidate, for the learned ranker.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{GraphIndex, GraphRecipe, LEAST_MASS, Start};
use super::walk::Walk;
use crate::graph::pagerank::{Push, personalised};
use crate::graph::{Graph, Moment, Traversal};
use crate::ranker::Features;

/// Relations between a title and a name of the question that still count as near, and entities looked at.
const MOST_HOPS: u32 = 2;
const MOST_ENTITIES: usize = 400;

/// The question's own numbers, and those of everything near it.
pub(super) struct Judge<'a> {
    graph: &'a Graph,
    index: &'a GraphIndex,
    asked: &'a FxHashSet<u32>,
    /// Mass of the recipe's walk by node.
    reached: FxHashMap<u32, f64>,
    near: Masses,
    word: Masses,
    /// Relations away from the question's names, by entity.
    distance: FxHashMap<u32, u32>,
    specificity_asked: f64,
    best_rarity: f64,
}

/// Mass of chunks in a walk.
struct Masses {
    of: FxHashMap<u32, f64>,
    best: f64,
}

impl Masses {
    fn new(graph: &Graph, walk: &Walk<'_>, reset: &[(u32, f64)], push: Push) -> Self {
        let mut of: FxHashMap<u32, f64> = FxHashMap::default();
        let mut best = 0.0_f64;
        for (node, mass) in personalised(walk, reset, push) {
            if (node as usize) < graph.chunks.len() {
                best = best.max(mass);
                of.insert(node, mass);
            }
        }
        Self { of, best }
    }

    fn share(&self, chunk: u32) -> f64 {
        let mass = self.of.get(&chunk).copied().unwrap_or(0.0);
        let best = if self.best > 0.0 { self.best } else { 1.0 };
        libm::log(mass / best + LEAST_MASS)
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        index: &'a GraphIndex,
        start: &Start<'_>,
        entries: &[(u32, f64)],
        asked: &'a FxHashSet<u32>,
        reached: &[(u32, f64)],
        (at, recipe): (Moment, &GraphRecipe),
    ) -> Self {
        let masses = |keyword_mass: f64, damping: f64| {
            let recipe = GraphRecipe {
                keyword_mass,
                vector_mass: recipe.vector_mass.min(keyword_mass),
                push: Push {
                    damping,
                    ..recipe.push
                },
                ..*recipe
            };
            let walk = Walk::new(graph, index, at, &recipe);
            let reset = walk.reset(entries, start.keyword, start.vector);
            Masses::new(graph, &walk, &reset, recipe.push)
        };
        let nodes = Traversal {
            max_hops: MOST_HOPS,
            max_nodes: MOST_ENTITIES,
            ..Traversal::new(entries.iter().map(|entry| entry.0).collect(), at)
        };
        let (nodes, _) = nodes.nodes(&graph.relations);
        let asked_in_order = entries.iter().map(|entry| entry.0);
        Self {
            near: masses(0.02, 0.7),
            word: masses(1.0, 0.5),
            reached: reached.iter().copied().collect(),
            distance: nodes.iter().map(|node| (node.entity, node.depth)).collect(),
            specificity_asked: asked_in_order
                .clone()
                .map(|entity| index.specificity(entity))
                .sum(),
            best_rarity: asked_in_order
                .map(|entity| index.rarity(entity))
                .fold(0.0, f64::max),
            graph,
            index,
            asked,
        }
    }

    /// Adds what the graph says to what the lanes said.
    pub(super) fn complete(&self, chunk: u32, lanes: Features) -> Features {
        let entities = self.graph.mentions.entities(chunk);
        let title = self.graph.title_of_chunk(chunk);
        let beyond = title.filter(|title| entities.binary_search(title).is_err());
        let held = entities
            .iter()
            .copied()
            .chain(beyond)
            .filter(|entity| self.asked.contains(entity));
        let (mut held_weight, mut held_count) = (0.0, 0);
        for entity in held {
            held_weight += self.index.specificity(entity);
            held_count += 1;
        }
        let first_entity = self.graph.chunks.len() as u32;
        let mass_at = |entity: u32| {
            self.reached
                .get(&(first_entity + entity))
                .copied()
                .unwrap_or(0.0)
        };
        let bridges = entities
            .iter()
            .copied()
            .filter(|entity| !self.asked.contains(entity));
        let bridge_mass: f64 = bridges.map(mass_at).sum();
        let hops = title.and_then(|title| self.distance.get(&title));
        Features {
            near_mass: self.near.share(chunk),
            word_mass: self.word.share(chunk),
            title_asked: f64::from(u8::from(
                title.is_some_and(|title| self.asked.contains(&title)),
            )),
            names_held: held_weight / self.specificity_asked.max(LEAST_MASS),
            names_missing: self.asked.len() as f64 - f64::from(held_count),
            bridge_mass: libm::log(bridge_mass + LEAST_MASS),
            title_mass: libm::log(title.map_or(0.0, mass_at) + LEAST_MASS),
            link_distance: hops.map_or(0.0, |&hops| 1.0 / f64::from(1 + hops)),
            mentions: libm::log1p(entities.len() as f64),
            names_asked: self.asked.len() as f64,
            best_rarity: self.best_rarity,
            ..lanes
        }
    }
}
