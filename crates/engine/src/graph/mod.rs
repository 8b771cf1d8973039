//! The graph in memory: entities, chunks, relations and mentions as flat arrays, and what is asked of them.
//!
//! An index (`u32`) is the rank of a row id in sorted order; entities, chunks and documents have separate
//! index spaces. Nothing here reads the store: the pipeline feeds a [`GraphBuilder`], saves the result as a
//! snapshot and describes later changes as deltas. A snapshot with its deltas applied equals
//! the graph built afresh from the same rows, array for array.

mod alias_table;
mod apply;
mod builder;
mod csr;
mod delta;
mod edge_filter;
mod encoding;
mod hubs;
mod index;
mod link_anchor;
mod link_key;
mod link_path;
mod link_relation;
mod link_resolution;
mod linking;
mod mentions;
pub mod names;
mod note_index;
pub mod pagerank;
mod parts;
mod paths;
mod phrases;
mod rearrange;
mod route;
mod snapshot;
mod traverse;
pub mod vocabulary;
mod window;

pub use alias_table::AliasTable;
pub use builder::{ChunkRow, Dangling, DocumentRow, GraphBuilder, RelationRow};
pub use csr::{Edge, EdgeKind, RelationCsr};
pub use delta::GraphDelta;
pub use edge_filter::EdgeFilter;
pub use hubs::{hubs, orphans};
pub use index::{Adjacency, IdIndex};
pub use link_anchor::find_heading;
pub use link_key::link_key;
pub use link_relation::{EMBEDS, LINKS_TO, quote_span};
pub use linking::{AliasIndex, LEAST_RATIO, LinkStep, Linked, Overlap, SHORTEST, link};
pub use mentions::{MentionFlags, MentionMatrix, MentionRow};
pub use note_index::{NoteIndex, NoteRef};
pub use paths::{HubRule, Path, PathSearch, Paths};
pub use snapshot::{Appended, SnapshotFiles, Unusable};
pub use traverse::{Reached, Traversal, Walked};
pub use window::{Moment, Window};

use crate::types::{ChunkId, DocumentId, EntityId};

/// The whole graph. Build one with [`GraphBuilder`].
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Generation of the store this graph shows.
    pub generation: u64,
    /// Row id of each entity index.
    pub entities: IdIndex<EntityId>,
    /// Row id of each chunk index; current chunks only.
    pub chunks: IdIndex<ChunkId>,
    /// Row id of each document index; current documents only.
    pub documents: IdIndex<DocumentId>,
    /// Document index of each chunk.
    pub chunk_document: Vec<u32>,
    /// Ordinal of each chunk in its document.
    pub chunk_ordinal: Vec<u32>,
    /// Chunks of each document, by ordinal.
    pub document_chunks: Adjacency,
    /// Entity that each document bears as its title, or [`NO_ENTITY`].
    pub title_entity: Vec<u32>,
    /// Documents whose title each entity is.
    pub title_documents: Adjacency,
    pub relations: RelationCsr,
    pub mentions: MentionMatrix,
}

/// In [`Graph::title_entity`]: the document's title is no entity.
pub const NO_ENTITY: u32 = u32::MAX;

impl Graph {
    /// A graph without rows.
    pub fn empty(generation: u64) -> Self {
        GraphBuilder::new(generation, Vec::new(), Vec::new())
            .build()
            .0
    }

    /// Chunks of the documents whose title `entity` is.
    pub fn title_chunks(&self, entity: u32) -> impl Iterator<Item = u32> + '_ {
        self.title_documents
            .row(entity)
            .iter()
            .flat_map(|&document| self.document_chunks.row(document).iter().copied())
    }

    /// The entity that is the title of the chunk's document.
    pub fn title_of_chunk(&self, chunk: u32) -> Option<u32> {
        let entity = self.title_entity[self.chunk_document[chunk as usize] as usize];
        (entity != NO_ENTITY).then_some(entity)
    }

    /// Whether nothing can be reached from `entity` but the documents whose title it is: no relation visible
    /// at `at`, and no mention elsewhere.
    pub fn is_isolated(&self, entity: u32, at: Moment) -> bool {
        let elsewhere = |&chunk: &u32| self.title_of_chunk(chunk) != Some(entity);
        self.relations.degree(entity, at) == 0
            && !self.mentions.chunks(entity).iter().any(elsewhere)
    }
}

#[cfg(test)]
mod test_graphs;
#[cfg(test)]
mod tests;
