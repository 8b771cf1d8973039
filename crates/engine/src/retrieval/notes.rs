//! The vault recipe: best chunk per note, then one hop along outgoing links.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Reader;
use super::keyword::keyword;
use super::recipe::LinkExpansion;
use super::vector::{Vectors, of_documents};
use crate::Result;
use crate::graph::{Graph, Moment};
use crate::text::QueryTerm;
use crate::types::{ChunkId, DocumentId};

/// What the expansion found.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// Best chunk of each note, best first.
    pub hits: Vec<(ChunkId, f64)>,
    /// Neighbours that the links added.
    pub added: usize,
    /// The neighbour limit was reached.
    pub cut: bool,
}

/// How the chunks of neighbours are scored: as the first list was, by likeness where there are vectors.
pub(super) struct Neighbours<'a> {
    pub terms: &'a [QueryTerm],
    pub vectors: Option<&'a Vectors>,
    /// Only these documents.
    pub documents: Option<&'a [DocumentId]>,
    /// Notes that belong to the candidates whatever links to them, by document index.
    pub cards: &'a [u32],
    /// They come first.
    pub cards_first: bool,
}

/// Keeps the best chunk of each of the best notes, adds the best chunk of each note they link to, and orders
/// all of them by the same score. A neighbour that holds no word of the question comes last, by its first chunk.
pub(super) fn expand(
    reader: &Reader<'_>,
    neighbours: &Neighbours<'_>,
    hits: &[(ChunkId, f64)],
    limits: LinkExpansion,
) -> Result<Expanded> {
    let graph = &reader.graph.graph;
    let mut best: Vec<(ChunkId, f64)> = Vec::new();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut score_of: FxHashMap<u32, (ChunkId, f64)> = FxHashMap::default();
    for &(chunk, score) in hits {
        let Some(document) = document_of(graph, chunk) else {
            continue;
        };
        score_of.entry(document).or_insert((chunk, score));
        if best.len() < limits.notes && seen.insert(document) {
            best.push((chunk, score));
        }
    }
    let seeds: Vec<u32> = best
        .iter()
        .take(limits.seeds)
        .filter_map(|&(chunk, _)| document_of(graph, chunk))
        .collect();
    let (neighbors, cut) = linked_notes(
        graph,
        &seeds,
        &mut seen,
        limits.neighbors,
        neighbours.documents,
        reader.at,
    );
    let added = neighbors.len();
    let mut neighbors = neighbors;
    neighbors.extend(neighbours.cards.iter().filter(|&&card| seen.insert(card)));
    let unscored: Vec<DocumentId> = neighbors
        .iter()
        .filter(|document| !score_of.contains_key(document))
        .map(|&document| graph.documents.id(document))
        .collect();
    if !unscored.is_empty() {
        let scored = match neighbours.vectors {
            Some(vectors) => of_documents(reader, vectors, &unscored),
            None => keyword(
                reader,
                neighbours.terms,
                Some(&unscored),
                10 * unscored.len(),
            )?,
        };
        for (chunk, score) in scored {
            if let Some(document) = document_of(graph, chunk) {
                score_of.entry(document).or_insert((chunk, score));
            }
        }
    }
    for document in neighbors {
        let first = graph
            .document_chunks
            .row(document)
            .iter()
            .find(|&&chunk| !reader.hidden.chunks.contains(&graph.chunks.id(chunk)));
        let found = score_of
            .get(&document)
            .copied()
            .or_else(|| first.map(|&chunk| (graph.chunks.id(chunk), 0.0)));
        best.extend(found);
    }
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    if neighbours.cards_first {
        let is_card = |hit: &(ChunkId, f64)| {
            document_of(graph, hit.0).is_some_and(|document| neighbours.cards.contains(&document))
        };
        // Stable: false comes before true.
        best.sort_by_key(|hit| !is_card(hit));
        let highest = best.iter().map(|hit| hit.1).fold(0.0, f64::max);
        let cards = best.iter_mut().take_while(|hit| is_card(hit));
        for (place, card) in cards.enumerate() {
            card.1 = highest + 1.0 / (1 + place) as f64;
        }
    }
    Ok(Expanded {
        hits: best,
        added,
        cut,
    })
}

fn document_of(graph: &Graph, chunk: ChunkId) -> Option<u32> {
    let chunk = graph.chunks.get(chunk)?;
    Some(graph.chunk_document[chunk as usize])
}

/// Notes that the seeds link to and that were not seen, in the order of the seeds; stops at `limit`.
fn linked_notes(
    graph: &Graph,
    seeds: &[u32],
    seen: &mut BTreeSet<u32>,
    limit: usize,
    documents: Option<&[DocumentId]>,
    at: Moment,
) -> (Vec<u32>, bool) {
    let mut found = Vec::new();
    for &seed in seeds {
        let entity = graph.title_entity[seed as usize];
        if entity == crate::graph::NO_ENTITY {
            continue;
        }
        for position in graph.relations.outgoing(entity) {
            if !graph.relations.is_visible(position, at) {
                continue;
            }
            for &document in graph
                .title_documents
                .row(graph.relations.target_of(position))
            {
                if documents.is_some_and(|allowed| !allowed.contains(&graph.documents.id(document)))
                {
                    continue;
                }
                if !seen.insert(document) {
                    continue;
                }
                if found.len() == limit {
                    return (found, true);
                }
                found.push(document);
            }
        }
    }
    (found, false)
}
