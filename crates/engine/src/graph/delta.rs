use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::encoding::{Reader, Unreadable, Writer};
use super::mentions::{MentionFlags, MentionRow};
use super::window::Window;
use super::{ChunkRow, DocumentRow, RelationRow};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId};

/// What an update changed, by row id. Rows given replace those of the same id; a row both removed and given
/// stays. A chunk carries all its mentions, so one whose text stayed but whose mentions changed comes again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphDelta {
    /// Generation of the graph it changes.
    pub from: u64,
    /// Generation it leads to.
    pub to: u64,
    pub removed_entities: Vec<EntityId>,
    pub entities: Vec<EntityId>,
    pub removed_documents: Vec<DocumentId>,
    pub documents: Vec<DocumentRow>,
    pub removed_chunks: Vec<ChunkId>,
    pub chunks: Vec<ChunkRow>,
    /// Only what is erased; a relation that ends or is retracted is given again with its new window.
    pub removed_relations: Vec<RelationId>,
    pub relations: Vec<RelationRow>,
}

/// Several deltas as one: for each id the row it ends up with, or none.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) entities: BTreeMap<EntityId, Option<()>>,
    pub(super) documents: BTreeMap<DocumentId, Option<DocumentRow>>,
    pub(super) chunks: BTreeMap<ChunkId, Option<ChunkRow>>,
    pub(super) relations: BTreeMap<RelationId, Option<RelationRow>>,
}

impl Changes {
    /// Adds a later delta.
    pub(super) fn add(&mut self, delta: GraphDelta) {
        let removed = delta.removed_entities.into_iter().map(|id| (id, None));
        self.entities.extend(removed);
        let added = delta.entities.into_iter().map(|id| (id, Some(())));
        self.entities.extend(added);
        let removed = delta.removed_documents.into_iter().map(|id| (id, None));
        self.documents.extend(removed);
        let added = delta.documents.into_iter().map(|row| (row.id, Some(row)));
        self.documents.extend(added);
        let removed = delta.removed_chunks.into_iter().map(|id| (id, None));
        self.chunks.extend(removed);
        let added = delta.chunks.into_iter().map(|row| (row.id, Some(row)));
        self.chunks.extend(added);
        let removed = delta.removed_relations.into_iter().map(|id| (id, None));
        self.relations.extend(removed);
        let added = delta.relations.into_iter().map(|row| (row.id, Some(row)));
        self.relations.extend(added);
    }
}

impl GraphDelta {
    pub(super) fn write(&self, writer: &mut Writer<impl Write>) -> io::Result<()> {
        writer.u64(self.from)?;
        writer.u64(self.to)?;
        writer.ids(self.removed_entities.iter().copied())?;
        writer.ids(self.entities.iter().copied())?;
        writer.ids(self.removed_documents.iter().copied())?;
        writer.ids(self.documents.iter().map(|row| row.id))?;
        // A title or none, as a list of none or one.
        let titles = self
            .documents
            .iter()
            .map(|row| u32::from(row.title.is_some()));
        writer.u32s(&titles.collect::<Vec<_>>())?;
        writer.ids(self.documents.iter().filter_map(|row| row.title))?;
        writer.ids(self.removed_chunks.iter().copied())?;
        writer.ids(self.chunks.iter().map(|row| row.id))?;
        writer.ids(self.chunks.iter().map(|row| row.document))?;
        writer.u32s(
            &self
                .chunks
                .iter()
                .map(|row| row.ordinal)
                .collect::<Vec<_>>(),
        )?;
        let lengths = self.chunks.iter().map(|row| row.mentions.len() as u32);
        writer.u32s(&lengths.collect::<Vec<_>>())?;
        let mentions = || self.chunks.iter().flat_map(|row| &row.mentions);
        writer.ids(mentions().map(|mention| mention.entity))?;
        writer.f32s(&mentions().map(|mention| mention.count).collect::<Vec<_>>())?;
        let how = mentions().map(|mention| mention.how.0);
        writer.u8s(&how.collect::<Vec<_>>())?;
        writer.ids(self.removed_relations.iter().copied())?;
        writer.ids(self.relations.iter().map(|row| row.id))?;
        writer.ids(self.relations.iter().map(|row| row.source))?;
        writer.ids(self.relations.iter().map(|row| row.target))?;
        writer.ids(self.relations.iter().map(|row| row.relation_type))?;
        writer.f32s(
            &self
                .relations
                .iter()
                .map(|row| row.weight)
                .collect::<Vec<_>>(),
        )?;
        let times = self.relations.iter().flat_map(|row| row.window.times());
        writer.i64s(&times.collect::<Vec<_>>())
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(bytes, bytes.len() as u64);
        let delta = Self {
            from: reader.u64()?,
            to: reader.u64()?,
            removed_entities: reader.ids()?,
            entities: reader.ids()?,
            removed_documents: reader.ids()?,
            documents: read_documents(&mut reader)?,
            removed_chunks: reader.ids()?,
            chunks: read_chunks(&mut reader)?,
            removed_relations: reader.ids()?,
            relations: read_relations(&mut reader)?,
        };
        if reader.is_at_end() {
            Ok(delta)
        } else {
            Err(Unreadable::Malformed)
        }
    }
}

