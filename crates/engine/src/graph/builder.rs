use rustc_hash::FxHashMap;

use super::csr::{EdgeKind, OutgoingEdges};
use super::index::{IdIndex, offsets_of};
use super::mentions::{MentionFlags, MentionRow, MentionRows, collect};
use super::parts::Parts;
use super::window::Window;
use super::{Graph, NO_ENTITY};
use crate::types::{ChunkId, DocumentId, EntityId, Mention, RelationId, RelationTypeId};

/// A document and the entity that is its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentRow {
    pub id: DocumentId,
    pub title: Option<EntityId>,
}

/// A chunk with its collected mentions.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkRow {
    pub id: ChunkId,
    pub document: DocumentId,
    pub ordinal: u32,
    /// Ordered by entity, each entity once.
    pub mentions: Vec<MentionRow<EntityId>>,
}

impl ChunkRow {
    /// Collects the stored mentions of one chunk, given in any order; `mention.chunk` is not looked at.
    pub fn new(id: ChunkId, document: DocumentId, ordinal: u32, mentions: &[Mention]) -> Self {
        Self {
            id,
            document,
            ordinal,
            mentions: collect(mentions),
        }
    }
}

/// A relation version as stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelationRow {
    pub id: RelationId,
    pub source: EntityId,
    pub target: EntityId,
    pub relation_type: RelationTypeId,
    pub weight: f32,
    pub window: Window,
}

impl RelationRow {
    pub(super) fn kind(&self) -> EdgeKind {
        EdgeKind {
            relation_type: self.relation_type,
            window: self.window,
        }
    }
}

/// Rows that were left out because what they point to was not given. All zero for a sound store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dangling {
    /// Relations without one of their entities.
    pub relations: usize,
    /// Mentions of unknown entities.
    pub mentions: usize,
    /// Chunks of unknown documents.
    pub chunks: usize,
    /// Documents whose title entity is unknown (the document stays).
    pub titles: usize,
}

/// Builds a [`Graph`] from rows. Entities and documents come first, because everything else is kept as
/// indices at once; within each list any order gives the same graph.
#[derive(Debug)]
pub struct GraphBuilder {
    generation: u64,
    entities: IdIndex<EntityId>,
    documents: IdIndex<DocumentId>,
    title_entity: Vec<u32>,
    relations: Vec<RelationEntry>,
    kinds: FxHashMap<EdgeKind, u32>,
    chunks: Vec<ChunkEntry>,
    mention_entities: Vec<u32>,
    mention_counts: Vec<f32>,
    mention_how: Vec<MentionFlags>,
    dangling: Dangling,
}

#[derive(Debug, Clone, Copy)]
struct RelationEntry {
    source: u32,
    target: u32,
    /// Number of the kind in order of arrival.
    kind: u32,
    weight: f32,
    id: RelationId,
}

#[derive(Debug, Clone, Copy)]
struct ChunkEntry {
    id: ChunkId,
    document: u32,
    ordinal: u32,
    /// Range in the mention arrays of the builder.
    start: u32,
    end: u32,
}

impl GraphBuilder {
    /// Starts a graph of `generation` over these entities and documents. An id given twice counts once; of
    /// two rows of one document the last one holds.
    pub fn new(generation: u64, entities: Vec<EntityId>, documents: Vec<DocumentRow>) -> Self {
        let entities = IdIndex::new(entities);
        let index = IdIndex::new(documents.iter().map(|document| document.id).collect());
        let mut title_entity = vec![NO_ENTITY; index.len()];
        let mut dangling = Dangling::default();
        for document in documents {
            let slot = index.get(document.id).expect("the index holds every row") as usize;
            title_entity[slot] = match document.title {
                None => NO_ENTITY,
                Some(title) => entities.get(title).unwrap_or_else(|| {
                    dangling.titles += 1;
                    NO_ENTITY
                }),
            };
        }
        Self {
            generation,
            entities,
            documents: index,
            title_entity,
            relations: Vec::new(),
            kinds: FxHashMap::default(),
            chunks: Vec::new(),
            mention_entities: Vec::new(),
            mention_counts: Vec::new(),
            mention_how: Vec::new(),
            dangling,
        }
    }

