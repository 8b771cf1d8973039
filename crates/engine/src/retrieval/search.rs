//! One search: runs the recipe's lanes, and says what became of each.

use rusqlite::Connection;

use super::assemble::{Found, assemble};
use super::keyword::keyword;
use super::notes::expand;
use super::recipe::Recipe;
use crate::Result;
use crate::graph::{Graph, Moment};
use crate::text::{Language, query_terms};
use crate::types::{
    EntryEntity, Lane, LaneRecord, LaneStatus, SearchRequest, SearchResponse, Timestamp,
};

/// The graph with what ranking needs of it.
pub(crate) struct RankedGraph {
    pub graph: Graph,
}

impl RankedGraph {
    pub(crate) fn new(graph: Graph) -> Self {
        Self { graph }
    }
}

/// What a search reads.
pub(crate) struct Reader<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
    pub graph: &'a RankedGraph,
    /// Languages of the documents, most frequent first.
    pub languages: Vec<Language>,
}

/// Runs a search. Lanes that fail or have nothing to work with are recorded; they never fail the search.
pub(crate) fn search(reader: &Reader<'_>, request: &SearchRequest) -> Result<SearchResponse> {
    let recipe = Recipe::of(request.mode, request.limit);
    let terms = query_terms(&request.query, &reader.languages);
    let mut outcome = Outcome::default();
    let documents = request.documents.as_deref();

    let hits = keyword(reader, &terms, documents, recipe.keyword_limit)?;
    outcome.record(Lane::Keyword, LaneStatus::Ran, hits.len(), "");
    let mut found: Vec<Found> = hits
        .iter()
        .map(|&(chunk, score)| Found::new(chunk, score))
        .collect();
    for (rank, found) in found.iter_mut().enumerate() {
        found.lanes.push((Lane::Keyword, rank + 1));
    }
    if recipe.vectors {
        outcome.record(
            Lane::Vector,
            LaneStatus::Skipped,
            0,
            "no vectors in this store",
        );
    }
    if let Some(limits) = recipe.links {
        let at = Moment::present(Timestamp(i64::MAX - 1));
        let expanded = expand(reader, &terms, &hits, limits, documents, at)?;
        let (status, reason) = if expanded.cut {
            (LaneStatus::Cut, "stopped at the neighbour limit")
        } else {
            (LaneStatus::Ran, "")
        };
        outcome.record(Lane::Links, status, expanded.added, reason);
        found = expanded
            .hits
            .iter()
            .map(|&(chunk, score)| Found::new(chunk, score))
            .collect();
        outcome.record(
            Lane::Rerank,
            LaneStatus::Skipped,
            0,
            "no reranker configured",
        );
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

#[derive(Default)]
struct Outcome {
    record: Vec<LaneRecord>,
    notes: Vec<String>,
    entry_entities: Vec<EntryEntity>,
}

impl Outcome {
    fn record(&mut self, lane: Lane, status: LaneStatus, candidates: usize, reason: &str) {
        self.record.push(LaneRecord {
            lane,
            status,
            candidates,
            reason: reason.to_owned(),
        });
    }
}
