//! Questions about the whole: reports of communities in one prompt, or read section by section and brought together.

use rustc_hash::FxHashSet;

use super::answer::{Asking, BACKGROUND, Gathered};
use super::structured::ask_structured;
use super::written_reports::ReportWriter;
use crate::Result;
use crate::answer::{Offer, Point, map_request, read_points};
use crate::types::{Citation, CommunityReport, Sections};

/// Lines of the bill.
const MAP: &str = "map";
pub(super) const REPORT: &str = "report";

/// A report, or what a document says, on its way into an answer.
pub(super) struct Section {
    pub title: String,
    pub background: Vec<String>,
    pub quotes: Vec<Citation>,
}

impl Section {
    fn new(report: CommunityReport) -> Self {
        let mut background = vec![format!("{}: {}", report.title, report.summary)];
        if report.model.is_some() {
            background.extend(report.findings.iter().map(|finding| finding.text.clone()));
        }
        Self {
            quotes: report.quotes().cloned().collect(),
            title: report.title,
            background,
        }
    }
}

impl Asking<'_> {
    /// The reports of the communities that fit the question, or what each document says that the question is about.
    /// They go into one prompt where they fit the budget; otherwise each part that does is asked for the points that
    /// it has, and the best points make the evidence.
    pub(super) fn read_sections(&mut self, gathered: &mut Gathered) -> Result<()> {
        let mut sections = if let Some(documents) = &self.request.documents {
            self.engine.document_sections(self.question(), documents)?
        } else {
            let (reports, total) = self.fitting_reports(self.request.communities)?;
            gathered.communities = Some((reports.len(), total));
            reports.into_iter().map(Section::new).collect()
        };
        sections.retain(|section| !section.quotes.is_empty());
        let budget = gathered.context.budget.amount;
        let all: Vec<&Section> = sections.iter().collect();
        let whole = self.shown(&all, usize::MAX)?;
        let mut counts = Sections {
            total: 1,
            ..Sections::default()
        };
        if whole.tokens <= budget {
            gathered.background = sections
                .iter()
                .flat_map(|one| one.background.clone())
                .collect();
            gathered.quotes = rounds(&sections);
        } else {
            let groups = self.grouped(&all, budget)?;
            counts.total = groups.len();
            let points = self.points(&groups, budget, &mut counts)?;
            gathered.background = points
                .iter()
                .map(|(point, _)| format!("({:.0}) {}", point.rating, point.text))
                .collect();
            let mut seen = FxHashSet::default();
            gathered.quotes = points
                .into_iter()
                .flat_map(|(_, quotes)| quotes)
                .filter(|quote| seen.insert((quote.document, quote.start, quote.end)))
                .collect();
        }
        gathered.is_known = !gathered.quotes.is_empty();
        let titled = sections
            .into_iter()
            .map(|one| (one.title, one.quotes))
            .collect();
        gathered.sections = Some((counts, titled));
        Ok(())
    }

    /// At most `most` reports, written by the model of reports where there is one.
    fn fitting_reports(&mut self, most: usize) -> Result<(Vec<CommunityReport>, usize)> {
        let (ids, total) = self
            .engine
            .fitting_communities(self.question(), self.request, most)?;
        let mut reports = match self.run.reports {
            None => self.engine.reports(&ids)?,
            Some(model) => {
                let writer = ReportWriter {
                    model: self.cached(model, REPORT),
                    prompts: self.prompts,
                    max_output_tokens: self.run.settings.max_output_tokens,
                    tries_again: false,
                };
                let written = self.engine.written_reports(&ids, &writer)?;
                self.notes.extend(written.missing.iter().map(|missing| {
                    format!(
                        "the report of {} is missing: {}",
                        missing.title, missing.reason
                    )
                }));
                written.reports
            }
        };
        self.engine
            .fit_findings(&mut reports, self.question(), self.request)?;
        Ok((reports, total))
    }

    fn shown(&self, sections: &[&Section], budget: usize) -> Result<Offer> {
        let background: Vec<String> = sections
            .iter()
            .flat_map(|one| one.background.clone())
            .collect();
        let quotes: Vec<Citation> = sections.iter().flat_map(|one| one.quotes.clone()).collect();
        self.engine
            .offered(&background, &quotes, budget, BACKGROUND)
    }

    /// Neighbouring sections together as long as they fit the budget.
    fn grouped<'s>(
        &self,
        sections: &[&'s Section],
        budget: usize,
    ) -> Result<Vec<Vec<&'s Section>>> {
        let mut groups: Vec<Vec<&Section>> = Vec::new();
        for &section in sections {
            if let Some(last) = groups.last_mut() {
                last.push(section);
                if self.shown(last, usize::MAX)?.tokens <= budget {
                    continue;
                }
                last.pop();
            }
            groups.push(vec![section]);
        }
        Ok(groups)
    }

    /// What the groups say towards an answer, highest rating first, each point with its quotes.
    fn points(
        &mut self,
        groups: &[Vec<&Section>],
        budget: usize,
        counts: &mut Sections,
    ) -> Result<Vec<(Point, Vec<Citation>)>> {
        let offers: Vec<Offer> = groups
            .iter()
            .map(|group| self.shown(group, budget))
            .collect::<Result<_>>()?;
        let room = self.run.settings.max_output_tokens;
        let requests: Vec<_> = offers
            .iter()
            .map(|offer| map_request(self.prompts, self.question(), &offer.text, room))
            .collect();
        let model = self.cached(self.run.model, MAP);
        let read = ask_structured(&model, &requests, |at, reply| {
            read_points(reply, offers[at].citations.len())
        })?;
        let mut found = Vec::new();
        for (outcome, offer) in read.into_iter().zip(&offers) {
            match outcome {
                Err(unusable) => {
                    counts.failed += 1;
                    self.notes
                        .push(format!("a section could not be read: {}", unusable.reason));
                }
                Ok(points) if points.points.is_empty() => counts.not_supported += 1,
                Ok(points) => found.extend(points.points.into_iter().map(|point| {
                    let quotes = point
                        .evidence
                        .iter()
                        .map(|&number| offer.citations[number - 1].clone());
                    let quotes = quotes.collect();
                    (point, quotes)
                })),
            }
        }
        found.sort_by(|a, b| b.0.rating.total_cmp(&a.0.rating));
        Ok(found)
    }
}

/// The first quote of every section, then the second: each is heard before one is heard twice.
pub(super) fn rounds(sections: &[Section]) -> Vec<Citation> {
    let deepest = sections
        .iter()
        .map(|one| one.quotes.len())
        .max()
        .unwrap_or(0);
    let mut quotes: Vec<Citation> = Vec::new();
    for round in 0..deepest {
        for quote in sections.iter().filter_map(|one| one.quotes.get(round)) {
            if !quotes.contains(quote) {
                quotes.push(quote.clone());
            }
        }
    }
    quotes
}
