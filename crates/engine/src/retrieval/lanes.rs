//! The lanes of a search that work on what the text lanes found.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reader;
use super::assemble::Found;
use super::graph::{GraphRanking, GraphRecipe, Start, rank};
use super::keyword::keyword;
use super::notes::{Neighbours, expand};
use super::recipe::LinkExpansion;
use super::search::{Outcome, RankedGraph};
use super::turns::POOL;
use super::vector::{Vectors, of_chunks};
use crate::Result;
use crate::graph::vocabulary::find_names;
use crate::loading::StoredNames;
use crate::storage;
use crate::text::{QueryTerm, fold};
use crate::types::{
    self, ChunkId, DocumentId, EntityId, EntryEntity, GateDecision, Lane, LaneStatus, SearchRequest,
};

/// Said when the question names nothing that the graph knows.
const NO_ENTRY: &str = "no entry entity";

/// Notes of what the question names, at most.
const MOST_CARDS: usize = 10;

/// Which reranker it was that ran.
const LEARNED: &str = "the learned ranker";

/// What the text lanes found, best first.
pub(super) struct TextLanes<'a> {
    pub keyword: &'a [(ChunkId, f64)],
    pub near: &'a [(ChunkId, f64)],
    /// Where the vector lane ran.
    pub vectors: Option<&'a Vectors>,
}

/// A lane's hits as they are.
pub(super) fn plain(hits: &[(ChunkId, f64)]) -> Vec<Found> {
    hits.iter()
        .map(|&(chunk, score)| Found::new(chunk, score))
        .collect()
}

/// Ranks by the graph around what the question names; `None` when it names nothing: then the order of the other
/// lanes stays.
pub(super) fn graph_lane(
    reader: &Reader<'_>,
    request: &SearchRequest,
    lanes: &TextLanes<'_>,
    by_text: &[Found],
    outcome: &mut Outcome,
) -> Result<Option<Vec<Found>>> {
    let RankedGraph { graph, index, .. } = reader.graph;
    let names = question_names(reader, &request.query)?;
    let indexed = |hits: &[(ChunkId, f64)]| -> Vec<(u32, f64)> {
        let known = hits.iter();
        known
            .filter_map(|&(chunk, score)| Some((graph.chunks.get(chunk)?, score)))
            .collect()
    };
    let (keyword, near) = (indexed(lanes.keyword), indexed(lanes.near));
    let nearness = |chunks: &[u32]| -> Vec<(u32, f64)> {
        let ids: Vec<ChunkId> = chunks.iter().map(|&chunk| graph.chunks.id(chunk)).collect();
        lanes
            .vectors
            .map_or_else(Vec::new, |vectors| indexed(&of_chunks(vectors, &ids)))
    };
    let allowed: Option<FxHashSet<u32>> = request.documents.as_ref().map(|ids| {
        ids.iter()
            .filter_map(|&id| graph.documents.get(id))
            .collect()
    });
    let admits = |chunk: u32| {
        allowed
            .as_ref()
            .is_none_or(|allowed| allowed.contains(&graph.chunk_document[chunk as usize]))
            && !reader.hidden.chunks.contains(&graph.chunks.id(chunk))
    };
    let rankers = reader
        .rankers
        .filter(|_| !request.without.contains(&Lane::Rerank));
    let ranker = rankers.map(|rankers| match lanes.vectors {
        Some(_) => &rankers.vectors,
        None => &rankers.words,
    });
    let ranking = rank(
        graph,
        index,
        &Start {
            names: &names,
            keyword: &keyword,
            vector: &near,
            nearness: &nearness,
            synonyms: reader.synonyms()?,
        },
        admits,
        reader.at,
        &GraphRecipe::default(),
        ranker,
    );
    let Some(ranking) = ranking else {
        outcome.record(Lane::Graph, LaneStatus::Skipped, 0, NO_ENTRY);
        outcome.notes.push(NO_ENTRY.to_owned());
        return Ok(None);
    };
    let mut entries = Vec::new();
    for &(entity, weight) in &ranking.entries {
        let row = storage::entity(reader.connection, graph.entities.id(entity))?;
        entries.push(EntryEntity {
            public_id: row.public_id,
            name: row.name,
            weight,
        });
    }
    let mut found = graph_found(reader, &ranking, request.limit)?;
    // What only the other lanes found comes after what the graph put in order.
    let ranked: FxHashSet<ChunkId> = found.iter().map(|found| found.chunk).collect();
    let lowest = found.last().map_or(0.0, |found| found.score);
    found.extend(
        by_text
            .iter()
            .filter(|found| !ranked.contains(&found.chunk))
            .enumerate()
            .map(|(position, found)| Found {
                score: lowest - 1.0 - position as f64,
                ..found.clone()
            }),
    );
    outcome.record(Lane::Graph, LaneStatus::Ran, ranking.hits.len(), "");
    if ranker.is_some() {
        outcome.record(Lane::Rerank, LaneStatus::Ran, ranking.hits.len(), LEARNED);
    }
    outcome.entry_entities = entries;
    Ok(Some(found))
}

