use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ItemFailure, Spent, Timestamp};

/// What an extraction run did. Passages are what one call is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractReport {
    pub passages: usize,
    /// Their replies were stored already.
    pub known: usize,
    /// Their replies are new and usable.
    pub extracted: usize,
    /// Could not be used, with the reason; the next run asks again.
    pub failed: Vec<ItemFailure>,
    /// Not asked for: the budget was used up, the run was interrupted, or the model gave no answer to anything.
    pub left: usize,
    pub entities: usize,
    pub relations: usize,
    pub entities_added: usize,
    pub entities_removed: usize,
    pub relations_added: usize,
    pub relations_closed: usize,
    #[serde(default)]
    pub claims: usize,
    #[serde(default)]
    pub claims_added: usize,
    #[serde(default)]
    pub claims_closed: usize,
    /// Pairs of names that became one entity, and pairs that wait for a decision; `malha review merges` has
    /// them.
    #[serde(default)]
    pub merged: usize,
    #[serde(default)]
    pub proposed: usize,
    /// Items of usable replies that were not stored; `malha quarantine list` has them.
    pub items_rejected: usize,
    /// Replies that had to be asked for a second time because they could not be read.
    pub repaired: usize,
    pub warnings: Vec<String>,
    pub spent: Spent,
    /// The same by step: `extraction`, `resolution` (names judged), `summary`.
    #[serde(default)]
    pub steps: BTreeMap<String, Spent>,
    pub budget_reached: bool,
    /// What ended the run before everything was asked for: the budget, or the model's failure.
    #[serde(default)]
    pub stopped: Option<String>,
    pub elapsed_ms: u64,
}

/// What an extraction run would take, before anything is sent but the sample that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractEstimate {
    pub passages: usize,
    /// Their replies are stored already.
    pub known: usize,
    pub calls: u64,
    /// As the vocabulary cl100k counts them, or the provider, where replies so far tell the difference.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// `None` where the model has no price.
    pub cost: Option<f64>,
    /// By what calls so far took, at the model's concurrency; before the first one, by what calls of small models at
    /// their providers take.
    pub seconds: f64,
    pub seconds_are_measured: bool,
    /// Stored replies that lengths of replies are reckoned from; with none, they are those of one model over one book
    /// of prose, and may be off by a half.
    pub learned_from: usize,
    /// What the sample took.
    pub sampled: Spent,
    /// Calls that may come on top, in words: how many nobody knows before the replies.
    pub not_counted: Vec<String>,
}

/// A run as it was noted when it began and when it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub id: i64,
    /// `index`, `extract`, `estimate`, `schema`, `reports` or `import`.
    pub kind: String,
    pub started_at: Timestamp,
    /// `None` for a run that was killed, or goes on.
    pub finished_at: Option<Timestamp>,
    /// What the run reported, or the `error` that ended it.
    pub report: serde_json::Value,
}

/// Something put aside by extraction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantineItem {
    pub id: i64,
    /// `passage`, `entity`, `relation` or `item`.
    pub kind: String,
    pub uri: String,
    /// First byte of its passage in the document, and the line of that byte, from 1.
    pub start: usize,
    pub line: usize,
    pub reason: String,
    /// What the model said, or the start of it.
    pub item: String,
    /// The user wants no more of it.
    pub dropped: bool,
}
