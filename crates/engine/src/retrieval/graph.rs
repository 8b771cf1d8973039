//! The graph lane: question names and keyword hits start a walk over names and chunks; what it reaches is
//! ordered by mass, by keyword rank and by how it connects to the best of the rest.

use rustc_hash::{FxHashMap, FxHashSet};

use super::bridge::{Bridges, Hit};
use crate::graph::pagerank::{Push, WeightedGraph, personalised};
use crate::graph::{EdgeFilter, Graph, Moment};
use crate::types::Direction;

/// Constants of the graph lane. The defaults serve every corpus and language; `docs/retrieval.md` says how
/// they were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphRecipe {
    /// How the walk goes.
    pub push: Push,
    /// Weight of the edge between a title and its document, shared by the document's chunks. A mention weighs
    /// `ln(1 + count)` times the entity's specificity, that is about 0.7 to 15.
    pub title_edge: f64,
    /// Places in the text that bearing a title counts as.
    pub title_count: f64,
    /// Weight of a relation's edge for each `ln(1 + its weight)`.
    pub relation_edge: f64,
    /// Exponent of the specificity of the question's names in the start.
    pub name_exponent: f64,
    /// Mass that the keyword hits start with; the names start with 1.
    pub keyword_mass: f64,
    /// Keyword hits that start with mass, in proportion to their squared scores.
    pub keyword_seeds: usize,
    /// Chunks of the walk, and of the keyword lane, that are put in order.
    pub walk_candidates: usize,
    pub keyword_candidates: usize,
    /// Best chunks of the walk that others may be connected to.
    pub anchors: usize,
    /// Added to the logarithm of the mass for a full connection of each kind, and for the first keyword rank.
    pub to_title: f64,
    pub from_title: f64,
    pub shared_name: f64,
    pub keyword_rank: f64,
}

impl Default for GraphRecipe {
    fn default() -> Self {
        Self {
            push: Push {
                damping: 0.85,
                threshold: 1e-5,
            },
            title_edge: 30.0,
            title_count: 2.0,
            relation_edge: 3.0,
            name_exponent: 1.5,
            keyword_mass: 0.2,
            keyword_seeds: 50,
            walk_candidates: 60,
            keyword_candidates: 20,
            anchors: 8,
            to_title: 2.4,
            from_title: 0.8,
            shared_name: 0.9,
            keyword_rank: 1.6,
        }
    }
}

/// What ranking needs beside the graph; cheap to make, once for each graph.
#[derive(Debug, Clone)]
pub struct GraphIndex {
    /// By entity: `ln(1 + chunks / chunks that mention or bear it)`.
    specificity: Vec<f32>,
}

impl GraphIndex {
    pub fn new(graph: &Graph) -> Self {
        let chunks = graph.chunks.len() as f64;
        let specificity = (0..graph.entities.len() as u32)
            .map(|entity| {
                let mentioned = graph.mentions.chunks(entity);
                let titled = graph
                    .title_chunks(entity)
                    .filter(|chunk| mentioned.binary_search(chunk).is_err())
                    .count();
                libm::log(1.0 + chunks / (mentioned.len() + titled).max(1) as f64) as f32
            })
            .collect();
        Self { specificity }
    }

    /// How much a mention of the entity tells: 0.7 for one in every chunk, more the rarer it is.
    pub fn specificity(&self, entity: u32) -> f64 {
        f64::from(self.specificity[entity as usize])
    }
}

/// A chunk as the graph lane ranked it.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphHit {
    /// Chunk index.
    pub chunk: u32,
    pub score: f64,
    /// Share of the walk's mass, for the record.
    pub mass: f64,
    /// Entities (by index) that connect it to the question (`None`) or to another ranked chunk (its index).
    pub connections: Vec<(u32, Option<u32>)>,
}

/// What the graph lane found.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphRanking {
    /// Entities that the question names, with their share of the start, most first.
    pub entries: Vec<(u32, f64)>,
    /// Best first.
    pub hits: Vec<GraphHit>,
}

/// Most connections that a hit lists.
const CONNECTIONS: usize = 3;

