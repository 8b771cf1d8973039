use serde::{Deserialize, Serialize};

use super::{Citation, Context, DocumentId};

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
}

text_names!(AskMode {
    Auto => "auto",
    Hybrid => "hybrid",
    Local => "local",
    Global => "global",
    Drift => "drift",
});

/// A question that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRequest {
    pub question: String,
    pub mode: AskMode,
    /// Most tokens of evidence.
    pub budget: usize,
    /// Only these documents; `None` for all.
    pub documents: Option<Vec<DocumentId>>,
}

impl AskRequest {
    /// A question to the whole store, with twelve thousand tokens of evidence.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            mode: AskMode::Auto,
            budget: 12_000,
            documents: None,
        }
    }
}

/// One sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSentence {
    pub text: String,
    /// Numbers in [`Answer::citations`], from 1.
    pub markers: Vec<usize>,
    /// Every cited quote stands in the store, and one of them holds most of the sentence's content words.
    pub is_supported: bool,
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
    /// There is no evidence: `text` says so, and no model was called.
    pub is_refusal: bool,
    /// Of a refusal: what the store holds that comes nearest.
    pub suggestions: Vec<String>,
    /// Of a global answer: communities read, and how many there are.
    pub communities: Option<(usize, usize)>,
    /// What the evidence was chosen from.
    pub context: Context,
}
