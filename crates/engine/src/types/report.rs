use serde::{Deserialize, Serialize};

use super::Skipped;

/// An item that failed: what, and why, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemFailure {
    pub uri: String,
    /// Line in the file, from 1; 0 when the whole file is meant.
    pub line: usize,
    pub reason: String,
}

/// What an indexing run did. Every number is a count of documents unless it says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestReport {
    /// Files seen by the walk.
    pub seen: usize,
    /// Files whose bytes were read.
    pub read: usize,
    pub unchanged: usize,
    pub added: usize,
    pub changed: usize,
    pub renamed: usize,
    pub removed: usize,
    pub skipped: Vec<Skipped>,
    pub failed: Vec<ItemFailure>,
    pub warnings: Vec<ItemFailure>,
    pub chunks_added: usize,
    pub chunks_closed: usize,
    pub mentions: usize,
    pub relations_added: usize,
    pub relations_closed: usize,
    pub entities_added: usize,
    pub entities_removed: usize,
    pub elapsed_ms: u64,
}
