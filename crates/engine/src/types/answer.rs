use serde::{Deserialize, Serialize};

use super::{
    Citation, CommunityLevel, Context, DocumentCounts, DocumentFilter, DocumentId, GraphAnswer,
    Spent,
};

/// How an answer looks for its evidence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum AskMode {
    /// The router decides by the question's words.
    #[default]
    Auto,
    /// Passages alone: for a point question.
    Hybrid,
    /// Entities, their relations and passages: for how things hang together.
    Local,
    /// Communities of the whole store: for what it is about.
    Global,
    /// The communities that fit the question, then what their central entities lead to.
    Drift,
    /// Queries to the graph: for counts, lists and paths.
    Cypher,
}

text_names!(AskMode {
    Auto => "auto",
    Hybrid => "hybrid",
    Local => "local",
    Global => "global",
    Drift => "drift",
    Cypher => "cypher",
});

impl AskMode {
    /// Tokens of evidence unless somebody says otherwise: what the first article gives a question about the whole,
    /// and less for a question about something.
    pub const fn budget(self) -> usize {
        match self {
            Self::Global => 12_000,
            _ => 8_000,
        }
    }
}

/// Which communities a question about the whole reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommunitySelection {
    /// Those of one level that fit the question.
    Level(CommunityLevel),
    /// From the coarsest down: a community gives way to those of its parts that the question is about, where these
    /// are the smaller half of it.
    Dynamic,
}

impl Default for CommunitySelection {
    fn default() -> Self {
        Self::Level(CommunityLevel::Coarse)
    }
}

/// A question that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRequest {
    pub question: String,
    pub mode: AskMode,
    /// Most tokens of evidence; `None`: [`AskMode::budget`].
    pub budget: Option<usize>,
    /// Communities that a question about the whole reads at most.
    pub communities: usize,
    /// Which communities those are.
    pub selection: CommunitySelection,
    /// Only these documents; `None` for all.
    pub documents: Option<Vec<DocumentId>>,
    /// Only documents that it lets through. A question about the whole then hears every one of them instead of
    /// communities.
    pub filter: DocumentFilter,
    /// The conversation that the question goes on with, and that keeps it and its answer.
    pub session: Option<String>,
}

impl AskRequest {
    /// A question to the whole store, with as much evidence as its mode is used to.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            mode: AskMode::Auto,
            budget: None,
            // The first article's default.
            communities: 8,
            selection: CommunitySelection::default(),
            documents: None,
            filter: DocumentFilter::default(),
            session: None,
        }
    }
}

/// One sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSentence {
    pub text: String,
    /// Numbers in [`Answer::citations`], from 1.
    pub markers: Vec<usize>,
    /// Of an answer of the graph: rows that say it, numbers in [`super::GraphAnswer::rows`] from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<usize>,
    /// Every cited quote stands in the store, and together they hold most of the sentence's content words and all of
    /// its longer numbers.
    pub is_supported: bool,
}

impl AnswerSentence {
    /// The sentence and its markers.
    pub fn marked(&self) -> String {
        if self.markers.is_empty() {
            return self.text.clone();
        }
        let markers: Vec<String> = self.markers.iter().map(usize::to_string).collect();
        format!("{} [{}]", self.text, markers.join(", "))
    }
}

/// An answer whose every sentence can be followed, or a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub question: String,
    /// The mode that ran.
    pub mode: AskMode,
    /// Why the router took it; empty when it was asked for.
    pub reason: String,
    /// The sentences with their markers, or the refusal in the question's language.
    pub text: String,
    pub sentences: Vec<AnswerSentence>,
    /// Marker 1 is the first.
    pub citations: Vec<Citation>,
    /// There is no evidence: `text` says so. A model was only called where words of the question stand in the store.
    pub is_refusal: bool,
    /// Of a refusal: what the store holds that comes nearest.
    pub suggestions: Vec<String>,
    /// Of a global answer: communities read, and how many there are.
    pub communities: Option<(usize, usize)>,
    /// Of a question about some of the documents: how many those are.
    pub documents: Option<DocumentCounts>,
    /// Of a follow-up question: how it was understood.
    pub understood_as: Option<String>,
    /// Of a global answer of a model: how the reports were read.
    pub sections: Option<Sections>,
    /// The chat model that wrote it; `None`: its sentences are those of the documents.
    pub model: Option<String>,
    /// Why a model that was asked gave no answer, and sentences of the documents stand here instead.
    pub failure: Option<String>,
    /// It failed because the limit of spending left no room.
    pub budget_reached: bool,
    /// What was left out on the way, and what of a model's words could not be used.
    pub notes: Vec<String>,
    /// What the graph was asked, where it was; its evidence stands in [`Answer::citations`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphAnswer>,
    /// What models took for it.
    pub spent: Spent,
    /// What the evidence was chosen from; of a model's answer: what it was shown.
    pub context: Context,
}

/// How a model read the reports for a global answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sections {
    /// Parts that fit the budget; one, if all reports do.
    pub total: usize,
    /// Parts that say nothing about the question.
    pub not_supported: usize,
    /// Parts that could not be read; the notes say why.
    pub failed: usize,
    /// Titles of reports that no evidence of the answer comes from.
    pub not_covered: Vec<String>,
}
