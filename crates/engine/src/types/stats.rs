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
