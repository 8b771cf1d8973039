//! One search: runs the recipe's lanes, and says what became of each.

use std::sync::OnceLock;

use rusqlite::Connection;
use rustc_hash::FxHashSet;

use super::assemble::{Found, assemble};
use super::graph::GraphIndex;
use super::keyword::keyword;
use super::lanes::{TextLanes, graph_lane, links_lane, named_notes, plain, turns_lane};
use super::notes::Neighbours;
use super::recipe::{Base, Recipe};
use super::rerank::{Reranked, RerankerSource, rerank};
use super::synonyms::Synonyms;
use super::turns::Turns;
use super::vector::{Vectors, fuse, mark, nearest};
use crate::Result;
use crate::gate;
use crate::graph::{AliasTable, Graph, Moment};
use crate::ranker::{Features, Rankers};
use crate::storage::{self, Hidden};
use crate::text::{Language, QueryTerm, detect_language, query_terms};
use crate::types::{
    Cancel, ChunkId, DocumentId, EntityId, EntryEntity, GateDecision, GateSettings, Lane,
    LaneRecord, LaneStatus, SearchRequest, SearchResponse,
};

/// The graph with what ranking needs of it.
pub(crate) struct RankedGraph {
    pub graph: Graph,
    pub(super) index: GraphIndex,
    /// Every alias of the store, loaded when a name has to be found by likeness.
    aliases: OnceLock<AliasTable>,
    /// The turns of conversations, loaded by the first search that ranks by them.
    turns: OnceLock<Turns>,
    /// Names that mean almost the same, loaded by the first search that steps between them.
    synonyms: OnceLock<Synonyms>,
}