/// Ranks turns of conversations, when most of the best passages are such; the question's names are its entries.
pub(super) fn turns_lane(
    reader: &Reader<'_>,
    request: &SearchRequest,
    terms: &[QueryTerm],
    hits: &[(ChunkId, f64)],
    outcome: &mut Outcome,
) -> Result<Option<Vec<Found>>> {
    let turns = reader.graph.turns(reader.connection, reader.namespace)?;
    if !turns.prevail(hits, request.limit) {
        return Ok(None);
    }
    let graph = &reader.graph.graph;
    let named: FxHashSet<EntityId> = question_names(reader, &request.query)?
        .into_iter()
        .flatten()
        .map(|entity| graph.entities.id(entity))
        .collect();
    let documents = request.documents.as_deref();
    let pool = keyword(reader, terms, documents, POOL)?;
    let allowed: Option<FxHashSet<DocumentId>> =
        documents.map(|documents| documents.iter().copied().collect());
    let admits = |chunk: ChunkId| {
        let document = graph
            .chunks
            .get(chunk)
            .map(|chunk| graph.documents.id(graph.chunk_document[chunk as usize]));
        !reader.hidden.chunks.contains(&chunk)
            && allowed
                .as_ref()
                .is_none_or(|allowed| document.is_some_and(|document| allowed.contains(&document)))
    };
    let shared = turns.share(&pool, &named, admits);
    outcome.record(Lane::Turns, LaneStatus::Ran, shared.len(), "");
    let mut entries: Vec<EntityId> = named.into_iter().collect();
    entries.sort_unstable();
    for &entity in &entries {
        let row = storage::entity(reader.connection, entity)?;
        outcome.entry_entities.push(EntryEntity {
            public_id: row.public_id,
            name: row.name,
            weight: 1.0 / entries.len() as f64,
        });
    }
    Ok(Some(
        (1..)
            .zip(shared)
            .map(|(rank, (chunk, score))| {
                let mut found = Found::new(chunk, score);
                found.lanes.push((Lane::Turns, rank));
                found
            })
            .collect(),
    ))
}

/// For each known name in the question: the entities it may stand for, by index.
fn question_names(reader: &Reader<'_>, query: &str) -> Result<Vec<Vec<u32>>> {
    let language = crate::text::detect_language(query);
    let mut lookup = StoredNames {
        connection: reader.connection,
        namespace: reader.namespace,
    };
    let mut names = Vec::new();
    for place in find_names(query, language, &mut lookup)? {
        let entities =
            storage::entities_of_form(reader.connection, reader.namespace, &fold(&query[place]))?;
        names.push(
            entities
                .into_iter()
                .filter_map(|entity| reader.graph.graph.entities.get(entity))
                .collect(),
        );
    }
    Ok(names)
}

/// Only the first `shown` are given their connections.
fn graph_found(reader: &Reader<'_>, ranking: &GraphRanking, shown: usize) -> Result<Vec<Found>> {
    let graph = &reader.graph.graph;
    let rank_of: FxHashMap<u32, usize> = ranking
        .hits
        .iter()
        .enumerate()
        .map(|(position, hit)| (hit.chunk, position + 1))
        .collect();
    ranking
        .hits
        .iter()
        .enumerate()
        .map(|(position, hit)| {
            let mut found = Found::new(graph.chunks.id(hit.chunk), hit.score);
            found.lanes.push((Lane::Graph, position + 1));
            found.features = reader.rankers.map(|_| hit.features);
            let connections = if position < shown {
                hit.connections.as_slice()
            } else {
                &[]
            };
            for &(entity, through) in connections {
                let name = storage::entity(reader.connection, graph.entities.id(entity))?.name;
                found.connections.push(types::Connection {
                    entity: name,
                    through: through.and_then(|chunk| rank_of.get(&chunk).copied()),
                });
            }
            Ok(found)
        })
        .collect()
}

/// The notes that bear a name of the question, by document index, in the order of the question.
pub(super) fn named_notes(
    reader: &Reader<'_>,
    question: &str,
    documents: Option<&[DocumentId]>,
) -> Result<Vec<u32>> {
    let graph = &reader.graph.graph;
    let mut notes: Vec<u32> = Vec::new();
    for entity in question_names(reader, question)?.into_iter().flatten() {
        for &document in graph.title_documents.row(entity) {
            let id = graph.documents.id(document);
            let is_wanted = documents.is_none_or(|documents| documents.contains(&id));
            if is_wanted && notes.len() < MOST_CARDS && !notes.contains(&document) {
                notes.push(document);
            }
        }
    }
    Ok(notes)
}

/// Keeps the best chunk of each of the best notes and adds the notes that they link to, unless the gate is closed.
pub(super) fn links_lane(
    reader: &Reader<'_>,
    lanes: &TextLanes<'_>,
    neighbours: &Neighbours<'_>,
    limits: LinkExpansion,
    gate: &GateDecision,
    outcome: &mut Outcome,
) -> Result<Vec<Found>> {
    let first = match lanes.vectors {
        Some(_) => lanes.near,
        None => lanes.keyword,
    };
    let limits = if gate.open {
        limits
    } else {
        limits.without_links()
    };
    let expanded = expand(reader, neighbours, first, limits)?;
    let (status, reason) = if !gate.open {
        (LaneStatus::Skipped, gate.reason.as_str())
    } else if expanded.cut {
        (LaneStatus::Cut, "stopped at the neighbour limit")
    } else {
        (LaneStatus::Ran, "")
    };
    outcome.record(Lane::Links, status, expanded.added, reason);
    Ok(plain(&expanded.hits))
}
