use serde::{Deserialize, Serialize};

use super::{EntityKind, PublicId, RelationTimes};

/// An entity as shown to people and agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityView {
    pub public_id: PublicId,
    pub kind: EntityKind,
    pub name: String,
    pub types: Vec<String>,
    pub description: Option<String>,
    pub aliases: Vec<String>,
    /// Uri of the note that stands for it.
    pub uri: Option<String>,
    /// Current relations, parallel ones too.
    pub degree: u32,
    /// Chunks that mention it.
    pub mentions: u32,
}

/// A relation as shown, with its end points by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelationView {
    pub source: String,
    pub source_id: PublicId,
    pub relation_type: String,
    pub target: String,
    pub target_id: PublicId,
    /// Number of distinct passages that state it.
    pub weight: f64,
    /// The fact as a sentence, where one is stated.
    pub fact: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    #[serde(flatten)]
    pub times: RelationTimes,
    /// The fact that ended it: the same subject has this relation to something else from then on.
    pub ended_by: Option<String>,
    pub evidence: Vec<EvidenceView>,
}

/// Where a relation is stated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceView {
    pub uri: String,
    pub line: usize,
    pub quote: String,
    /// The heading of the target that the link names (`[[Budget#Q3]]`), where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<HeadingView>,
}

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadingView {
    pub uri: String,
    pub line: usize,
    /// Without its marks.
    pub text: String,
}

/// A node of a neighbourhood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighborView {
    pub depth: u32,
    pub entity: EntityView,
}

/// The k-hop neighbourhood of some entities.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Neighborhood {
    pub nodes: Vec<NeighborView>,
    pub relations: Vec<RelationView>,
    /// True when the node limit left some out.
    pub cut: bool,
}

/// Which relations a traversal follows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Out,
    In,
    #[default]
    Both,
}

/// A k-hop question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighborRequest {
    /// Names, aliases or public ids to start from.
    pub seeds: Vec<String>,
    pub max_hops: u32,
    pub max_nodes: usize,
    pub direction: Direction,
    /// Relation types to follow, compared without case; empty for all.
    pub relation_types: Vec<String>,
}

impl NeighborRequest {
    /// Two hops, sixty nodes, both directions, every relation.
    pub fn new(seed: impl Into<String>) -> Self {
        Self {
            seeds: vec![seed.into()],
            max_hops: 2,
            max_nodes: 60,
            direction: Direction::Both,
            relation_types: Vec::new(),
        }
    }
}

/// One path between two entities: its relations in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathView {
    pub nodes: Vec<EntityView>,
    pub relations: Vec<RelationView>,
}

/// A link that points to no note, or to several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLink {
    pub uri: String,
    pub line: usize,
    pub target: String,
    pub status: super::LinkStatus,
    /// Uris that fit equally well, when ambiguous.
    pub candidates: Vec<String>,
}
