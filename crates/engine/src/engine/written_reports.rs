//! Reports that a chat model writes about communities: when they are first needed, and again when their community
//! has changed.

use super::Engine;
use super::answer::AnswerRun;
use super::context::{entity_line, relation_lines};
use super::explore::Explorer;
use super::structured::ask_structured;
use crate::answer::{AnswerPrompts, Offer, read_report, report_request};
use crate::language_model::ChatModel as _;
use crate::replies::CachedModel;
use crate::retrieval::central_sentences;
use crate::storage;
use crate::types::{
    Citation, CommunityLevel, CommunityReport, EntityId, EntryEntity, Finding, MissingReport,
    NeighborRequest, PublicId, ReportsWritten,
};
use crate::{Error, Result};

/// Tokens of evidence for a report.
const BUDGET: usize = 3_000;
/// Share of them for entities, relations and the reports of parts.
const BACKGROUND: f64 = 0.5;
/// Sentences that may be evidence of a report.
const SENTENCES: usize = 24;
/// Members whose relations with each other are shown.
const CENTRAL: usize = 12;
/// A community of more entities than this is told by the reports of its parts, too.
const WHOLE: usize = 24;
/// Parts whose reports may stand in.
const PARTS: usize = 40;
/// Reports asked for before their replies are stored: a run that is ended loses no more than these.
const BATCH: usize = 32;

/// Writes reports.
pub(super) struct ReportWriter<'a> {
    pub model: CachedModel<'a>,
    pub prompts: &'a AnswerPrompts,
    pub max_output_tokens: u32,
    /// Reports that could not be written the last time are asked for again.
    pub tries_again: bool,
}

/// Reports, and which of them a model should have written but did not.
pub(super) struct Written {
    pub reports: Vec<CommunityReport>,
    /// Reports that the model wrote now.
    pub count: usize,
    pub missing: Vec<MissingReport>,
    pub budget_reached: bool,
}

impl Engine {
    /// Lets the model of reports write what is missing or stale: fine communities first, so that coarser ones can be
    /// told by the reports of their parts. Reports that cannot be read are listed, and asked for again by the next
    /// run; questions meanwhile make do with central sentences.
    ///
    /// # Errors
    /// [`Error::Usage`]: a prompt cannot be used, or the run has no model of reports. The store cannot be written.
    pub fn write_reports(&self, run: &AnswerRun<'_>) -> Result<ReportsWritten> {
        let prompts = AnswerPrompts::new(&run.settings.prompts).map_err(Error::Usage)?;
        let Some(model) = run.reports else {
            return Err(Error::Usage(
                "there is no model that writes reports".to_owned(),
            ));
        };
        self.logged("reports", || {
            self.update_communities()?;
            let replies = self.replies(run.limit);
            let writer = ReportWriter {
                model: CachedModel::new(model, &replies, super::global::REPORT),
                prompts: &prompts,
                max_output_tokens: run.settings.max_output_tokens,
                tries_again: true,
            };
            let mut done = self.write_all(&writer)?;
            replies.flush()?;
            done.spent = replies.spent();
            Ok((done.clone(), done))
        })
    }

    fn write_all(&self, writer: &ReportWriter<'_>) -> Result<ReportsWritten> {
        let mut done = ReportsWritten::default();
        for level in CommunityLevel::ALL.into_iter().rev() {
            let ids = self.communities_first_at(level)?;
            done.communities += ids.len();
            for batch in ids.chunks(BATCH) {
                let written = self.written_reports(batch, writer)?;
                done.written += written.count;
                done.missing.extend(written.missing);
                done.budget_reached |= written.budget_reached;
            }
        }
        Ok(done)
    }

    /// Communities of more than one entity whose coarsest level this is, by size.
    fn communities_first_at(&self, level: CommunityLevel) -> Result<Vec<i64>> {
        self.explore(|explorer| {
            let connection = explorer.connection;
            let all =
                storage::communities_of_level(connection, explorer.namespace, level.number())?;
            let mut ids = Vec::new();
            for (id, size) in all {
                if size > 1 && storage::community(connection, id)?.0 == level.number() {
                    ids.push(id);
                }
            }
            Ok(ids)
        })
    }

