use serde::{Deserialize, Serialize};

use super::{EntityId, RelationId, Timestamp};

/// A dated, typed, directed statement about two entities. Windows are half-open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    pub id: RelationId,
    pub source: EntityId,
    pub target: EntityId,
    /// Relation type as written.
    pub relation_type: String,
    pub fact: Option<String>,
    /// Number of distinct (document, passage) pairs that state it.
    pub weight: f64,
    pub confidence: f64,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    pub recorded_at: Timestamp,
    pub retracted_at: Option<Timestamp>,
}
