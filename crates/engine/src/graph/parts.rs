use super::csr::{OutgoingEdges, RelationCsr};
use super::encoding::{Malformed, Reader, Writer};
use super::index::{Adjacency, IdIndex, RowId};
use super::mentions::{MentionFlags, MentionMatrix, MentionRows};
use super::{Graph, NO_ENTITY, Window};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId};

/// What a graph is made of, without anything that follows from the rest: one direction of each matrix.
/// This is what is stored and what a delta changes.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) generation: u64,
    pub(super) entities: IdIndex<EntityId>,
    pub(super) documents: IdIndex<DocumentId>,
    pub(super) title_entity: Vec<u32>,
    pub(super) chunks: IdIndex<ChunkId>,
    pub(super) chunk_document: Vec<u32>,
    pub(super) chunk_ordinal: Vec<u32>,
    pub(super) relations: OutgoingEdges,
    pub(super) mentions: MentionRows,
}

impl Parts {
    /// Derives the rest.
    pub(super) fn assemble(self) -> Graph {
        let ordinal = |chunk: u32| self.chunk_ordinal[chunk as usize];
        let mut by_ordinal: Vec<(u32, u32)> = self
            .chunk_document
            .iter()
            .zip(0..)
            .map(|(&document, chunk)| (document, chunk))
            .collect();
        by_ordinal.sort_unstable_by_key(|&(document, chunk)| (document, ordinal(chunk), chunk));
        let titles: Vec<(u32, u32)> = self
            .title_entity
            .iter()
            .zip(0..)
            .filter(|&(&entity, _)| entity != NO_ENTITY)
            .map(|(&entity, document)| (entity, document))
            .collect();
        Graph {
            generation: self.generation,
            document_chunks: Adjacency::from_pairs(self.documents.len(), &by_ordinal),
            title_documents: Adjacency::from_pairs(self.entities.len(), &titles),
            relations: RelationCsr::new(self.relations),
            mentions: MentionMatrix::new(self.entities.len(), self.mentions),
            entities: self.entities,
            documents: self.documents,
            title_entity: self.title_entity,
            chunks: self.chunks,
            chunk_document: self.chunk_document,
            chunk_ordinal: self.chunk_ordinal,
        }
    }

    pub(super) fn read(bytes: &[u8], generation: u64) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let entities: IdIndex<EntityId> = read_index(&mut reader)?;
        let documents: IdIndex<DocumentId> = read_index(&mut reader)?;
        let chunks: IdIndex<ChunkId> = read_index(&mut reader)?;
        let title_entity = reader.u32s()?;
        let known = |&entity: &u32| entity == NO_ENTITY || (entity as usize) < entities.len();
        let chunk_document = reader.indices(documents.len())?;
        let chunk_ordinal = reader.u32s()?;
        let sound = title_entity.len() == documents.len()
            && title_entity.iter().all(known)
            && chunk_document.len() == chunks.len()
            && chunk_ordinal.len() == chunks.len();
        if !sound {
            return Err(Malformed);
        }
        let relations = read_edges(&mut reader, entities.len())?;
        let mentions = read_mentions(&mut reader, chunks.len(), entities.len())?;
        if !reader.is_at_end() {
            return Err(Malformed);
        }
        Ok(Self {
            generation,
            entities,
            documents,
            title_entity,
            chunks,
            chunk_document,
            chunk_ordinal,
            relations,
            mentions,
        })
    }
}

impl Graph {
    /// Drops what can be derived.
    pub(super) fn into_parts(self) -> Parts {
        let edges = self.relations;
        let mentions = self.mentions;
        Parts {
            generation: self.generation,
            entities: self.entities,
            documents: self.documents,
            title_entity: self.title_entity,
            chunks: self.chunks,
            chunk_document: self.chunk_document,
            chunk_ordinal: self.chunk_ordinal,
            relations: OutgoingEdges {
                offsets: edges.out_offsets,
                targets: edges.targets,
                types: edges.types,
                weights: edges.weights,
                windows: edges.windows,
                relations: edges.relations,
                type_ids: edges.type_ids,
                window_table: edges.window_table,
            },
            mentions: MentionRows {
                offsets: mentions.chunk_offsets,
                entities: mentions.entities,
                counts: mentions.counts,
                how: mentions.how,
            },
        }
    }

