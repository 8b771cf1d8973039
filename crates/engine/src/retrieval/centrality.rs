//! The sentences of a community that speak most of what is central in it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reader;
use super::quote::states_something;
use crate::Result;
use crate::storage;
use crate::text::{fold, sentences};
use crate::types::{Citation, EntityId};

/// Chunks of a community that are read.
const CHUNKS: usize = 16;
/// A finding is a whole sentence of at least and at most so many bytes.
const SHORTEST: usize = 30;
const LONGEST: usize = 600;

/// The `most` most central sentences, at most one a chunk in the first round. `central` holds the entities with their
/// names and weights, best first.
pub(crate) fn central_sentences(
    reader: &Reader<'_>,
    central: &[(EntityId, String, f64)],
    most: usize,
) -> Result<Vec<Citation>> {
    let graph = &reader.graph.graph;
    let mut weight: FxHashMap<u32, f64> = FxHashMap::default();
    for (entity, _, ties) in central {
        let Some(index) = graph.entities.get(*entity) else {
            continue;
        };
        let mentioned = graph.mentions.chunks(index).iter().copied();
        for chunk in mentioned.chain(graph.title_chunks(index)) {
            *weight.entry(chunk).or_default() += libm::log1p(*ties);
        }
    }
    let mut chunks: Vec<(u32, f64)> = weight.into_iter().collect();
    chunks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let names: Vec<(String, f64)> = central
        .iter()
        .map(|(_, name, ties)| (fold(name), libm::log1p(*ties)))
        .collect();
    let mut found: Vec<(usize, f64, Citation)> = Vec::new();
    for &(chunk, _) in chunks.iter().take(CHUNKS) {
        let Some(row) = storage::evidence_chunk(reader.connection, graph.chunks.id(chunk))? else {
            continue;
        };
        let mut of_chunk: Vec<(f64, Citation)> = Vec::new();
        for range in sentences(&row.text, LONGEST) {
            let text = &row.text[range.clone()];
            if text.len() < SHORTEST || !states_something(text) {
                continue;
            }
            let folded = fold(text);
            let held: f64 = names
                .iter()
                .filter(|(name, _)| folded.contains(name.as_str()))
                .map(|(_, weight)| weight)
                .sum();
            of_chunk.push((held, row.citation(range)));
        }
        of_chunk.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.start.cmp(&b.1.start)));
        found.extend(
            of_chunk
                .into_iter()
                .enumerate()
                .map(|(round, (held, citation))| (round, held, citation)),
        );
    }
    found.sort_by(|a, b| {
        (a.0.cmp(&b.0))
            .then(b.1.total_cmp(&a.1))
            .then_with(|| (a.2.document, a.2.start).cmp(&(b.2.document, b.2.start)))
    });
    let mut seen = FxHashSet::default();
    Ok(found
        .into_iter()
        .map(|(_, _, citation)| citation)
        .filter(|citation| seen.insert(citation.quote.clone()))
        .take(most)
        .collect())
}
