use serde::{Deserialize, Serialize};

use super::{ChunkId, EntityId};

/// How a mention was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionHow {
    /// A hand-made link points to the entity.
    Link,
    /// The document bears the tag in its front matter (span 0..0 of its first chunk).
    Tag,
    /// A known name stands in the text.
    Name,
    /// A model said so.
    Llm,
}

/// An entity at a place of a chunk: `chunk.text[start..end]` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mention {
    pub chunk: ChunkId,
    /// Bytes in the chunk's text.
    pub start: u32,
    pub end: u32,
    pub entity: EntityId,
    pub how: MentionHow,
}

text_names!(MentionHow { Link => "link", Tag => "tag", Name => "name", Llm => "llm" });