fn read_documents(reader: &mut Reader<impl Read>) -> Result<Vec<DocumentRow>, Unreadable> {
    let ids: Vec<DocumentId> = reader.ids()?;
    let has_title = reader.indices(2)?;
    let mut titles = reader.ids::<EntityId>()?.into_iter();
    if has_title.len() != ids.len() {
        return Err(Unreadable::Malformed);
    }
    ids.into_iter()
        .zip(has_title)
        .map(|(id, has_title)| {
            let title = match has_title {
                0 => None,
                _ => Some(titles.next().ok_or(Unreadable::Malformed)?),
            };
            Ok(DocumentRow { id, title })
        })
        .collect()
}

fn read_chunks(reader: &mut Reader<impl Read>) -> Result<Vec<ChunkRow>, Unreadable> {
    let ids: Vec<ChunkId> = reader.ids()?;
    let documents: Vec<DocumentId> = reader.ids()?;
    let ordinals = reader.u32s()?;
    let lengths = reader.u32s()?;
    let entities: Vec<EntityId> = reader.ids()?;
    let counts = reader.f32s()?;
    let how = reader.u8s()?;
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let sound = [documents.len(), ordinals.len(), lengths.len()] == [ids.len(); 3]
        && [counts.len(), how.len()] == [entities.len(); 2]
        && total == entities.len() as u64;
    if !sound {
        return Err(Unreadable::Malformed);
    }
    let mut rows = entities.into_iter().zip(counts).zip(how);
    let mut mentions = |length: u32| {
        rows.by_ref()
            .take(length as usize)
            .map(|((entity, count), how)| MentionRow {
                entity,
                count,
                how: MentionFlags(how),
            })
            .collect()
    };
    Ok(ids
        .into_iter()
        .zip(documents)
        .zip(ordinals)
        .zip(lengths)
        .map(|(((id, document), ordinal), length)| ChunkRow {
            id,
            document,
            ordinal,
            mentions: mentions(length),
        })
        .collect())
}

fn read_relations(reader: &mut Reader<impl Read>) -> Result<Vec<RelationRow>, Unreadable> {
    let ids: Vec<RelationId> = reader.ids()?;
    let sources: Vec<EntityId> = reader.ids()?;
    let targets: Vec<EntityId> = reader.ids()?;
    let types: Vec<RelationTypeId> = reader.ids()?;
    let weights = reader.f32s()?;
    let times = reader.i64s()?;
    let (times, rest) = times.as_chunks::<4>();
    let lengths = [
        sources.len(),
        targets.len(),
        types.len(),
        weights.len(),
        times.len(),
    ];
    if lengths != [ids.len(); 5] || !rest.is_empty() {
        return Err(Unreadable::Malformed);
    }
    Ok((0..ids.len())
        .map(|row| RelationRow {
            id: ids[row],
            source: sources[row],
            target: targets[row],
            relation_type: types[row],
            weight: weights[row],
            window: Window::from_times(times[row]),
        })
        .collect())
}
