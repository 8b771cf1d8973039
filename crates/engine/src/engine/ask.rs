//! Questions to answers: routed, answered by sentences of the documents, verified, or refused.

use rustc_hash::FxHashSet;

use super::Engine;
use super::global::rounds;
use crate::Result;
use crate::answer::{Piece, extract, is_supported, refusal};
use crate::retrieval::{self, CHUNKS, Sentences, score_sentences};
use crate::router::{Features, Route, asks_for_rows, route};
use crate::storage;
use crate::text::detect_language;
use crate::types::{
    Answer, AnswerSentence, AskMode, AskRequest, Budget, Citation, CommunityReport, Context,
    ContextRequest, Mode, SearchRequest, Spent,
};

/// Sentences of an answer, and of one to a question about the whole store.
const SENTENCES: usize = 4;
const GLOBAL_SENTENCES: usize = 8;
/// Sentences of an answer about the whole of some documents.
const DOCUMENT_SENTENCES: usize = 20;
/// Share of the question, its words weighted by rarity, that an answer must hold. Below it, nothing is known.
const LEAST_COVERAGE: f64 = 0.45;
/// Titles named by a refusal.
const SUGGESTIONS: usize = 3;
/// Follow-up searches of a drifting answer.
pub(super) const FOLLOW_UPS: usize = 3;

/// How a question is answered.
pub(super) enum Way {
    /// By the graph, which knew.
    Answered(Box<Answer>),
    /// By this mode, for this reason.
    By(AskMode, String),
}

impl Engine {
    /// Answers with sentences of the documents, each with its place. Where they hold no evidence, the answer is a
    /// refusal in the language of the question. No model is asked; [`Engine::answer`] asks one.
    ///
    /// # Errors
    /// [`Error::Usage`] for a question without words.
    pub fn ask(&self, request: &AskRequest) -> Result<Answer> {
        let prepared = self.prepared(request)?;
        let (mode, reason) = match self.way(&prepared.request, None)? {
            Way::Answered(answer) => return self.finished(*answer, &prepared),
            Way::By(mode, reason) => (mode, reason),
        };
        let mut answer = self.ask_in(mode, &prepared.request)?;
        answer.mode = mode;
        answer.reason = reason;
        self.finished(answer, &prepared)
    }

    /// The answer of a way, made of sentences of the documents.
    pub(super) fn ask_in(&self, mode: AskMode, request: &AskRequest) -> Result<Answer> {
        match mode {
            AskMode::Global => self.ask_global(request),
            AskMode::Drift => self.ask_drift(request),
            AskMode::Local => self.ask_near(request, true),
            AskMode::Auto | AskMode::Hybrid | AskMode::Cypher => self.ask_near(request, false),
        }
    }

    /// How a question is answered, and why; no reason where the caller says how. `proposed` is what a model says,
    /// instead of the rules. The graph is asked at once: where it does not know, the rules take the next way.
    pub(super) fn way(&self, request: &AskRequest, proposed: Option<Route>) -> Result<Way> {
        let question = &request.question;
        match request.mode {
            AskMode::Auto => {}
            AskMode::Cypher => return Ok(Way::Answered(Box::new(self.ask_by_graph(request)?))),
            mode => return Ok(Way::By(mode, String::new())),
        }
        let mut features = Features {
            named: self.named_in(question)?,
            // Rows know nothing of a choice of documents.
            in_graph: request.documents.is_none()
                && asks_for_rows(question)
                && self.has_types_of(question)?,
        };
        // Rows know nothing of a choice of documents.
        let fits = |way: &Route| way.mode != AskMode::Cypher || request.documents.is_none();
        let mut routed = proposed
            .filter(fits)
            .unwrap_or_else(|| route(question, features));
        if routed.mode == AskMode::Cypher {
            let mut answer = self.ask_by_graph(request)?;
            if !answer.is_refusal {
                answer.reason = routed.reason;
                return Ok(Way::Answered(Box::new(answer)));
            }
            features.in_graph = false;
            routed = route(question, features);
            routed.reason.push_str("; the graph does not know");
        }
        Ok(Way::By(routed.mode, routed.reason))
    }