    /// The parts as bytes, in the order in which [`Parts::read`] reads them.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.ids(self.entities.ids().iter().copied());
        writer.ids(self.documents.ids().iter().copied());
        writer.ids(self.chunks.ids().iter().copied());
        writer.u32s(&self.title_entity);
        writer.u32s(&self.chunk_document);
        writer.u32s(&self.chunk_ordinal);
        let edges = &self.relations;
        writer.ascending(&edges.out_offsets);
        writer.u32s(&edges.targets);
        writer.u32s(&edges.types);
        writer.f32s(&edges.weights);
        writer.u32s(&edges.windows);
        writer.ids(edges.relations.iter().copied());
        writer.ids(edges.type_ids.iter().copied());
        let times = edges.window_table.iter().flat_map(|window| window.times());
        writer.i64s(&times.collect::<Vec<_>>());
        let mentions = &self.mentions;
        writer.ascending(&mentions.chunk_offsets);
        writer.u32s(&mentions.entities);
        writer.f32s(&mentions.counts);
        let how: Vec<u32> = mentions.how.iter().map(|how| u32::from(how.0)).collect();
        writer.u32s(&how);
        writer.bytes
    }
}

fn read_index<T: RowId>(reader: &mut Reader<'_>) -> Result<IdIndex<T>, Malformed> {
    let ids: Vec<T> = reader.ids()?;
    if !ids.is_sorted_by(|a, b| a < b) {
        return Err(Malformed);
    }
    Ok(IdIndex::new(ids))
}

/// Where each of `rows` rows starts, up to `items`.
fn read_offsets(reader: &mut Reader<'_>, rows: usize) -> Result<Vec<u32>, Malformed> {
    let offsets = reader.ascending()?;
    if offsets.len() != rows + 1 || offsets[0] != 0 {
        return Err(Malformed);
    }
    Ok(offsets)
}

fn read_edges(reader: &mut Reader<'_>, entities: usize) -> Result<OutgoingEdges, Malformed> {
    let offsets = read_offsets(reader, entities)?;
    let targets = reader.indices(entities)?;
    let types = reader.u32s()?;
    let weights = reader.f32s()?;
    let windows = reader.u32s()?;
    let relations: Vec<RelationId> = reader.ids()?;
    let type_ids = reader.ids()?;
    let times = reader.i64s()?;
    let (times, rest) = times.as_chunks::<4>();
    let window_table: Vec<Window> = times.iter().copied().map(Window::from_times).collect();
    let below = |list: &[u32], bound: usize| {
        let greatest = list.iter().copied().max();
        greatest.is_none_or(|greatest| (greatest as usize) < bound)
    };
    let edges = targets.len();
    let sound = offsets[entities] as usize == edges
        && [types.len(), weights.len(), windows.len(), relations.len()] == [edges; 4]
        && rest.is_empty()
        && below(&types, Vec::len(&type_ids))
        && below(&windows, window_table.len());
    if !sound {
        return Err(Malformed);
    }
    Ok(OutgoingEdges {
        offsets,
        targets,
        types,
        weights,
        windows,
        relations,
        type_ids,
        window_table,
    })
}

fn read_mentions(
    reader: &mut Reader<'_>,
    chunks: usize,
    entity_count: usize,
) -> Result<MentionRows, Malformed> {
    let offsets = read_offsets(reader, chunks)?;
    let entities = reader.indices(entity_count)?;
    let counts = reader.f32s()?;
    let how = reader.indices(256)?;
    let pairs = entities.len();
    if offsets[chunks] as usize != pairs || counts.len() != pairs || how.len() != pairs {
        return Err(Malformed);
    }
    Ok(MentionRows {
        offsets,
        entities,
        counts,
        how: how.into_iter().map(|how| MentionFlags(how as u8)).collect(),
    })
}
