//! One search: runs the recipe's lanes, and says what became of each.

use std::sync::OnceLock;

use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assemble::{Found, assemble};
use super::graph::{GraphIndex, GraphRanking, GraphRecipe, rank};
use super::keyword::keyword;
use super::notes::{Neighbours, expand};
use super::recipe::{Base, LinkExpansion, Recipe};
use super::rerank::{Reranked, RerankerSource, rerank};
use super::turns::{POOL, Turns};
use super::vector::{Vectors, fuse, mark, nearest};
use crate::Result;
use crate::graph::vocabulary::find_names;
use crate::graph::{AliasTable, Graph, Moment};
use crate::loading::StoredNames;
use crate::storage::{self, Hidden};
use crate::text::{Language, QueryTerm, fold, query_terms};
use crate::types::{
    self, ChunkId, DocumentId, EntityId, EntryEntity, Lane, LaneRecord, LaneStatus, SearchRequest,
    SearchResponse,
};

/// Said when the question names nothing that the graph knows.
const NO_ENTRY: &str = "no entry entity";

/// The graph with what ranking needs of it.
pub(crate) struct RankedGraph {
    pub graph: Graph,
    index: GraphIndex,
    /// Every alias of the store, loaded when a name has to be found by likeness.
    aliases: OnceLock<AliasTable>,
    /// The turns of conversations, loaded by the first search that ranks by them.
    turns: OnceLock<Turns>,
}

impl RankedGraph {
    pub(crate) fn new(graph: Graph) -> Self {
        let index = GraphIndex::new(&graph);
        Self {
            graph,
            index,
            aliases: OnceLock::new(),
            turns: OnceLock::new(),
        }
    }

    /// The aliases by likeness; read once for each state of the store.
    pub(crate) fn alias_table(
        &self,
        connection: &Connection,
        namespace: i64,
    ) -> Result<&AliasTable> {
        if let Some(table) = self.aliases.get() {
            return Ok(table);
        }
        let mut rows: Vec<(String, EntityId)> = Vec::new();
        storage::for_each_alias(connection, namespace, |form, entity| {
            rows.push((form.to_owned(), entity));
        })?;
        Ok(self
            .aliases
            .get_or_init(|| AliasTable::new(rows.into_iter())))
    }
}

impl RankedGraph {
    /// The turns of conversations; read once for each state of the store.
    fn turns(&self, connection: &Connection, namespace: i64) -> Result<&Turns> {
        if let Some(turns) = self.turns.get() {
            return Ok(turns);
        }
        let turns = Turns::new(storage::turns(connection, namespace)?);
        Ok(self.turns.get_or_init(|| turns))
    }
}

/// What a search reads.
pub(crate) struct Reader<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
    pub graph: &'a RankedGraph,
    /// Languages of the documents, most frequent first.
    pub languages: Vec<Language>,
    /// The time that relations are looked at.
    pub at: Moment,
    /// Passages that this time does not have.
    pub hidden: Hidden,
    /// Vectors near a question, asked for by recipes that use them.
    pub vectors: &'a dyn Fn(&str) -> Vectors,
    /// What has the last word on the order of results, if anything has.
    pub reranker: Option<RerankerSource<'a>>,
}

/// Runs a search. Lanes that have nothing to work with are recorded; they never empty or fail the search.
pub(crate) fn search(reader: &Reader<'_>, request: &SearchRequest) -> Result<SearchResponse> {
    let recipe = Recipe::of(request.mode, request.limit);
    let terms = query_terms(&request.query, &reader.languages);
    let documents = request.documents.as_deref();
    let mut outcome = Outcome::default();
    if reader.hidden.replaced > 0 {
        outcome.notes.push(format!(
            "{} passages of that time have been replaced since and are not searched",
            reader.hidden.replaced
        ));
    }

    let hits = keyword(reader, &terms, documents, recipe.keyword_limit)?;
    outcome.record(Lane::Keyword, LaneStatus::Ran, hits.len(), "");
    let vectors = recipe
        .base
        .asks_vectors()
        .then(|| (reader.vectors)(&request.query));
    let vectors = vectors.as_ref().filter(|vectors| {
        recipe.base != Base::FusedWhereStored || !matches!(vectors, Vectors::NoneStored)
    });
    let near = match vectors {
        Some(vectors) => {
            let near = nearest(reader, vectors, documents, recipe.keyword_limit);
            outcome.vector_lane(near)
        }
        None => Vec::new(),
    };
    let keyword_rank: FxHashMap<ChunkId, usize> = hits
        .iter()
        .enumerate()
        .map(|(position, &(chunk, _))| (chunk, position + 1))
        .collect();
    let plain = |hits: &[(ChunkId, f64)]| -> Vec<Found> {
        hits.iter()
            .map(|&(chunk, score)| Found::new(chunk, score))
            .collect()
    };
    let mut found = match recipe.base {
        _ if near.is_empty() => plain(&hits),
        Base::Keyword => plain(&hits),
        Base::Vector => plain(&near),
        Base::Fused | Base::FusedWhereStored => fuse(&hits, &near),
    };
    if recipe.turns
        && let Some(shared) = turns_lane(reader, request, &terms, &hits, &mut outcome)?
    {
        found = shared;
    } else if recipe.graph {
        found = graph_lane(reader, request, &hits, found, &mut outcome)?;
    }
    if let Some(limits) = recipe.links {
        let first = if near.is_empty() { &hits } else { &near };
        let by_likeness = vectors.filter(|_| !near.is_empty());
        let context = Neighbours {
            terms: &terms,
            vectors: by_likeness,
            documents,
        };
        found = links_lane(reader, &context, first, limits, &mut outcome)?;
    }
    if let Some(reranker) = reader.reranker {
        let reranked = rerank(reader, reranker, &request.query, request.limit, &mut found)?;
        outcome.rerank_lane(reranked);
    } else if recipe.links.is_some() {
        let reason = "no reranker configured";
        outcome.record(Lane::Rerank, LaneStatus::Skipped, 0, reason);
    }
    mark(&mut found, &near);
    for found in &mut found {
        if let Some(&rank) = keyword_rank.get(&found.chunk) {
            found.lanes.insert(0, (Lane::Keyword, rank));
        }
    }
    let results = assemble(reader, &terms, found, request.limit)?;
    Ok(SearchResponse {
        query: request.query.clone(),
        mode: request.mode,
        entry_entities: outcome.entry_entities,
        results,
        record: outcome.record,
        notes: outcome.notes,
    })
}

