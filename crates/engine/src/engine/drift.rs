//! Broad questions about something: an overview gives follow-up questions, and their evidence comes first.

use super::answer::{Asking, BACKGROUND, Gathered};
use super::ask::{FOLLOW_UPS, chosen};
use super::structured::ask_structured;
use crate::Result;
use crate::answer::{primer_request, read_follow_ups};
use crate::types::{Citation, CommunityReport};

/// The line of the bill.
const STEP: &str = "primer";
/// Sentences that a follow-up question brings.
const SENTENCES: usize = 8;
/// Tokens of the overview.
const OVERVIEW: usize = 2_000;
/// Communities in it.
const COMMUNITIES: usize = 8;

impl Asking<'_> {
    /// Lets the model ask further from an overview of the communities that fit. Where it gives no usable questions,
    /// the central names of those communities stand in for them.
    pub(super) fn follow_up(&mut self, gathered: &mut Gathered) -> Result<()> {
        let (ids, total) =
            self.engine
                .fitting_communities(self.question(), self.request, COMMUNITIES)?;
        let mut reports = self.engine.reports(&ids)?;
        self.engine
            .fit_findings(&mut reports, self.question(), self.request)?;
        gathered.communities = Some((reports.len(), total));
        let mut found: Vec<Citation> = Vec::new();
        for question in self.further_questions(&reports)? {
            for citation in chosen(
                &self.engine.sentences_for(&question, self.request)?,
                SENTENCES,
            ) {
                if !found.contains(&citation) {
                    found.push(citation);
                }
            }
        }
        gathered
            .quotes
            .retain(|quote| !found.iter().any(|other| overlaps(other, quote)));
        // What was asked comes first, but half of the room is for what it led to.
        let half = gathered.quotes.len().min(found.len());
        let rest = gathered.quotes.split_off(half);
        gathered.quotes.extend(found);
        gathered.quotes.extend(rest);
        Ok(())
    }

    fn further_questions(&mut self, reports: &[CommunityReport]) -> Result<Vec<String>> {
        let by_title = |reports: &[CommunityReport]| {
            let titles = reports.iter().take(FOLLOW_UPS);
            titles
                .map(|report| format!("{} {}", self.request.question, report.title))
                .collect()
        };
        let background: Vec<String> = reports
            .iter()
            .map(|report| format!("{}: {}", report.title, report.summary))
            .collect();
        let quotes: Vec<Citation> = reports
            .iter()
            .filter_map(|report| report.quotes().next().cloned())
            .collect();
        let overview = self
            .engine
            .offered(&background, &quotes, OVERVIEW, 1.0 - BACKGROUND)?;
        let room = self.run.settings.max_output_tokens;
        let request = primer_request(
            self.prompts,
            self.question(),
            &overview.text,
            FOLLOW_UPS,
            room,
        );
        let model = self.cached(self.run.model, STEP);
        let read = ask_structured(&model, &[request], |_, reply| {
            read_follow_ups(reply, FOLLOW_UPS)
        })?;
        match read.into_iter().next() {
            Some(Ok(questions)) if !questions.is_empty() => Ok(questions),
            Some(Err(unusable)) => {
                let questions = by_title(reports);
                self.notes.push(format!(
                    "the model gave no follow-up questions: {}",
                    unusable.reason
                ));
                Ok(questions)
            }
            _ => Ok(by_title(reports)),
        }
    }
}

fn overlaps(a: &Citation, b: &Citation) -> bool {
    a.document == b.document && a.start < b.end && b.start < a.end
}