/// Ranks chunks for a question. `names` holds, for each name of the question, the entities it may stand for;
/// `keyword` the keyword lane's hits, best first, as (chunk index, score). Only chunks that `admits` are
/// returned. `None` when no name leads into the graph: then the keyword order is the answer.
pub fn rank(
    graph: &Graph,
    index: &GraphIndex,
    names: &[Vec<u32>],
    keyword: &[(u32, f64)],
    admits: impl Fn(u32) -> bool,
    at: Moment,
    recipe: &GraphRecipe,
) -> Option<GraphRanking> {
    let walk = Walk::new(graph, index, at, recipe);
    let entries = walk.entries(names);
    if entries.is_empty() {
        return None;
    }
    let reached = personalised(&walk, &walk.reset(&entries, keyword), recipe.push);
    let chunks = graph.chunks.len();
    let chunk_nodes = reached.partition_point(|&(node, _)| (node as usize) < chunks);
    let mut by_mass: Vec<(u32, f64)> = reached[..chunk_nodes]
        .iter()
        .copied()
        .filter(|&(chunk, mass)| mass > 0.0 && admits(chunk))
        .collect();
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let wanted = recipe.walk_candidates.max(recipe.anchors);
    if by_mass.len() > wanted {
        by_mass.select_nth_unstable_by(wanted, order);
        by_mass.truncate(wanted);
    }
    by_mass.sort_unstable_by(order);
    let best = by_mass.first().map_or(1.0, |hit| hit.1);

    let keyword_rank: FxHashMap<u32, usize> = keyword
        .iter()
        .enumerate()
        .map(|(position, &(chunk, _))| (chunk, position + 1))
        .collect();
    let mass: FxHashMap<u32, f64> = reached[..chunk_nodes].iter().copied().collect();
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let candidates: Vec<u32> = by_mass
        .iter()
        .take(recipe.walk_candidates)
        .chain(
            keyword
                .iter()
                .filter(|hit| admits(hit.0))
                .take(recipe.keyword_candidates),
        )
        .map(|hit| hit.0)
        .filter(|&chunk| seen.insert(chunk))
        .collect();

    let asked: FxHashSet<u32> = entries.iter().map(|entry| entry.0).collect();
    let anchors: Vec<Hit> = by_mass
        .iter()
        .take(recipe.anchors)
        .map(|&(chunk, mass)| Hit {
            chunk,
            strength: (mass / best).sqrt(),
        })
        .collect();
    let bridges = Bridges::new(graph, index, &asked, &anchors);
    let mut hits: Vec<GraphHit> = candidates
        .into_iter()
        .map(|chunk| {
            let mass = mass.get(&chunk).copied().unwrap_or(0.0);
            let bridge = bridges.of(chunk);
            let mut score = libm::log(mass / best + LEAST_MASS)
                + recipe.to_title * bridge.to_title
                + recipe.from_title * bridge.from_title
                + recipe.shared_name * bridge.shared_name;
            if let Some(&rank) = keyword_rank.get(&chunk) {
                score += recipe.keyword_rank / rank as f64;
            }
            GraphHit {
                chunk,
                score,
                mass,
                connections: bridge.connections(CONNECTIONS),
            }
        })
        .collect();
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    Some(GraphRanking { entries, hits })
}

/// Share of the best mass below which mass makes no difference.
const LEAST_MASS: f64 = 1e-5;

/// The graph that is walked: chunks first, then entities; their mentions, titles and relations are the edges.
struct Walk<'a> {
    graph: &'a Graph,
    index: &'a GraphIndex,
    relations: EdgeFilter,
    recipe: &'a GraphRecipe,
    chunks: u32,
    /// `ln(1 + n)` for small counts.
    logarithms: [f64; 32],
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, index: &'a GraphIndex, at: Moment, recipe: &'a GraphRecipe) -> Self {
        Self {
            graph,
            index,
            relations: EdgeFilter::new(&graph.relations, Direction::Both, None, at),
            recipe,
            chunks: graph.chunks.len() as u32,
            logarithms: std::array::from_fn(|n| libm::log1p(n as f64)),
        }
    }

    fn mention_weight(&self, count: f64, specificity: f64) -> f64 {
        let whole = count as usize;
        let logarithm = if whole as f64 == count && whole < self.logarithms.len() {
            self.logarithms[whole]
        } else {
            libm::log1p(count)
        };
        logarithm * specificity
    }

    fn title_weight(&self, count: f64, specificity: f64, title_chunks: usize) -> f64 {
        self.mention_weight(count + self.recipe.title_count, specificity)
            + self.recipe.title_edge / title_chunks as f64
    }

    fn title_chunk_count(&self, entity: u32) -> usize {
        self.graph
            .title_documents
            .row(entity)
            .iter()
            .map(|&document| self.graph.document_chunks.row(document).len())
            .sum()
    }

    fn entries(&self, names: &[Vec<u32>]) -> Vec<(u32, f64)> {
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for name in names {
            let connected: Vec<u32> = name
                .iter()
                .copied()
                .filter(|&entity| self.degree(self.chunks + entity) > 0)
                .collect();
            for &entity in &connected {
                let weight = libm::pow(self.index.specificity(entity), self.recipe.name_exponent)
                    / connected.len() as f64;
                match entries.iter_mut().find(|entry| entry.0 == entity) {
                    Some(entry) => entry.1 = entry.1.max(weight),
                    None => entries.push((entity, weight)),
                }
            }
        }
        let total: f64 = entries.iter().map(|entry| entry.1).sum();
        for entry in &mut entries {
            entry.1 /= total;
        }
        entries.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        entries
    }

    /// Where the walk starts, of mass 1.
    fn reset(&self, entries: &[(u32, f64)], keyword: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let seeds = &keyword[..keyword.len().min(self.recipe.keyword_seeds)];
        let squares: f64 = seeds.iter().map(|hit| hit.1 * hit.1).sum();
        let keyword_mass = if squares > 0.0 {
            self.recipe.keyword_mass
        } else {
            0.0
        };
        let total = 1.0 + keyword_mass;
        let names = entries
            .iter()
            .map(|&(entity, share)| (self.chunks + entity, share / total));
        let chunks = seeds
            .iter()
            .map(|&(chunk, score)| (chunk, keyword_mass * score * score / (squares * total)))
            .filter(|&(_, mass)| mass > 0.0);
        names.chain(chunks).collect()
    }
}

