use serde::{Deserialize, Serialize};

use super::{ClaimView, EntityView, RelationView};

/// How a relation stands to the moment that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It had ended.
    Past,
    /// It held.
    Current,
    /// It had not begun.
    Future,
    /// It was taken back: no longer held to be true of any time.
    Retracted,
}

text_names!(Standing { Past => "past", Current => "current", Future => "future", Retracted => "retracted" });

/// A relation on a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub standing: Standing,
    #[serde(flatten)]
    pub relation: RelationView,
}

/// All that is known of an entity's relations, in the order of their starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// More than one when the name is ambiguous.
    pub entities: Vec<EntityView>,
    pub entries: Vec<TimelineEntry>,
    /// What is said of it, in the order of the starts.
    pub claims: Vec<ClaimView>,
    /// True when the limit left some out.
    pub cut: bool,
}

/// A question for a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRequest {
    /// Name, alias or public id.
    pub entity: String,
    /// Relation types to show, compared without case; empty for all.
    pub relation_types: Vec<String>,
    /// Show what was retracted too.
    pub history: bool,
    /// Entries shown at most, the latest ones.
    pub limit: usize,
}

impl TimelineRequest {
    /// A hundred entries of all types, without what was retracted.
    pub fn new(entity: impl Into<String>) -> Self {
        Self {
            entity: entity.into(),
            relation_types: Vec::new(),
            history: false,
            limit: 100,
        }
    }
}

/// What differs between two moments. A relation whose end alone differs at both is in neither list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphDiff {
    /// Relations of the second moment that the first one does not have.
    pub began: Vec<RelationView>,
    /// Relations of the first moment that the second one does not have.
    pub ended: Vec<RelationView>,
    /// The same for claims.
    pub claims_began: Vec<ClaimView>,
    pub claims_ended: Vec<ClaimView>,
    /// Relations and claims of both.
    pub unchanged: usize,
    /// True when the limit left some out.
    pub cut: bool,
}
