use std::collections::BTreeMap;

use super::{Dangling, Renumbering};
use crate::graph::delta::Changes;
use crate::graph::index::{IdIndex, span};
use crate::graph::mentions::{MentionFlags, MentionRow};
use crate::graph::parts::Parts;
use crate::graph::rearrange::{Plan, rearrange};
use crate::types::{ChunkId, DocumentId, EntityId};

/// A chunk that is written anew, all in new indices.
struct NewChunk {
    id: ChunkId,
    document: u32,
    ordinal: u32,
    mentions: Vec<MentionRow<u32>>,
}

impl Parts {
    pub(super) fn apply_to_chunks(
        &mut self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) {
        let rows = self.chunks_to_write(changes, entities, documents, dangling);
        let mut plan = Plan::new(&self.mentions.offsets);
        // (row, first mention, chunk)
        let mut written: Vec<(usize, usize, NewChunk)> = Vec::new();
        let mut from = 0;
        for (id, chunk) in rows {
            let place = self.chunks.lower_bound(id);
            plan.keep(from..place);
            from = place + usize::from(self.chunks.get(id).is_some());
            if let Some(chunk) = chunk {
                let mentions = chunk.mentions.len();
                written.push((plan.row_count(), plan.item_count(), chunk));
                plan.put(mentions);
            }
        }
        plan.keep(from..self.chunks.len());

        let (rows, length) = (plan.row_count(), plan.item_count());
        let mut ids = std::mem::take(&mut self.chunks).into_ids();
        rearrange(&mut ids, &plan.rows, rows, ChunkId(0));
        rearrange(&mut self.chunk_document, &plan.rows, rows, 0);
        rearrange(&mut self.chunk_ordinal, &plan.rows, rows, 0);
        for run in &plan.rows {
            documents.renumber(&mut self.chunk_document[run.to..run.to + run.from.len()]);
        }
        let moves = plan.items;
        let offsets = plan.offsets;
        let mentions = &mut self.mentions;
        rearrange(&mut mentions.entities, &moves, length, 0);
        for run in &moves {
            entities.renumber(&mut mentions.entities[run.to..run.to + run.from.len()]);
        }
        rearrange(&mut mentions.counts, &moves, length, 0.0);
        rearrange(&mut mentions.how, &moves, length, MentionFlags::default());
        mentions.offsets = offsets;
        for (row, start, chunk) in written {
            ids[row] = chunk.id;
            self.chunk_document[row] = chunk.document;
            self.chunk_ordinal[row] = chunk.ordinal;
            for (mention, place) in chunk.mentions.into_iter().zip(start..) {
                mentions.entities[place] = mention.entity;
                mentions.counts[place] = mention.count;
                mentions.how[place] = mention.how;
            }
        }
        self.chunks = IdIndex::new(ids);
    }

    /// The chunks that change, each with what it becomes: those given and removed, those of a document that
    /// goes, and those that mention an entity that goes.
    fn chunks_to_write(
        &self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) -> BTreeMap<ChunkId, Option<NewChunk>> {
        let mut rows: BTreeMap<ChunkId, Option<NewChunk>> = BTreeMap::new();
        for (&id, change) in &changes.chunks {
            let chunk = change.as_ref().and_then(|row| {
                let Some(document) = documents.index.get(row.document) else {
                    dangling.chunks += 1;
                    return None;
                };
                let new = |mention: &MentionRow<EntityId>| entities.index.get(mention.entity);
                let mentions = renumbered(&row.mentions, new, dangling);
                Some(NewChunk {
                    id,
                    document,
                    ordinal: row.ordinal,
                    mentions,
                })
            });
            rows.insert(id, chunk);
        }
        let offsets = &self.mentions.offsets;
        let mut lose: Vec<u32> = entities
            .rows_that_lose(offsets, &self.mentions.entities)
            .collect();
        if documents.map.is_some() {
            let chunks = (0..).zip(&self.chunk_document);
            let gone = chunks.filter(|&(_, &document)| documents.of(document).is_none());
            lose.extend(gone.map(|(chunk, _)| chunk));
        }
        lose.sort_unstable();
        lose.dedup();
        for row in lose {
            let id = self.chunks.id(row);
            if rows.contains_key(&id) {
                continue;
            }
            let document = documents.of(self.chunk_document[row as usize]);
            dangling.chunks += usize::from(document.is_none());
            let chunk = document.map(|document| {
                let old: Vec<MentionRow<u32>> = span(offsets, row)
                    .map(|place| MentionRow {
                        entity: self.mentions.entities[place],
                        count: self.mentions.counts[place],
                        how: self.mentions.how[place],
                    })
                    .collect();
                let new = |mention: &MentionRow<u32>| entities.of(mention.entity);
                NewChunk {
                    id,
                    document,
                    ordinal: self.chunk_ordinal[row as usize],
                    mentions: renumbered(&old, new, dangling),
                }
            });
            rows.insert(id, chunk);
        }
        rows
    }
}

fn renumbered<E>(
    mentions: &[MentionRow<E>],
    new: impl Fn(&MentionRow<E>) -> Option<u32>,
    dangling: &mut Dangling,
) -> Vec<MentionRow<u32>> {
    let mut kept = Vec::with_capacity(mentions.len());
    for mention in mentions {
        match new(mention) {
            Some(entity) => kept.push(MentionRow {
                entity,
                count: mention.count,
                how: mention.how,
            }),
            None => dangling.mentions += 1,
        }
    }
    kept
}