/// Ranks by the graph around what the question names; the keyword order stays when it names nothing.
fn graph_lane(
    reader: &Reader<'_>,
    request: &SearchRequest,
    hits: &[(ChunkId, f64)],
    by_keyword: Vec<Found>,
    outcome: &mut Outcome,
) -> Result<Vec<Found>> {
    let RankedGraph { graph, index, .. } = reader.graph;
    let names = question_names(reader, &request.query)?;
    let keyword: Vec<(u32, f64)> = hits
        .iter()
        .filter_map(|&(chunk, score)| Some((graph.chunks.get(chunk)?, score)))
        .collect();
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
    let ranking = rank(
        graph,
        index,
        &names,
        &keyword,
        admits,
        reader.at,
        &GraphRecipe::default(),
    );
    let Some(ranking) = ranking else {
        outcome.record(Lane::Graph, LaneStatus::Skipped, 0, NO_ENTRY);
        outcome.notes.push(NO_ENTRY.to_owned());
        return Ok(by_keyword);
    };
    outcome.record(Lane::Graph, LaneStatus::Ran, ranking.hits.len(), "");
    for &(entity, weight) in &ranking.entries {
        let row = storage::entity(reader.connection, graph.entities.id(entity))?;
        outcome.entry_entities.push(EntryEntity {
            public_id: row.public_id,
            name: row.name,
            weight,
        });
    }
    let mut found = graph_found(reader, &ranking, request.limit)?;
    // What only the keyword lane found comes after what the graph put in order.
    let ranked: FxHashSet<ChunkId> = found.iter().map(|found| found.chunk).collect();
    let lowest = found.last().map_or(0.0, |found| found.score);
    found.extend(
        by_keyword
            .into_iter()
            .filter(|found| !ranked.contains(&found.chunk))
            .enumerate()
            .map(|(position, mut found)| {
                found.score = lowest - 1.0 - position as f64;
                found
            }),
    );
    Ok(found)
}

/// Ranks turns of conversations, when most of the best passages are such; the question's names are its entries.
fn turns_lane(
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

/// Adds the notes that the best notes link to.
fn links_lane(
    reader: &Reader<'_>,
    neighbours: &Neighbours<'_>,
    hits: &[(ChunkId, f64)],
    limits: LinkExpansion,
    outcome: &mut Outcome,
) -> Result<Vec<Found>> {
    let expanded = expand(reader, neighbours, hits, limits)?;
    let (status, reason) = if expanded.cut {
        (LaneStatus::Cut, "stopped at the neighbour limit")
    } else {
        (LaneStatus::Ran, "")
    };
    outcome.record(Lane::Links, status, expanded.added, reason);
    Ok(expanded
        .hits
        .iter()
        .map(|&(chunk, score)| Found::new(chunk, score))
        .collect())
}

#[derive(Default)]
struct Outcome {
    record: Vec<LaneRecord>,
    notes: Vec<String>,
    entry_entities: Vec<EntryEntity>,
}

impl Outcome {
    /// Records whether the reranker really ran.
    fn rerank_lane(&mut self, reranked: Reranked) {
        match reranked {
            Ok(0) => self.record(Lane::Rerank, LaneStatus::Skipped, 0, "nothing to order"),
            Ok(count) => self.record(Lane::Rerank, LaneStatus::Ran, count, ""),
            Err(reason) => self.record(Lane::Rerank, LaneStatus::Failed, 0, &reason),
        }
    }

    /// Records the vector lane; its hits, or none.
    fn vector_lane(
        &mut self,
        near: Result<Vec<(ChunkId, f64)>, (LaneStatus, String)>,
    ) -> Vec<(ChunkId, f64)> {
        match near {
            Ok(hits) => {
                self.record(Lane::Vector, LaneStatus::Ran, hits.len(), "");
                hits
            }
            Err((status, reason)) => {
                self.record(Lane::Vector, status, 0, &reason);
                Vec::new()
            }
        }
    }

    fn record(&mut self, lane: Lane, status: LaneStatus, candidates: usize, reason: &str) {
        self.record.push(LaneRecord {
            lane,
            status,
            candidates,
            reason: reason.to_owned(),
        });
    }
}
