use serde::{Deserialize, Serialize};

use super::ItemFailure;

/// What became of a graph of another program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignReport {
    pub passages: usize,
    /// Passages that are documents of the store now, new ones and those that were there.
    pub matched: usize,
    pub documents_added: usize,
    /// Entities and relations of all imports and extractions of the namespace.
    pub entities: usize,
    pub relations: usize,
    /// Items that no passage bears out; `malha quarantine list` has them.
    pub rejected: usize,
    /// Communities that were kept, with their reports.
    pub communities: usize,
    /// Communities below our finest level, which are not kept.
    pub communities_too_fine: usize,
    /// Communities of whose entities the store has none.
    pub communities_unknown: usize,
    /// Rows that could not be used.
    pub failures: Vec<ItemFailure>,
}
