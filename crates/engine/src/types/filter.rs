use serde::{Deserialize, Serialize};

use super::DocumentKind;

/// Which documents a question is about. Empty: all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DocumentFilter {
    /// Only documents that date themselves at this date or later, as people write dates.
    pub since: Option<String>,
    /// Only documents that date themselves no later: `2024-03` takes in all of March.
    pub until: Option<String>,
    /// Only documents at or below one of these paths.
    pub under: Vec<String>,
    /// Only documents with one of these tags.
    pub tags: Vec<String>,
    /// Only documents of one of these kinds.
    pub kinds: Vec<DocumentKind>,
}

impl DocumentFilter {
    /// Whether it leaves nothing out.
    pub const fn is_empty(&self) -> bool {
        self.since.is_none()
            && self.until.is_none()
            && self.under.is_empty()
            && self.tags.is_empty()
            && self.kinds.is_empty()
    }
}

/// How many documents a filter let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentCounts {
    pub matching: usize,
    /// Left out because they state no date, where the filter asks for one.
    pub undated: usize,
    /// Documents that the answer cites.
    pub cited: usize,
}
