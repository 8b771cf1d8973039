use serde::{Deserialize, Serialize};

use super::DocumentFilter;

/// What is to be forgotten: everything that any of the lists names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForgetRequest {
    /// Uris of documents and episodes.
    pub documents: Vec<String>,
    /// Names, aliases or public ids of entities.
    pub entities: Vec<String>,
    /// Sessions with all their episodes.
    pub sessions: Vec<String>,
    /// Documents that hold one of these texts, letter by letter.
    pub texts: Vec<String>,
    /// Documents that this lets through; an empty one names none.
    pub filter: DocumentFilter,
    /// Everything in the namespace.
    pub everything: bool,
}

/// Whether what was forgotten is gone from the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PurgeState {
    /// Nothing was changed: this is a preview.
    #[default]
    Preview,
    /// It is in no file of the store.
    Done,
    /// Nobody sees it any more, but a reader still holds the write-ahead log; forgetting anything, or nothing,
    /// once more finishes it.
    Pending,
}

text_names!(PurgeState { Preview => "preview", Done => "done", Pending => "pending" });

/// What is, or would be, forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetReport {
    pub purge: PurgeState,
    /// Uris.
    pub documents: Vec<String>,
    /// Names.
    pub entities: Vec<String>,
    /// Current relations of the entities.
    pub relations: usize,
    /// Turns of the ledger.
    pub turns: usize,
    /// Rows deleted for good.
    pub rows: usize,
    /// Documents that stay and whose text names a forgotten entity.
    pub still_named_in: Vec<String>,
}

/// A text that was looked for in the store's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// The forms that were looked for.
    pub searched: Vec<String>,
    pub files: usize,
    /// Where it still is; empty when it is absent.
    pub found: Vec<FoundTrace>,
}

/// A place that holds a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTrace {
    pub place: String,
    pub form: String,
}
