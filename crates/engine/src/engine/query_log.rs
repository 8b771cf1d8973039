//! Telemetry that stays on the machine: each real question is asked with and without the graph, and what the graph
//! brought is counted.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::Engine;
use crate::gate::class_of;
use crate::retrieval;
use crate::storage;
use crate::types::{
    DocumentId, GateSettings, GraphComparison, GraphReport, GraphReportRow, Lane, LoggedQuery,
    Mode, SearchRequest, SearchResponse, Timestamp,
};
use crate::{Error, Result};

/// A search that took longer is not asked twice more: nobody should wait for telemetry.
const MOST_PATIENCE: Duration = Duration::from_millis(300);
const DAY_MS: i64 = 86_400_000;
/// Questions before anything is suggested, and percentages that speak for it.
const ENOUGH: usize = 20;
const HELPS: f64 = 20.0;
const HARDLY_HELPS: f64 = 2.0;

impl Engine {
    /// What is logged of a search that took so long: read only, and no text of any document.
    pub fn observe(
        &self,
        request: &SearchRequest,
        response: &SearchResponse,
        took: Duration,
    ) -> Result<LoggedQuery> {
        let has_graph = matches!(request.mode, Mode::Auto | Mode::Graph | Mode::Notes);
        let comparison = if has_graph && took <= MOST_PATIENCE {
            Some(self.compare(request)?)
        } else {
            None
        };
        Ok(LoggedQuery {
            question: request.query.clone(),
            mode: request.mode,
            class: class_of(&request.query, &response.gate),
            gate: response.gate.clone(),
            results: response.results.len(),
            search_us: took.as_micros() as u64,
            comparison,
        })
    }

    /// Adds a search to the log. False when another process is writing, or the namespace is not there: then this one
    /// goes unlogged.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn log_query(&self, query: &LoggedQuery) -> Result<bool> {
        let store = self.store();
        // A search in a namespace that is not there must not make one.
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(false);
        };
        let lease = match store.write_lease("malha (query log)", Duration::ZERO) {
            Ok(lease) => lease,
            Err(Error::Busy { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let transaction = lease.transaction()?;
        storage::insert_query(store.connection(), namespace.0, query, self.clock.now())?;
        transaction.commit_bookkeeping()?;
        Ok(true)
    }

    /// What the graph was good for in the last days.
    pub fn graph_report(&self, days: u32) -> Result<GraphReport> {
        let store = self.asked()?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let since = Timestamp(self.clock.now().0 - i64::from(days) * DAY_MS);
        let sql = storage::graph_report_sql(namespace, since);
        let rows = storage::graph_report(store.connection(), &sql)?;
        Ok(GraphReport {
            days,
            suggestions: rows.iter().filter_map(suggestion).collect(),
            rows,
            sql,
        })
    }

    /// Asks with the graph, the gate held open, and without it.
    fn compare(&self, request: &SearchRequest) -> Result<GraphComparison> {
        let open = self.at(self.times).with_gate(GateSettings {
            rules: Vec::new(),
            ..self.config.gate.clone()
        });
        let (with, with_us) = open.timed_documents(request)?;
        let mut without = request.clone();
        without.without.extend([Lane::Graph, Lane::Links]);
        let (plain, without_us) = open.timed_documents(&without)?;
        let candidates: FxHashSet<DocumentId> = plain.iter().copied().collect();
        let shown: FxHashSet<DocumentId> = plain.iter().copied().take(request.limit).collect();
        let mut entered = Vec::new();
        let mut by_graph = 0;
        let store = self.asked()?;
        for &document in with.iter().take(request.limit) {
            if !shown.contains(&document) {
                entered.push(storage::document_marks(store.connection(), document)?.0);
                by_graph += usize::from(!candidates.contains(&document));
            }
        }
        Ok(GraphComparison {
            shown: request.limit,
            added: with
                .iter()
                .filter(|document| !candidates.contains(document))
                .count(),
            entered,
            by_graph,
            with_us,
            without_us,
        })
    }

    /// The documents of all candidates, best first, and the time it took.
    fn timed_documents(&self, request: &SearchRequest) -> Result<(Vec<DocumentId>, u64)> {
        self.read(|reader| {
            let start = Instant::now();
            let documents = retrieval::ranked_documents(reader, request);
            Ok((documents, start.elapsed().as_micros() as u64))
        })
    }
}

/// What a row speaks for, with its figures.
fn suggestion(row: &GraphReportRow) -> Option<String> {
    if row.queries < ENOUGH {
        return None;
    }
    let GraphReportRow {
        class,
        gate,
        queries,
        helped,
        ..
    } = row;
    if gate != "open" && *helped >= HELPS {
        return Some(format!(
            "rule {gate} closed the gate for {queries} {class} questions; in {helped} % of them links would have \
             brought something among the results: consider taking it out of [gate] rules"
        ));
    }
    if gate == "open" && *helped <= HARDLY_HELPS {
        return Some(format!(
            "the gate was open for {queries} {class} questions; links brought something among the results in \
             {helped} % of them: consider naming what they ask for in [gate] tools"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_need_evidence() {
        let check = |gate: &str, queries: usize, helped: f64, expected: Option<&str>| {
            let row = GraphReportRow {
                class: "name".to_owned(),
                gate: gate.to_owned(),
                queries,
                added: 1.0,
                entered: 1,
                by_graph: 1,
                helped,
                search_ms: 1.0,
                graph_ms: 1.0,
            };
            let found = suggestion(&row);
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(expected.is_none_or(|part| found.unwrap().contains(part)));
        };
        check("tool", 19, 90.0, None);
        check("tool", 20, 90.0, Some("rule tool"));
        check("tool", 20, 5.0, None);
        check("open", 20, 90.0, None);
        check("open", 40, 0.0, Some("[gate] tools"));
    }
}
