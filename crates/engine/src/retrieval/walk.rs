//! The graph that a question's walk goes over, seen through its weights: nothing is copied.

use super::graph::{GraphIndex, GraphRecipe};
use super::synonyms::Synonyms;
use crate::graph::pagerank::WeightedGraph;
use crate::graph::{EdgeFilter, Graph, Moment};
use crate::types::Direction;

/// Nodes are chunks first, then entities; their mentions, titles and relations are the edges.
pub(super) struct Walk<'a> {
    graph: &'a Graph,
    index: &'a GraphIndex,
    relations: EdgeFilter,
    recipe: &'a GraphRecipe,
    chunks: u32,
    synonyms: Option<&'a Synonyms>,
    /// `ln(1 + n)` for small counts.
    logarithms: [f64; 32],
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        index: &'a GraphIndex,
        at: Moment,
        recipe: &'a GraphRecipe,
    ) -> Self {
        Self {
            graph,
            index,
            relations: EdgeFilter::new(&graph.relations, Direction::Both, None, at),
            recipe,
            chunks: graph.chunks.len() as u32,
            synonyms: None,
            logarithms: std::array::from_fn(|n| libm::log1p(n as f64)),
        }
    }

    /// The same with steps between names that mean almost the same.
    pub(super) fn with_synonyms(mut self, synonyms: Option<&'a Synonyms>) -> Self {
        self.synonyms = synonyms;
        self
    }

    /// The steps from an entity to its synonyms, with their weights.
    fn synonyms_of(&self, entity: u32) -> impl Iterator<Item = (u32, f64)> {
        let GraphRecipe {
            synonym_edge,
            synonym_least: least,
            ..
        } = *self.recipe;
        let others = self.synonyms.map_or(&[][..], |all| all.of(entity));
        let above = others
            .iter()
            .filter(move |(_, cosine)| f64::from(*cosine) > least);
        above.map(move |&(other, cosine)| {
            (
                other,
                synonym_edge * (f64::from(cosine) - least) / (1.0 - least),
            )
        })
    }

    fn mention_weight(&self, count: f64, specificity: f64) -> f64 {
        let whole = count as usize;
        let logarithm = if count.fract() == 0.0 && whole < self.logarithms.len() {
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

    /// The entities of the question's names that lead anywhere, with their shares of the names' mass, most
    /// first.
    pub(super) fn entries(&self, names: &[Vec<u32>]) -> Vec<(u32, f64)> {
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
    pub(super) fn reset(
        &self,
        entries: &[(u32, f64)],
        keyword: &[(u32, f64)],
        vector: &[(u32, f64)],
    ) -> Vec<(u32, f64)> {
        let seeds = &keyword[..keyword.len().min(self.recipe.keyword_seeds)];
        let squares: f64 = seeds.iter().map(|hit| hit.1 * hit.1).sum();
        let keyword_mass = if squares > 0.0 {
            self.recipe.keyword_mass
        } else {
            0.0
        };
        let near = leads(&vector[..vector.len().min(self.recipe.vector_seeds)]);
        let near_squares: f64 = near.iter().map(|hit| hit.1 * hit.1).sum();
        let vector_mass = if near_squares > 0.0 {
            self.recipe.vector_mass
        } else {
            0.0
        };
        let surest = entries
            .iter()
            .map(|&(entity, _)| self.index.rarity(entity))
            .fold(0.0, f64::max);
        let name_mass = libm::pow(surest, self.recipe.trust_exponent);
        let total = name_mass + keyword_mass + vector_mass;
        let names = entries
            .iter()
            .map(|&(entity, share)| (self.chunks + entity, share * name_mass / total));
        let chunks = seeds
            .iter()
            .map(|&(chunk, score)| (chunk, keyword_mass * score * score / (squares * total)))
            .filter(|&(_, mass)| mass > 0.0);
        let near = near
            .iter()
            .map(|&(chunk, lead)| (chunk, vector_mass * lead * lead / (near_squares * total)))
            .filter(|&(_, mass)| mass > 0.0);
        names.chain(chunks).chain(near).collect()
    }
}

/// By how much each hit is nearer than the last: cosines of one model all lie close together.
fn leads(hits: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let last = hits.last().map_or(0.0, |hit| hit.1);
    hits.iter()
        .map(|&(chunk, score)| (chunk, score - last))
        .collect()
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
            + self.synonyms_of(entity).count()
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
        // A title that nothing else leads to would only send the mass back.
        if let Some(entity) = title.filter(|&entity| self.degree(self.chunks + entity) > 1) {
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
        let synonyms = self.synonyms_of(entity);
        out.extend(synonyms.map(|(other, weight)| (self.chunks + other, weight)));
    }
}
