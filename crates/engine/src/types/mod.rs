//! The vocabulary: one noun a file.

mod alias;
mod chunk;
mod document;
mod entity;
mod ids;
mod link;
mod mention;
mod relation;
mod report;
mod time;

pub use alias::{Alias, AliasSource};
pub use chunk::ChunkDraft;
pub use document::{
    DateSource, DocumentKind, Heading, LinkConvention, ParsedDocument, Skipped, TextOrigin, Warning,
};
pub use entity::{Entity, EntityKind};
pub use ids::{ChunkId, DocumentId, EntityId, PublicId, RelationId, RelationTypeId};
pub use link::{LinkDraft, LinkKind, LinkStatus, Resolution, ResolutionRule};
pub use mention::{Mention, MentionHow};
pub use relation::Relation;
pub use report::{IngestReport, ItemFailure};
pub use time::{Clock, DatePrecision, Timestamp, ValidDate};