    /// How many known names the question holds.
    pub(super) fn named_in(&self, question: &str) -> Result<usize> {
        let response = self.search(&SearchRequest {
            mode: Mode::Graph,
            limit: 1,
            ..SearchRequest::new(question)
        })?;
        Ok(response.entry_entities.len())
    }

    /// The sentences around what is asked.
    fn ask_near(&self, request: &AskRequest, with_graph: bool) -> Result<Answer> {
        let context = self.context(&context_request(request, AskMode::Local, with_graph))?;
        let sentences = self.sentences_for(&request.question, request)?;
        self.compose(request, context, &sentences, SENTENCES)
    }

    /// The best sentences of the communities that fit the question, one community after the other; of the documents
    /// that are asked about, where the question says which.
    fn ask_global(&self, request: &AskRequest) -> Result<Answer> {
        let context = self.context(&context_request(request, AskMode::Global, true))?;
        if let Some(documents) = &request.documents {
            let sections = self.document_sections(&request.question, documents)?;
            let mut citations = rounds(&sections);
            citations.truncate(DOCUMENT_SENTENCES);
            return if citations.is_empty() {
                self.refuse(request, context)
            } else {
                self.written(request, context, citations)
            };
        }
        let (reports, total) = self.reports_for(&request.question, request.communities, request)?;
        let read = reports.len();
        let citations = round_by_round(&reports, GLOBAL_SENTENCES);
        let mut answer = if citations.is_empty() {
            self.refuse(request, context)?
        } else {
            self.written(request, context, citations)?
        };
        answer.communities = Some((read, total));
        Ok(answer)
    }

    /// The communities that fit give the first sentences; their central names give follow-up searches.
    fn ask_drift(&self, request: &AskRequest) -> Result<Answer> {
        let (reports, total) = self.reports_for(&request.question, FOLLOW_UPS, request)?;
        let context = self.context(&context_request(request, AskMode::Drift, true))?;
        let near = self.sentences_for(&request.question, request)?;
        let mut citations = chosen(&near, SENTENCES);
        for report in &reports {
            let follow_up = format!("{} {}", request.question, report.title);
            let found = self.sentences_for(&follow_up, request)?;
            for citation in chosen(&found, 1) {
                if !citations.contains(&citation) {
                    citations.push(citation);
                }
            }
        }
        let is_known =
            near.coverage(words_of(&near, &extracted(&near, SENTENCES))) >= LEAST_COVERAGE;
        let mut answer = if citations.is_empty() || !is_known {
            self.refuse(request, context)?
        } else {
            self.written(request, context, citations)?
        };
        answer.communities = Some((reports.len(), total));
        Ok(answer)
    }

    pub(super) fn sentences_for(&self, question: &str, request: &AskRequest) -> Result<Sentences> {
        let search = SearchRequest {
            limit: CHUNKS,
            documents: request.documents.clone(),
            ..SearchRequest::new(question)
        };
        self.read(|reader| {
            let response = retrieval::search(reader, &search)?;
            score_sentences(reader, question, &response.results)
        })
    }

    fn compose(
        &self,
        request: &AskRequest,
        context: Context,
        sentences: &Sentences,
        most: usize,
    ) -> Result<Answer> {
        let chosen_at = extracted(sentences, most);
        let covered = sentences.coverage(words_of(sentences, &chosen_at));
        if chosen_at.is_empty() || covered < LEAST_COVERAGE {
            return self.refuse(request, context);
        }
        self.written(request, context, chosen(sentences, most))
    }

