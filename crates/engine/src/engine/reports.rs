//! Reports of communities: written when they are first needed, and again when their community has changed.

use super::Engine;
use super::explore::Explorer;
use crate::retrieval::central_sentences;
use crate::storage::{self, StoredReport};
use crate::text::query_terms;
use crate::types::{AskRequest, CommunityReport, EntityId, Finding};
use crate::{Error, Result};

/// Members whose names choose the sentences of a report.
const CENTRAL: usize = 12;
/// Findings of a report of central sentences.
const SENTENCES: usize = 6;

impl Engine {
    /// What a community is about: the report that is stored, if the community has not changed since; otherwise one of
    /// central sentences, made now.
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
        let sentences = self.read(|reader| central_sentences(reader, &central, SENTENCES))?;
        let findings: Vec<Finding> = sentences
            .into_iter()
            .map(|sentence| Finding {
                text: one_line(&sentence.quote),
                evidence: vec![sentence],
            })
            .collect();
        let names: Vec<&str> = central.iter().map(|(_, name, _)| name.as_str()).collect();
        let mut summary = format!("{size} entities: {}", names.join(", "));
        if let Some(finding) = findings.first() {
            summary.push_str(". ");
            summary.push_str(&finding.text);
        }
        let report = CommunityReport {
            community: id,
            title,
            summary,
            rating: None,
            rating_reason: String::new(),
            findings,
            model: None,
            failure: None,
        };
        self.store_report(&report)?;
        Ok(report)
    }

    /// Reports are of the present; another moment has none stored.
    fn stored_report(&self, id: i64) -> Result<Option<CommunityReport>> {
        if !self.times.is_present() {
            return Ok(None);
        }
        let store = self.asked()?;
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(None);
        };
        let Some(stored) = storage::fresh_report(store.connection(), namespace.0, id)? else {
            return Ok(None);
        };
        Ok(serde_json::from_str(&stored.report).ok())
    }

    /// A report that cannot be kept costs time, nothing else.
    pub(super) fn store_report(&self, report: &CommunityReport) -> Result<()> {
        let store = self.store();
        if store.is_read_only() || !self.times.is_present() {
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
    /// many communities there are.
    pub(super) fn reports_for(
        &self,
        question: &str,
        most: usize,
        request: &AskRequest,
    ) -> Result<(Vec<CommunityReport>, usize)> {
        let (ids, total) = self.fitting_communities(question, request, most)?;
        let mut reports = self.reports(&ids)?;
        self.fit_findings(&mut reports, question, request)?;
        Ok((reports, total))
    }

    /// The stored reports of these communities, or those of central sentences.
    pub(super) fn reports(&self, ids: &[i64]) -> Result<Vec<CommunityReport>> {
        ids.iter().map(|&id| self.community_report(id)).collect()
    }

    /// Findings with most words of the question first, and only those from documents that are asked about.
    pub(super) fn fit_findings(
        &self,
        reports: &mut [CommunityReport],
        question: &str,
        request: &AskRequest,
    ) -> Result<()> {
        let languages: Vec<_> = self.read(|reader| Ok(reader.languages.clone()))?;
        let terms = query_terms(question, &languages);
        let words_in = |quote: &str| {
            let lower = quote.to_lowercase();
            let asked = terms.iter().filter(|term| !term.stop);
            asked.filter(|term| lower.contains(&term.word)).count()
        };
        for report in reports {
            if let Some(documents) = &request.documents {
                for finding in &mut report.findings {
                    finding
                        .evidence
                        .retain(|quote| documents.contains(&quote.document));
                }
                report
                    .findings
                    .retain(|finding| !finding.evidence.is_empty());
            }
            report
                .findings
                .sort_by_key(|finding| std::cmp::Reverse(words_in(&finding.text)));
        }
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a report is made from.
pub(super) struct Centre {
    title: String,
    /// Number of members.
    pub size: usize,
    /// Central entities with their names and ties, most first.
    pub central: Vec<(EntityId, String, f64)>,
}

impl Explorer<'_> {
    /// Title and size of a community, and its central entities with their names and ties.
    pub(super) fn centre(&self, id: i64) -> Result<Centre> {
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
