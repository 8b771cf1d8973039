//! The vocabulary: one noun a file.

mod alias;
mod chunk;
mod document;
mod entity;
mod graph_view;
mod ids;
mod link;
mod mention;
mod relation;
mod report;
mod search;
mod stats;
mod time;

pub use alias::{Alias, AliasSource};
pub use chunk::ChunkDraft;
pub use document::{
    DateSource, DocumentKind, Heading, LinkConvention, ParsedDocument, Skipped, TextOrigin, Warning,
};
pub use entity::{Entity, EntityKind};
pub use graph_view::{
    Direction, EntityView, EvidenceView, NeighborRequest, NeighborView, Neighborhood, OpenLink,
    PathView, RelationView,
};
pub use ids::{ChunkId, DocumentId, EntityId, PublicId, RelationId, RelationTypeId};
pub use link::{LinkDraft, LinkKind, LinkStatus, Resolution, ResolutionRule};
pub use mention::{Mention, MentionHow};
pub use relation::Relation;
pub use report::{IngestReport, ItemFailure};
pub use search::{
    Connection, EntryEntity, Evidence, Lane, LaneRecord, LaneStatus, Mode, SearchRequest,
    SearchResponse,
};
pub use stats::Stats;
pub use time::{Clock, DatePrecision, Timestamp, ValidDate};
