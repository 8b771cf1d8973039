use serde::{Deserialize, Serialize};

use super::{EntityId, PublicId};

/// How an entity came to be. Part of its public id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// A note or file; its key is the uri at first sight, so two notes of one name stay two.
    Note,
    /// The title that corpus rows share; its key is the folded title.
    Title,
    /// A name found in text; its key is the folded name.
    Name,
    /// A tag of a vault; its key is the folded tag.
    Tag,
    /// Given directly (import, agent, model) under a folded name.
    Concept,
}

/// Something that texts speak of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub id: EntityId,
    pub public_id: PublicId,
    pub kind: EntityKind,
    pub key: String,
    /// Canonical display name.
    pub name: String,
    pub description: Option<String>,
    /// Types with their evidence counts are in `entity_type`; these are the type names, sorted.
    pub types: Vec<String>,
    /// Number of current relations, parallel ones too.
    pub degree: u32,
}

text_names!(EntityKind { Note => "note", Title => "title", Name => "name", Tag => "tag", Concept => "concept" });
