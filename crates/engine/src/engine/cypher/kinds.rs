//! What the numbers of nodes and relationships stand for on the store.

use crate::cypher::{NodeId, RelationshipId};

/// What a node is. A document that is the only one of its title is one node with the entity of that title, so
/// that links and facts of a note are relationships of its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// Entity index.
    Entity(u32),
    /// Document index.
    Document(u32),
    /// Chunk index.
    Chunk(u32),
    /// Row id.
    Community(u32),
}

/// What a relationship is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// Position in the relations.
    Relation(usize),
    /// Chunk and place among the entities that it mentions.
    Mention(u32, u32),
    /// Chunk.
    Part(u32),
    /// Chunk before another one.
    Next(u32),
    /// Entity and place among its communities.
    Member(u32, u32),
}

const TAG_SHIFT: u32 = 60;
const PLACE_SHIFT: u32 = 32;

impl NodeKind {
    pub(super) fn id(self) -> NodeId {
        let (tag, number) = match self {
            Self::Entity(number) => (0, number),
            Self::Document(number) => (1, number),
            Self::Chunk(number) => (2, number),
            Self::Community(number) => (3, number),
        };
        NodeId(tag << TAG_SHIFT | u64::from(number))
    }

    pub(super) fn of(id: NodeId) -> Self {
        let number = id.0 as u32;
        match id.0 >> TAG_SHIFT {
            0 => Self::Entity(number),
            1 => Self::Document(number),
            2 => Self::Chunk(number),
            _ => Self::Community(number),
        }
    }
}

impl LinkKind {
    pub(super) fn id(self) -> RelationshipId {
        let pair = |tag: u64, number: u32, place: u32| {
            tag << TAG_SHIFT | u64::from(place) << PLACE_SHIFT | u64::from(number)
        };
        RelationshipId(match self {
            Self::Relation(position) => position as u64,
            Self::Mention(chunk, place) => pair(1, chunk, place),
            Self::Part(chunk) => pair(2, chunk, 0),
            Self::Next(chunk) => pair(3, chunk, 0),
            Self::Member(entity, place) => pair(4, entity, place),
        })
    }

    pub(super) fn of(id: RelationshipId) -> Self {
        let number = id.0 as u32;
        let place = (id.0 >> PLACE_SHIFT) as u32 & 0x0fff_ffff;
        match id.0 >> TAG_SHIFT {
            0 => Self::Relation(id.0 as usize),
            1 => Self::Mention(number, place),
            2 => Self::Part(number),
            3 => Self::Next(number),
            _ => Self::Member(number, place),
        }
    }
}
