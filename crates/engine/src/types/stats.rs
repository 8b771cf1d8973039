use serde::{Deserialize, Serialize};

/// Counts of what is current in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    pub documents: u64,
    pub chunks: u64,
    pub entities: u64,
    pub aliases: u64,
    pub mentions: u64,
    pub relations: u64,
    pub claims: u64,
    pub links_resolved: u64,
    pub links_unresolved: u64,
    pub links_ambiguous: u64,
    pub issues_skipped: u64,
    pub issues_failed: u64,
    pub issues_warning: u64,
    /// Closed rows that are kept: documents, chunks, relations.
    pub history: u64,
    pub store_bytes: u64,
    pub generation: u64,
}

/// What was left out or odd in a source, as the last run saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    pub severity: IssueSeverity,
    pub uri: String,
    /// Line in the file, from 1; 0 when the whole file is meant.
    pub line: usize,
    pub reason: String,
}

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueSeverity {
    Skipped,
    Warning,
    Failed,
}

text_names!(IssueSeverity { Skipped => "skipped", Warning => "warning", Failed => "failed" });

/// Rows of a user's own query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlRows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<serde_json::Value>>,
    /// There were more rows than the limit.
    pub cut: bool,
}