impl WeightedGraph for Walk<'_> {
    fn nodes(&self) -> usize {
        self.graph.chunks.len() + self.graph.entities.len()
    }

    fn degree(&self, node: u32) -> usize {
        if node < self.chunks {
            let title = self.graph.title_of_chunk(node).is_some();
            return self.graph.mentions.entities(node).len() + usize::from(title);
        }
        let entity = node - self.chunks;
        let relations = &self.graph.relations;
        self.graph.mentions.chunks(entity).len()
            + self.title_chunk_count(entity)
            + relations.targets(entity).len()
            + relations.sources(entity).len()
    }

    fn edges(&self, node: u32, out: &mut Vec<(u32, f64)>) {
        if node < self.chunks {
            self.edges_of_chunk(node, out);
        } else {
            self.edges_of_entity(node - self.chunks, out);
        }
    }
}

impl Walk<'_> {
    fn edges_of_chunk(&self, chunk: u32, out: &mut Vec<(u32, f64)>) {
        let mentions = &self.graph.mentions;
        let title = self.graph.title_of_chunk(chunk);
        let mut title_count = 0.0;
        for (&entity, &count) in mentions.entities(chunk).iter().zip(mentions.counts(chunk)) {
            if Some(entity) == title {
                title_count = f64::from(count);
                continue;
            }
            let weight = self.mention_weight(f64::from(count), self.index.specificity(entity));
            if weight > 0.0 {
                out.push((self.chunks + entity, weight));
            }
        }
        if let Some(entity) = title {
            let weight = self.title_weight(
                title_count,
                self.index.specificity(entity),
                self.title_chunk_count(entity),
            );
            out.push((self.chunks + entity, weight));
        }
    }

    fn edges_of_entity(&self, entity: u32, out: &mut Vec<(u32, f64)>) {
        let mentions = &self.graph.mentions;
        let specificity = self.index.specificity(entity);
        let title_chunks = self.title_chunk_count(entity);
        let is_title =
            |chunk: u32| title_chunks > 0 && self.graph.title_of_chunk(chunk) == Some(entity);
        for (&chunk, &count) in mentions
            .chunks(entity)
            .iter()
            .zip(mentions.chunk_counts(entity))
        {
            let count = f64::from(count);
            let weight = if is_title(chunk) {
                self.title_weight(count, specificity, title_chunks)
            } else {
                self.mention_weight(count, specificity)
            };
            if weight > 0.0 {
                out.push((chunk, weight));
            }
        }
        for chunk in self.graph.title_chunks(entity) {
            if mentions.chunks(entity).binary_search(&chunk).is_err() {
                out.push((chunk, self.title_weight(0.0, specificity, title_chunks)));
            }
        }
        let relations = &self.graph.relations;
        relations.each_neighbor(entity, &self.relations, |other, position| {
            let weight =
                self.recipe.relation_edge * libm::log1p(f64::from(relations.weight(position)));
            if weight > 0.0 {
                out.push((self.chunks + other, weight));
            }
        });
    }
}
