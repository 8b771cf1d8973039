use std::io::{self, Read, Write};

use super::csr::{EdgeKind, OutgoingEdges, RelationCsr};
use super::encoding::{Reader, Unreadable, Writer};
use super::index::{Adjacency, IdIndex, IdList, RowId};
use super::mentions::{MentionFlags, MentionMatrix, MentionRows};
use super::{Graph, NO_ENTITY, Window};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId};

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

    pub(super) fn read(
        reader: &mut Reader<impl Read>,
        generation: u64,
    ) -> Result<Self, Unreadable> {
        let entities: IdIndex<EntityId> = read_index(reader)?;
        let documents: IdIndex<DocumentId> = read_index(reader)?;
        let chunks: IdIndex<ChunkId> = read_index(reader)?;
        let title_entity = reader.u32s()?;
        let known = |&entity: &u32| entity == NO_ENTITY || (entity as usize) < entities.len();
        let chunk_document = reader.indices(documents.len())?;
        let chunk_ordinal = reader.u32s()?;
        let sound = title_entity.len() == documents.len()
            && title_entity.iter().all(known)
            && chunk_document.len() == chunks.len()
            && chunk_ordinal.len() == chunks.len();
        if !sound {
            return Err(Unreadable::Malformed);
        }
        let relations = read_edges(reader, entities.len())?;
        let mentions = read_mentions(reader, chunks.len(), entities.len())?;
        if !reader.is_at_end() {
            return Err(Unreadable::Malformed);
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
        Parts {
            generation: self.generation,
            entities: self.entities,
            documents: self.documents,
            title_entity: self.title_entity,
            chunks: self.chunks,
            chunk_document: self.chunk_document,
            chunk_ordinal: self.chunk_ordinal,
            relations: self.relations.out,
            mentions: self.mentions.rows,
        }
    }

    /// Writes the parts in the order in which [`Parts::read`] reads them.
    pub(super) fn write(&self, writer: &mut Writer<impl Write>) -> io::Result<()> {
        writer.ids(self.entities.ids().iter().copied())?;
        writer.ids(self.documents.ids().iter().copied())?;
        writer.ids(self.chunks.ids().iter().copied())?;
        writer.u32s(&self.title_entity)?;
        writer.u32s(&self.chunk_document)?;
        writer.u32s(&self.chunk_ordinal)?;
        let edges = &self.relations.out;
        writer.ascending(&edges.offsets)?;
        writer.u32s(&edges.targets)?;
        writer.u32s(&edges.kinds)?;
        writer.f32s(&edges.weights)?;
        if let Some(near) = edges.relations.near() {
            writer.u8s(&[1])?;
            writer.u32s(near)?;
        } else {
            writer.u8s(&[0])?;
            writer.ids(edges.relations.iter())?;
        }
        writer.ids(edges.kind_table.iter().map(|kind| kind.relation_type))?;
        let times = edges.kind_table.iter().flat_map(|kind| kind.window.times());
        writer.i64s(&times.collect::<Vec<_>>())?;
        let mentions = &self.mentions.rows;
        writer.ascending(&mentions.offsets)?;
        writer.u32s(&mentions.entities)?;
        writer.f32s(&mentions.counts)?;
        let how: Vec<u8> = mentions.how.iter().map(|how| how.0).collect();
        writer.u8s(&how)
    }
}

fn read_index<T: RowId>(reader: &mut Reader<impl Read>) -> Result<IdIndex<T>, Unreadable> {
    let ids: Vec<T> = reader.ids()?;
    if !ids.is_sorted_by(|a, b| a < b) {
        return Err(Unreadable::Malformed);
    }
    Ok(IdIndex::new(ids))
}

/// Where each of `rows` rows starts, up to `items`.
fn read_offsets(reader: &mut Reader<impl Read>, rows: usize) -> Result<Vec<u32>, Unreadable> {
    let offsets = reader.ascending()?;
    if offsets.len() != rows + 1 || offsets[0] != 0 {
        return Err(Unreadable::Malformed);
    }
    Ok(offsets)
}

fn read_edges(
    reader: &mut Reader<impl Read>,
    entities: usize,
) -> Result<OutgoingEdges, Unreadable> {
    let offsets = read_offsets(reader, entities)?;
    let targets = reader.indices(entities)?;
    let kinds = reader.u32s()?;
    let weights = reader.f32s()?;
    let relations: IdList<RelationId> = match reader.u8s()?[..] {
        [1] => IdList::from_near(reader.u32s()?),
        _ => reader.ids()?.into_iter().collect(),
    };
    let type_ids: Vec<RelationTypeId> = reader.ids()?;
    let times = reader.i64s()?;
    let (times, rest) = times.as_chunks::<4>();
    let greatest = kinds.iter().copied().max();
    let edges = targets.len();
    let sound = offsets[entities] as usize == edges
        && [kinds.len(), weights.len(), relations.len()] == [edges; 3]
        && rest.is_empty()
        && times.len() == type_ids.len()
        && greatest.is_none_or(|greatest| (greatest as usize) < times.len());
    if !sound {
        return Err(Unreadable::Malformed);
    }
    let windows = times.iter().copied().map(Window::from_times);
    let kind_table = type_ids.into_iter().zip(windows);
    Ok(OutgoingEdges {
        offsets,
        targets,
        kinds,
        weights,
        relations,
        kind_table: kind_table
            .map(|(relation_type, window)| EdgeKind {
                relation_type,
                window,
            })
            .collect(),
    })
}

fn read_mentions(
    reader: &mut Reader<impl Read>,
    chunks: usize,
    entity_count: usize,
) -> Result<MentionRows, Unreadable> {
    let offsets = read_offsets(reader, chunks)?;
    let entities = reader.indices(entity_count)?;
    let counts = reader.f32s()?;
    let how = reader.u8s()?;
    let pairs = entities.len();
    if offsets[chunks] as usize != pairs || counts.len() != pairs || how.len() != pairs {
        return Err(Unreadable::Malformed);
    }
    Ok(MentionRows {
        offsets,
        entities,
        counts,
        how: how.into_iter().map(MentionFlags).collect(),
    })
}