    /// Reports of these communities, written by the model where no fresh one of a model is stored. Where that fails
    /// the report of central sentences stands in; a reply that could not be used twice is not asked for again until
    /// [`ReportWriter::tries_again`] says so.
    pub(super) fn written_reports(
        &self,
        ids: &[i64],
        writer: &ReportWriter<'_>,
    ) -> Result<Written> {
        let mut written = Written {
            reports: Vec::with_capacity(ids.len()),
            count: 0,
            missing: Vec::new(),
            budget_reached: false,
        };
        let mut wanted: Vec<(usize, Offer)> = Vec::new();
        for &id in ids {
            let report = self.community_report(id)?;
            let is_settled =
                report.model.is_some() || (report.failure.is_some() && !writer.tries_again);
            if is_settled {
                written.missing.extend(
                    report
                        .failure
                        .as_ref()
                        .map(|reason| missing(&report, reason)),
                );
            } else {
                wanted.push((written.reports.len(), self.report_evidence(id)?));
            }
            written.reports.push(report);
        }
        wanted.retain(|(_, offer)| !offer.citations.is_empty());
        let requests: Vec<_> = wanted
            .iter()
            .map(|(_, offer)| {
                let quotes: Vec<&str> = offer
                    .citations
                    .iter()
                    .map(|one| one.quote.as_str())
                    .collect();
                report_request(
                    writer.prompts,
                    &offer.text,
                    &quotes.join("\n"),
                    writer.max_output_tokens,
                )
            })
            .collect();
        let read = ask_structured(&writer.model, &requests, |at, reply| {
            read_report(reply, wanted[at].1.citations.len())
        })?;
        for (outcome, (at, offer)) in read.into_iter().zip(wanted) {
            let report = &mut written.reports[at];
            match outcome {
                Ok(draft) => {
                    report.title = draft.title;
                    report.summary = draft.summary;
                    report.rating = draft.rating;
                    report.rating_reason = draft.rating_reason;
                    report.model = Some(writer.model.name().to_owned());
                    report.failure = None;
                    let findings = draft.findings.points.into_iter().map(|point| Finding {
                        text: point.text,
                        evidence: point
                            .evidence
                            .iter()
                            .map(|&number| offer.citations[number - 1].clone())
                            .collect(),
                    });
                    let findings: Vec<Finding> = findings.collect();
                    // Without a finding that can be followed, the central sentences stay.
                    if !findings.is_empty() {
                        report.findings = findings;
                    }
                    written.count += 1;
                    self.store_report(report)?;
                }
                Err(unusable) => {
                    written.missing.push(missing(report, &unusable.reason));
                    written.budget_reached |= unusable.is_budget;
                    if unusable.is_reply {
                        report.failure = Some(unusable.reason);
                        self.store_report(report)?;
                    }
                }
            }
        }
        Ok(written)
    }

    /// What a report is written from: central entities and how they are related, the reports of the parts of a large
    /// community, and central sentences.
    fn report_evidence(&self, id: i64) -> Result<Offer> {
        let (background, central, parts) = self.explore(|explorer| explorer.surroundings(id))?;
        let quotes: Vec<Citation> =
            self.read(|reader| central_sentences(reader, &central, SENTENCES))?;
        let mut lines = Vec::new();
        for part in parts {
            let report = self.community_report(part)?;
            lines.push(format!("Part: {}: {}", report.title, report.summary));
        }
        lines.extend(background);
        self.offered(&lines, &quotes, BUDGET, BACKGROUND)
    }
}

/// Lines about entities and relations, the central entities, and the parts of a community that stand in for it.
type Surroundings = (Vec<String>, Vec<(EntityId, String, f64)>, Vec<i64>);

impl Explorer<'_> {
    fn surroundings(&self, id: i64) -> Result<Surroundings> {
        let centre = self.centre(id)?;
        let entries: Vec<EntryEntity> = centre
            .central
            .iter()
            .take(CENTRAL)
            .map(|(entity, name, ties)| {
                Ok(EntryEntity {
                    public_id: storage::entity(self.connection, *entity)?.public_id,
                    name: name.clone(),
                    weight: *ties,
                })
            })
            .collect::<Result<_>>()?;
        let mut around = self.neighbors(&NeighborRequest {
            seeds: entries
                .iter()
                .map(|entry| entry.public_id.0.clone())
                .collect(),
            max_hops: 1,
            max_nodes: 4 * CENTRAL,
            ..NeighborRequest::new("")
        })?;
        let is_central = |id: &PublicId| entries.iter().any(|entry| entry.public_id == *id);
        around
            .nodes
            .retain(|node| is_central(&node.entity.public_id));
        around
            .relations
            .retain(|one| is_central(&one.source_id) && is_central(&one.target_id));
        let mut lines: Vec<String> = around
            .nodes
            .iter()
            .map(|node| entity_line(node).text)
            .collect();
        lines.extend(
            relation_lines(&around, &entries)
                .into_iter()
                .map(|line| line.text),
        );
        let parts = if centre.size > WHOLE {
            storage::parts_of_community(self.connection, id, PARTS)?
        } else {
            Vec::new()
        };
        Ok((lines, centre.central, parts))
    }
}

fn missing(report: &CommunityReport, reason: &str) -> MissingReport {
    MissingReport {
        community: report.community,
        title: report.title.clone(),
        reason: reason.to_owned(),
    }
}
