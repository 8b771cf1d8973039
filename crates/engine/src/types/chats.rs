use serde::{Deserialize, Serialize};

use super::ItemFailure;

/// What became of exported conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReport {
    pub conversations: usize,
    /// Turns of the branches that are shown.
    pub turns: usize,
    /// Turns that are new or say something else than before.
    pub turns_added: usize,
    /// Turns that are no longer in the branch that is shown.
    pub turns_closed: usize,
    /// Turns of other branches: edited questions, answers that were made again.
    pub left_out: usize,
    /// Undoes it: `malha undo N`.
    pub operation: Option<i64>,
    /// Files, items and turns that could not be used.
    pub failures: Vec<ItemFailure>,
}