impl RankedGraph {
    pub(crate) fn new(graph: Graph) -> Self {
        let index = GraphIndex::new(&graph);
        Self {
            graph,
            index,
            aliases: OnceLock::new(),
            turns: OnceLock::new(),
            synonyms: OnceLock::new(),
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
    pub(super) fn turns(&self, connection: &Connection, namespace: i64) -> Result<&Turns> {
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
    /// When the links of notes are not followed.
    pub gate: &'a GateSettings,
    /// What puts the graph lane's candidates in order instead of its own weights.
    pub rankers: Option<&'a Rankers>,
    /// The space whose synonyms the walk may follow.
    pub synonym_space: Option<i64>,
    /// Asked before a model is.
    pub cancel: &'a Cancel,
}

impl<'a> Reader<'a> {
    /// Names that mean almost the same, where they are wanted; read once for each state of the store.
    pub(super) fn synonyms(&self) -> Result<Option<&'a Synonyms>> {
        let Some(space) = self.synonym_space else {
            return Ok(None);
        };
        let slot = &self.graph.synonyms;
        if slot.get().is_none() {
            let pairs = storage::synonyms(self.connection, space)?;
            let _ = slot.set(Synonyms::new(&self.graph.graph, &pairs));
        }
        Ok(slot.get())
    }

    /// Whether any document is in the language of this text.
    fn speaks(&self, text: &str) -> bool {
        let language = detect_language(text);
        language == Language::Other
            || self.languages.is_empty()
            || self.languages.contains(&language)
    }
}

/// Runs a search. Lanes that have nothing to work with are recorded; they never empty or fail the search.
pub(crate) fn search(reader: &Reader<'_>, request: &SearchRequest) -> Result<SearchResponse> {
    let Ranked {
        terms,
        found,
        outcome,
        gate,
    } = ranked(reader, request);
    let results = assemble(reader, &terms, found, request.limit)?;
    Ok(SearchResponse {
        query: request.query.clone(),
        mode: request.mode,
        entry_entities: outcome.entry_entities,
        gate,
        results,
        record: outcome.record,
        notes: outcome.notes,
    })
}

/// The chunks that the graph lane put in order by a ranker, with what it judged them by.
pub(crate) fn judged(
    reader: &Reader<'_>,
    request: &SearchRequest,
) -> Vec<(ChunkId, f64, Features)> {
    let found = ranked(reader, request).found.into_iter();
    found
        .filter_map(|found| Some((found.chunk, found.score, found.features?)))
        .collect()
}

/// The documents of all candidates of a search, best first, each once.
pub(crate) fn ranked_documents(reader: &Reader<'_>, request: &SearchRequest) -> Vec<DocumentId> {
    let graph = &reader.graph.graph;
    let mut seen = FxHashSet::default();
    let found = ranked(reader, request).found.into_iter();
    found
        .filter_map(|found| graph.chunks.get(found.chunk))
        .map(|chunk| graph.documents.id(graph.chunk_document[chunk as usize]))
        .filter(|&document| seen.insert(document))
        .collect()
}

/// What a search found, before its texts are read.
pub(super) struct Ranked {
    terms: Vec<QueryTerm>,
    /// Best first, more than were asked for.
    pub found: Vec<Found>,
    outcome: Outcome,
    gate: GateDecision,
}

/// Runs the lanes of a search.
pub(super) fn ranked(reader: &Reader<'_>, request: &SearchRequest) -> Ranked {
    let recipe = Recipe::of(request.mode, request.limit).without(&request.without);
    let terms = query_terms(&request.query, &reader.languages);
    let documents = request.documents.as_deref();
    let mut outcome = Outcome::default();
    if reader.hidden.replaced > 0 {
        outcome.notes.push(format!(
            "{} passages of that time have been replaced since and are not searched",
            reader.hidden.replaced
        ));
    }

    let hits = keyword(reader, &terms, documents, recipe.keyword_limit);
    let hits = outcome.or_failed(Lane::Keyword, hits);
    if let Some(hits) = &hits {
        outcome.record(Lane::Keyword, LaneStatus::Ran, hits.len(), "");
    }
    let hits = hits.unwrap_or_default();
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
    let lanes = TextLanes {
        keyword: &hits,
        near: &near,
        vectors: vectors.filter(|_| !near.is_empty()),
    };
    let mut found = match recipe.base {
        _ if near.is_empty() => plain(&hits),
        Base::Keyword => plain(&hits),
        Base::Vector => plain(&near),
        // In a language that no document has, words can only meet by chance.
        Base::FusedWhereStored if !reader.speaks(&request.query) => plain(&near),
        Base::Fused | Base::FusedWhereStored => fuse(&hits, &near),
    };
    let shared = if recipe.turns {
        let shared = turns_lane(reader, request, &terms, &hits, &mut outcome);
        outcome.or_failed(Lane::Turns, shared).flatten()
    } else {
        None
    };
    if let Some(shared) = shared {
        found = shared;
    } else if recipe.graph {
        let by_graph = graph_lane(reader, request, &lanes, &found, &mut outcome);
        if let Some(by_graph) = outcome.or_failed(Lane::Graph, by_graph).flatten() {
            found = by_graph;
        }
    }
    let gate = gate::decide(&request.query, &reader.languages, reader.gate);
    if let Some(limits) = recipe.links {
        let cards = if recipe.cards {
            let cards = named_notes(reader, &request.query, documents);
            outcome.or_failed(Lane::Cards, cards)
        } else {
            None
        };
        if let Some(cards) = &cards {
            outcome.record(Lane::Cards, LaneStatus::Ran, cards.len(), "");
        }
        let context = Neighbours {
            terms: &terms,
            vectors: lanes.vectors,
            documents,
            cards: cards.as_deref().unwrap_or_default(),
            cards_first: !gate.open,
        };
        let linked = links_lane(reader, &lanes, &context, limits, &gate, &mut outcome);
        if let Some(linked) = outcome.or_failed(Lane::Links, linked) {
            found = linked;
        }
    }
    match reader.reranker {
        _ if !recipe.rerank => {}
        Some(reranker) => {
            let reranked = rerank(reader, reranker, &request.query, request.limit, &mut found);
            if let Some(reranked) = outcome.or_failed(Lane::Rerank, reranked) {
                outcome.rerank_lane(reranked);
            }
        }
        None if recipe.links.is_some() => {
            let reason = "no reranker configured";
            outcome.record(Lane::Rerank, LaneStatus::Skipped, 0, reason);
        }
        None => {}
    }
    mark(&mut found, Lane::Vector, &near);
    mark(&mut found, Lane::Keyword, &hits);
    Ranked {
        terms,
        found,
        outcome,
        gate,
    }
}

/// What is told about a search beside its results.
#[derive(Default)]
pub(super) struct Outcome {
    record: Vec<LaneRecord>,
    pub notes: Vec<String>,
    pub entry_entities: Vec<EntryEntity>,
}

impl Outcome {
    /// What a lane gave; a lane that failed is recorded, and the search goes on without it.
    fn or_failed<T>(&mut self, lane: Lane, given: Result<T>) -> Option<T> {
        match given {
            Ok(given) => Some(given),
            Err(error) => {
                self.record(lane, LaneStatus::Failed, 0, &error.to_string());
                None
            }
        }
    }

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

    pub(super) fn record(
        &mut self,
        lane: Lane,
        status: LaneStatus,
        candidates: usize,
        reason: &str,
    ) {
        self.record.push(LaneRecord {
            lane,
            status,
            candidates,
            reason: reason.to_owned(),
        });
    }
}