    /// Adds a relation version; each row id must come once.
    pub fn relation(&mut self, row: &RelationRow) {
        let (Some(source), Some(target)) =
            (self.entities.get(row.source), self.entities.get(row.target))
        else {
            self.dangling.relations += 1;
            return;
        };
        let next = self.kinds.len() as u32;
        self.relations.push(RelationEntry {
            source,
            target,
            kind: *self.kinds.entry(row.kind()).or_insert(next),
            weight: row.weight,
            id: row.id,
        });
    }

    /// Adds a chunk; each row id must come once.
    pub fn chunk(&mut self, row: &ChunkRow) {
        let Some(document) = self.documents.get(row.document) else {
            self.dangling.chunks += 1;
            return;
        };
        let start = self.mention_entities.len() as u32;
        for mention in &row.mentions {
            if let Some(entity) = self.entities.get(mention.entity) {
                self.mention_entities.push(entity);
                self.mention_counts.push(mention.count);
                self.mention_how.push(mention.how);
            } else {
                self.dangling.mentions += 1;
            }
        }
        self.chunks.push(ChunkEntry {
            id: row.id,
            document,
            ordinal: row.ordinal,
            start,
            end: self.mention_entities.len() as u32,
        });
    }

    /// The graph, and what was left out of it.
    pub fn build(mut self) -> (Graph, Dangling) {
        let relations = self.build_relations();
        self.chunks.sort_unstable_by_key(|chunk| chunk.id);
        let chunks = IdIndex::new(self.chunks.iter().map(|chunk| chunk.id).collect());
        assert_eq!(chunks.len(), self.chunks.len(), "each chunk comes once");
        let mentions = self.build_mentions();
        let parts = Parts {
            generation: self.generation,
            entities: self.entities,
            documents: self.documents,
            title_entity: self.title_entity,
            chunk_document: self.chunks.iter().map(|chunk| chunk.document).collect(),
            chunk_ordinal: self.chunks.iter().map(|chunk| chunk.ordinal).collect(),
            chunks,
            relations,
            mentions,
        };
        (parts.assemble(), self.dangling)
    }

    fn build_relations(&mut self) -> OutgoingEdges {
        let kind_table = by_number(&self.kinds);
        let mut rows = std::mem::take(&mut self.relations);
        rows.sort_unstable_by_key(|row| {
            let relation_type = kind_table[row.kind as usize].relation_type;
            (row.source, row.target, relation_type, row.id)
        });
        let mut edges = OutgoingEdges {
            offsets: offsets_of(self.entities.len(), rows.iter().map(|row| row.source)),
            targets: rows.iter().map(|row| row.target).collect(),
            kinds: rows.iter().map(|row| row.kind).collect(),
            weights: rows.iter().map(|row| row.weight).collect(),
            relations: rows.iter().map(|row| row.id).collect(),
            kind_table,
        };
        edges.tidy();
        edges
    }

    /// Puts the mentions into the order of the sorted chunks.
    fn build_mentions(&mut self) -> MentionRows {
        let mut offsets = Vec::with_capacity(self.chunks.len() + 1);
        let mut entities = Vec::with_capacity(self.mention_entities.len());
        let mut counts = Vec::with_capacity(self.mention_entities.len());
        let mut how = Vec::with_capacity(self.mention_entities.len());
        offsets.push(0);
        for chunk in &self.chunks {
            let range = chunk.start as usize..chunk.end as usize;
            entities.extend_from_slice(&self.mention_entities[range.clone()]);
            counts.extend_from_slice(&self.mention_counts[range.clone()]);
            how.extend_from_slice(&self.mention_how[range]);
            offsets.push(entities.len() as u32);
        }
        self.mention_entities = Vec::new();
        self.mention_counts = Vec::new();
        self.mention_how = Vec::new();
        MentionRows {
            offsets,
            entities,
            counts,
            how,
        }
    }
}

/// The keys in the order of their numbers.
fn by_number<T: Copy + Ord>(numbers: &FxHashMap<T, u32>) -> Vec<T> {
    let mut keys: Vec<(u32, T)> = numbers
        .iter()
        .map(|(&key, &number)| (number, key))
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, key)| key).collect()
}