    /// The answer made of these quotes, each checked against the store.
    fn written(
        &self,
        request: &AskRequest,
        context: Context,
        citations: Vec<Citation>,
    ) -> Result<Answer> {
        let mut sentences = Vec::with_capacity(citations.len());
        for (citation, marker) in citations.iter().zip(1..) {
            let text = citation
                .quote
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            let language = detect_language(&text);
            let stands = self.stands(citation)?;
            sentences.push(AnswerSentence {
                is_supported: stands && is_supported(&text, &citation.quote, language),
                text,
                markers: vec![marker],
                rows: Vec::new(),
            });
        }
        let text = sentences
            .iter()
            .map(AnswerSentence::marked)
            .collect::<Vec<_>>()
            .join("\n");
        Ok(Answer {
            text,
            sentences,
            citations,
            ..unanswered(request, context)
        })
    }

    /// Whether the quote stands where the citation says.
    pub(super) fn stands(&self, citation: &Citation) -> Result<bool> {
        let store = self.asked()?;
        storage::quote_stands(
            store.connection(),
            citation.document,
            citation.start,
            &citation.quote,
        )
    }

    /// No evidence: a fixed text, and the titles that came nearest.
    pub(super) fn refuse(&self, request: &AskRequest, context: Context) -> Result<Answer> {
        let near = self.search(&SearchRequest {
            limit: CHUNKS,
            documents: request.documents.clone(),
            ..SearchRequest::new(&request.question)
        })?;
        let mut seen = FxHashSet::default();
        let suggestions: Vec<String> = near
            .results
            .into_iter()
            .map(|evidence| evidence.title)
            .filter(|title| !title.is_empty() && seen.insert(title.clone()))
            .take(SUGGESTIONS)
            .collect();
        Ok(Answer {
            text: refusal(detect_language(&request.question), &suggestions),
            is_refusal: true,
            suggestions,
            ..unanswered(request, context)
        })
    }
}

/// An answer that says nothing yet.
pub(super) fn unanswered(request: &AskRequest, context: Context) -> Answer {
    Answer {
        question: request.question.clone(),
        mode: AskMode::Auto,
        reason: String::new(),
        text: String::new(),
        sentences: Vec::new(),
        citations: Vec::new(),
        is_refusal: false,
        suggestions: Vec::new(),
        communities: None,
        documents: None,
        understood_as: None,
        graph: None,
        sections: None,
        model: None,
        failure: None,
        budget_reached: false,
        notes: Vec::new(),
        spent: Spent::default(),
        context,
    }
}

/// The evidence that a way of answering starts from.
pub(super) fn context_request(
    request: &AskRequest,
    mode: AskMode,
    with_graph: bool,
) -> ContextRequest {
    let budget = request.budget.unwrap_or(mode.budget());
    ContextRequest {
        documents: request.documents.clone(),
        with_graph,
        ..ContextRequest::new(&request.question, Budget::tokens(budget))
    }
}

/// Findings of reports, one of each report before the second of any.
fn round_by_round(reports: &[CommunityReport], most: usize) -> Vec<Citation> {
    let mut citations: Vec<Citation> = Vec::new();
    let deepest = reports.iter().map(|report| report.quotes().count()).max();
    for round in 0..deepest.unwrap_or(0) {
        for report in reports {
            if let Some(quote) = report.quotes().nth(round)
                && citations.len() < most
                && !citations.contains(quote)
            {
                citations.push(quote.clone());
            }
        }
    }
    citations
}

pub(super) fn extracted(sentences: &Sentences, most: usize) -> Vec<usize> {
    let pieces: Vec<Piece> = sentences
        .all
        .iter()
        .map(|sentence| Piece {
            score: sentence.score,
            words: sentence.words,
        })
        .collect();
    extract(&pieces, most)
}

pub(super) fn words_of(sentences: &Sentences, at: &[usize]) -> u64 {
    at.iter()
        .fold(0, |words, &at| words | sentences.all[at].words)
}

pub(super) fn chosen(sentences: &Sentences, most: usize) -> Vec<Citation> {
    let mut citations: Vec<Citation> = Vec::new();
    for at in extracted(sentences, most) {
        let sentence = &sentences.all[at];
        let citation = sentences.citation(sentence.chunk, sentence.range.clone());
        // The same words at two places say it once.
        if citations.iter().all(|known| known.quote != citation.quote) {
            citations.push(citation);
        }
    }
    citations
}
