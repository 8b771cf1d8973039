//! Reports of communities: written when they are first needed, and again when their community has changed.

use rustc_hash::FxHashMap;

use super::Engine;
use super::explore::Explorer;
use crate::retrieval::{self, CHUNKS, central_sentences};
use crate::storage::{self, StoredReport};
use crate::text::query_terms;
use crate::types::{AskRequest, CommunityLevel, CommunityReport, EntityId, SearchRequest};
use crate::{Error, Result};

/// Members whose names choose the sentences of a report.
const CENTRAL: usize = 12;

impl Engine {
    /// What a community is about. Taken from the store if its content has not changed since it was written.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such community.
    pub fn community_report(&self, id: i64) -> Result<CommunityReport> {
        if let Some(stored) = self.stored_report(id)? {
            return Ok(stored);
        }
        let Centre {
            title,
            size,
            central,
        } = self.explore(|explorer| explorer.centre(id))?;
        let findings = self.read(|reader| central_sentences(reader, &central))?;
        let names: Vec<&str> = central.iter().map(|(_, name, _)| name.as_str()).collect();
        let mut summary = format!("{size} entities: {}", names.join(", "));
        if let Some(finding) = findings.first() {
            let sentence: Vec<&str> = finding.quote.split_whitespace().collect();
            summary.push_str(". ");
            summary.push_str(&sentence.join(" "));
        }
        let report = CommunityReport {
            community: id,
            title,
            summary,
            findings,
        };
        self.store_report(&report)?;
        Ok(report)
    }

    fn stored_report(&self, id: i64) -> Result<Option<CommunityReport>> {
        let store = self.store();
        let Some(stored) = storage::fresh_report(store.connection(), id)? else {
            return Ok(None);
        };
        Ok(serde_json::from_str(&stored.report).ok())
    }

    /// A report that cannot be kept costs time, nothing else.
    fn store_report(&self, report: &CommunityReport) -> Result<()> {
        let store = self.store();
        if store.is_read_only() {
            return Ok(());
        }
        let lease = match store.write_lease("malha (reports)", self.config.lease_wait) {
            Ok(lease) => lease,
            Err(Error::Busy { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let transaction = lease.transaction()?;
        storage::set_report(
            store.connection(),
            report.community,
            &StoredReport {
                title: report.title.clone(),
                summary: report.summary.clone(),
                report: serde_json::to_string(report).expect("a report is plain JSON"),
            },
        )?;
        transaction.commit_bookkeeping()
    }

    /// Reports of the communities that fit a question best, their findings with most of its words first, and how
    /// many communities there are. A community fits by its share of the passages that the question finds; where
    /// those say nothing, larger ones come first.
    pub(super) fn reports_for(
        &self,
        question: &str,
        most: usize,
        request: &AskRequest,
    ) -> Result<(Vec<CommunityReport>, usize)> {
        self.update_communities()?;
        let search = SearchRequest {
            limit: CHUNKS,
            documents: request.documents.clone(),
            ..SearchRequest::new(question)
        };
        let found = self
            .read(|reader| retrieval::search(reader, &search))?
            .results;
        let (ranked, total) = self.explore(|explorer| {
            let level = CommunityLevel::Coarse.number();
            let all =
                storage::communities_of_level(explorer.connection, explorer.namespace, level)?;
            let mut score: FxHashMap<i64, f64> = FxHashMap::default();
            for (place, evidence) in found.iter().enumerate() {
                let Some(chunk) = explorer.graph.chunks.get(evidence.chunk) else {
                    continue;
                };
                let entities = explorer.graph.mentions.entities(chunk);
                let share = 1.0 / (1.0 + place as f64 / 20.0) / entities.len().max(1) as f64;
                for &entity in entities {
                    let id = explorer.graph.entities.id(entity);
                    for (at, community) in storage::communities_of_entity(explorer.connection, id)?
                    {
                        if at == level {
                            *score.entry(community).or_default() += share;
                        }
                    }
                }
            }
            let mut ranked: Vec<(i64, usize)> = all.clone();
            ranked.retain(|&(_, size)| size > 1);
            let of = |id: i64| score.get(&id).copied().unwrap_or(0.0);
            ranked.sort_by(|a, b| {
                of(b.0)
                    .total_cmp(&of(a.0))
                    .then(b.1.cmp(&a.1))
                    .then(a.0.cmp(&b.0))
            });
            Ok((ranked, all.len()))
        })?;
        let languages: Vec<_> = self.read(|reader| Ok(reader.languages.clone()))?;
        let terms = query_terms(question, &languages);
        let words_in = |quote: &str| {
            let lower = quote.to_lowercase();
            let asked = terms.iter().filter(|term| !term.stop);
            asked.filter(|term| lower.contains(&term.word)).count()
        };
        let mut reports = Vec::new();
        for (id, _) in ranked.into_iter().take(most) {
            let mut report = self.community_report(id)?;
            if let Some(documents) = &request.documents {
                report
                    .findings
                    .retain(|finding| documents.contains(&finding.document));
            }
            report
                .findings
                .sort_by_key(|finding| std::cmp::Reverse(words_in(&finding.quote)));
            reports.push(report);
        }
        Ok((reports, total))
    }
}

/// What a report is made from.
struct Centre {
    title: String,
    /// Number of members.
    size: usize,
    /// Central entities with their names and ties, most first.
    central: Vec<(EntityId, String, f64)>,
}

impl Explorer<'_> {
    /// Title and size of a community, and its central entities with their names and ties.
    fn centre(&self, id: i64) -> Result<Centre> {
        if !storage::has_community(self.connection, self.namespace, id)? {
            return Err(Error::NotFound {
                kind: "community",
                name: id.to_string(),
            });
        }
        let (level, _, _) = storage::community(self.connection, id)?;
        let members = storage::members_of_community(self.connection, id, level)?;
        let central: Vec<(EntityId, String, f64)> = self
            .central(&members)
            .into_iter()
            .take(CENTRAL)
            .map(|(entity, ties)| {
                let name = storage::entity(self.connection, entity)?.name;
                Ok((entity, name, ties as f64))
            })
            .collect::<Result<_>>()?;
        let title: Vec<&str> = central.iter().take(3).map(|row| row.1.as_str()).collect();
        Ok(Centre {
            title: title.join(", "),
            size: members.len(),
            central,
        })
    }
}
