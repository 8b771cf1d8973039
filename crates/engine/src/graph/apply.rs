//! Applies changes to a graph: rows that did not change are copied in runs, so the cost is that of copying
//! memory once, whatever changed.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::builder::{ChunkRow, Dangling, RelationRow};
use super::csr::{EdgeKind, OutgoingEdges};
use super::delta::{Changes, GraphDelta};
use super::index::{IdIndex, IdList, RowId, span};
use super::mentions::MentionRows;
use super::parts::Parts;
use super::{Graph, NO_ENTITY};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId};

impl Graph {
    /// The graph after `delta`, and what of it points nowhere. The caller sees to it that `delta.from` is this
    /// graph's generation.
    pub fn apply(self, delta: GraphDelta) -> (Self, Dangling) {
        let mut parts = self.into_parts();
        let generation = delta.to;
        let mut changes = Changes::default();
        changes.add(delta);
        let dangling = parts.apply(&changes, generation);
        (parts.assemble(), dangling)
    }
}

impl Parts {
    pub(super) fn apply(&mut self, changes: &Changes, generation: u64) -> Dangling {
        self.generation = generation;
        let mut dangling = Dangling::default();
        let entities = Renumbering::new(&self.entities, &changes.entities);
        self.relations = Edges {
            old: &self.relations,
            ids: &self.entities,
            entities: &entities,
            dangling: &mut dangling,
        }
        .merge(changes);
        let documents = Renumbering::new(&self.documents, &changes.documents);
        self.merge_titles(changes, &entities, &documents, &mut dangling);
        self.merge_chunks(changes, &entities, &documents, &mut dangling);
        self.entities = entities.index;
        self.documents = documents.index;
        dangling
    }

    fn merge_titles(
        &mut self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) {
        let mut titles = vec![NO_ENTITY; documents.index.len()];
        for (old, &title) in (0..).zip(&self.title_entity) {
            if let Some(new) = documents.of(old) {
                titles[new as usize] = match title {
                    NO_ENTITY => NO_ENTITY,
                    title => entities.of(title).unwrap_or(NO_ENTITY),
                };
            }
        }
        for row in changes.documents.values().flatten() {
            let new = documents
                .index
                .get(row.id)
                .expect("given rows are in the index");
            titles[new as usize] = match row.title {
                None => NO_ENTITY,
                Some(title) => entities.index.get(title).unwrap_or_else(|| {
                    dangling.titles += 1;
                    NO_ENTITY
                }),
            };
        }
        self.title_entity = titles;
    }

    fn merge_chunks(
        &mut self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) {
        let mut merged = Chunks {
            ids: Vec::with_capacity(self.chunks.len() + changes.chunks.len()),
            documents: Vec::with_capacity(self.chunks.len() + changes.chunks.len()),
            ordinals: Vec::with_capacity(self.chunks.len() + changes.chunks.len()),
            mentions: MentionRows {
                offsets: vec![0],
                entities: Vec::with_capacity(self.mentions.entities.len()),
                counts: Vec::with_capacity(self.mentions.entities.len()),
                how: Vec::with_capacity(self.mentions.entities.len()),
            },
        };
        let mut from = 0;
        for (&id, change) in &changes.chunks {
            let place = self.chunks.lower_bound(id);
            merged.copy(self, from..place, entities, documents, dangling);
            from = place + usize::from(self.chunks.get(id).is_some());
            if let Some(row) = change {
                merged.push(row, entities, documents, dangling);
            }
        }
        merged.copy(self, from..self.chunks.len(), entities, documents, dangling);
        self.chunks = IdIndex::new(merged.ids);
        self.chunk_document = merged.documents;
        self.chunk_ordinal = merged.ordinals;
        self.mentions = merged.mentions;
    }
}

/// New indices of what was there before.
struct Renumbering<T> {
    index: IdIndex<T>,
    /// New index of each old one, or [`NO_ENTITY`]; `None` when all keep theirs.
    map: Option<Vec<u32>>,
}

impl<T: RowId> Renumbering<T> {
    fn new<R>(old: &IdIndex<T>, changes: &BTreeMap<T, Option<R>>) -> Self {
        let mut ids = Vec::with_capacity(old.len() + changes.len());
        let mut from = 0;
        let mut keeps_all = true;
        for (&id, change) in changes {
            let place = old.lower_bound(id);
            ids.extend_from_slice(&old.ids()[from..place]);
            from = place;
            let was_there = old.get(id).is_some();
            if was_there != change.is_some() && (was_there || place < old.len()) {
                keeps_all = false;
            }
            from += usize::from(was_there);
            ids.extend(change.as_ref().map(|_| id));
        }
        ids.extend_from_slice(&old.ids()[from..]);
        let index = IdIndex::new(ids);
        let new_of = |&id: &T| index.get(id).unwrap_or(NO_ENTITY);
        let map = (!keeps_all).then(|| old.ids().iter().map(new_of).collect());
        Self { index, map }
    }

    fn of(&self, old: u32) -> Option<u32> {
        match &self.map {
            None => Some(old),
            Some(map) => Some(map[old as usize]).filter(|&new| new != NO_ENTITY),
        }
    }
}

struct Chunks {
    ids: Vec<ChunkId>,
    documents: Vec<u32>,
    ordinals: Vec<u32>,
    mentions: MentionRows,
}

impl Chunks {
    fn copy(
        &mut self,
        old: &Parts,
        rows: Range<usize>,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) {
        let from = &old.mentions;
        if entities.map.is_none() && documents.map.is_none() {
            let items = from.offsets[rows.start] as usize..from.offsets[rows.end] as usize;
            let shift = self.mentions.entities.len();
            self.ids.extend_from_slice(&old.chunks.ids()[rows.clone()]);
            self.documents
                .extend_from_slice(&old.chunk_document[rows.clone()]);
            self.ordinals
                .extend_from_slice(&old.chunk_ordinal[rows.clone()]);
            self.mentions
                .entities
                .extend_from_slice(&from.entities[items.clone()]);
            self.mentions
                .counts
                .extend_from_slice(&from.counts[items.clone()]);
            self.mentions
                .how
                .extend_from_slice(&from.how[items.clone()]);
            let ends = from.offsets[rows.start + 1..=rows.end].iter();
            let ends = ends.map(|&end| (end as usize - items.start + shift) as u32);
            self.mentions.offsets.extend(ends);
            return;
        }
        for row in rows {
            let Some(document) = documents.of(old.chunk_document[row]) else {
                dangling.chunks += 1;
                continue;
            };
            self.ids.push(old.chunks.ids()[row]);
            self.documents.push(document);
            self.ordinals.push(old.chunk_ordinal[row]);
            for item in span(&from.offsets, row as u32) {
                match entities.of(from.entities[item]) {
                    Some(entity) => {
                        self.mentions.entities.push(entity);
                        self.mentions.counts.push(from.counts[item]);
                        self.mentions.how.push(from.how[item]);
                    }
                    None => dangling.mentions += 1,
                }
            }
            self.mentions
                .offsets
                .push(self.mentions.entities.len() as u32);
        }
    }

    fn push(
        &mut self,
        row: &ChunkRow,
        entities: &Renumbering<EntityId>,
        documents: &Renumbering<DocumentId>,
        dangling: &mut Dangling,
    ) {
        let Some(document) = documents.index.get(row.document) else {
            dangling.chunks += 1;
            return;
        };
        self.ids.push(row.id);
        self.documents.push(document);
        self.ordinals.push(row.ordinal);
        for mention in &row.mentions {
            match entities.index.get(mention.entity) {
                Some(entity) => {
                    self.mentions.entities.push(entity);
                    self.mentions.counts.push(mention.count);
                    self.mentions.how.push(mention.how);
                }
                None => dangling.mentions += 1,
            }
        }
        self.mentions
            .offsets
            .push(self.mentions.entities.len() as u32);
    }
}

struct Edges<'a> {
    old: &'a OutgoingEdges,
    ids: &'a IdIndex<EntityId>,
    entities: &'a Renumbering<EntityId>,
    dangling: &'a mut Dangling,
}

impl Edges<'_> {
    fn merge(mut self, changes: &Changes) -> OutgoingEdges {
        let old = self.old;
        let mut merged = OutgoingEdges {
            offsets: vec![0],
            targets: Vec::with_capacity(old.targets.len() + changes.relations.len()),
            kinds: Vec::with_capacity(old.targets.len() + changes.relations.len()),
            weights: Vec::with_capacity(old.targets.len() + changes.relations.len()),
            relations: IdList::with_capacity(old.targets.len() + changes.relations.len()),
            kind_table: old.kind_table.clone(),
        };
        // Rows to write anew: of entities that come or go, and those with a changed relation.
        let mut rows: BTreeMap<EntityId, Vec<RelationRow>> = changes
            .entities
            .keys()
            .map(|&id| (id, Vec::new()))
            .collect();
        for source in self.sources_of_changed(changes) {
            rows.entry(self.ids.id(source)).or_default();
        }
        for row in changes.relations.values().flatten() {
            let known = |id| self.entities.index.get(id).is_some();
            if known(row.source) && known(row.target) {
                rows.entry(row.source).or_default().push(*row);
            } else {
                self.dangling.relations += 1;
            }
        }
        let mut numbers: FxHashMap<EdgeKind, u32> =
            old.kind_table.iter().copied().zip(0..).collect();
        let mut from = 0;
        for (id, mut added) in rows {
            let place = self.ids.lower_bound(id);
            self.copy(&mut merged, from..place);
            let old_row = self.ids.get(id);
            from = place + usize::from(old_row.is_some());
            if self.entities.index.get(id).is_none() {
                let left_over = |&position: &usize| {
                    !changes.relations.contains_key(&old.relations.id(position))
                };
                let row = old_row.map_or(0..0, |row| span(&old.offsets, row));
                self.dangling.relations += row.filter(left_over).count();
                continue;
            }
            added.sort_unstable_by_key(|row| (row.target, row.relation_type, row.id));
            self.merge_row(&mut merged, &mut numbers, old_row, &added, changes);
        }
        self.copy(&mut merged, from..self.ids.len());
        merged.tidy();
        merged
    }

    /// Rows that hold an edge of a changed relation, each as often as it does.
    fn sources_of_changed(&self, changes: &Changes) -> Vec<u32> {
        let changed: FxHashSet<RelationId> = changes.relations.keys().copied().collect();
        let Some((&last, &first)) = changed.iter().max().zip(changed.iter().min()) else {
            return Vec::new();
        };
        let relations = self.old.relations.iter().enumerate();
        relations
            .filter(|(_, id)| (first..=last).contains(id) && changed.contains(id))
            .map(|(position, _)| {
                let next = |&start: &u32| start as usize <= position;
                self.old.offsets.partition_point(next) as u32 - 1
            })
            .collect()
    }

    fn copy(&mut self, merged: &mut OutgoingEdges, rows: Range<usize>) {
        let old = self.old;
        if self.entities.map.is_none() {
            let items = old.offsets[rows.start] as usize..old.offsets[rows.end] as usize;
            let shift = merged.targets.len();
            merged
                .targets
                .extend_from_slice(&old.targets[items.clone()]);
            merged.kinds.extend_from_slice(&old.kinds[items.clone()]);
            merged
                .weights
                .extend_from_slice(&old.weights[items.clone()]);
            merged.relations.extend_from(&old.relations, items.clone());
            let ends = old.offsets[rows.start + 1..=rows.end].iter();
            let ends = ends.map(|&end| (end as usize - items.start + shift) as u32);
            merged.offsets.extend(ends);
            return;
        }
        for row in rows {
            for position in span(&old.offsets, row as u32) {
                self.keep(merged, position);
            }
            merged.offsets.push(merged.targets.len() as u32);
        }
    }

    fn keep(&mut self, merged: &mut OutgoingEdges, position: usize) {
        let old = self.old;
        match self.entities.of(old.targets[position]) {
            Some(target) => {
                merged.targets.push(target);
                merged.kinds.push(old.kinds[position]);
                merged.weights.push(old.weights[position]);
                merged.relations.push(old.relations.id(position));
            }
            None => self.dangling.relations += 1,
        }
    }

    /// One row: what stays of the old one and what is added, in order.
    fn merge_row(
        &mut self,
        merged: &mut OutgoingEdges,
        numbers: &mut FxHashMap<EdgeKind, u32>,
        old_row: Option<u32>,
        added: &[RelationRow],
        changes: &Changes,
    ) {
        let old = self.old;
        let mut added = added.iter().peekable();
        for position in old_row.map_or(0..0, |row| span(&old.offsets, row)) {
            if changes.relations.contains_key(&old.relations.id(position)) {
                continue;
            }
            let key = (
                self.ids.id(old.targets[position]),
                old.kind_table[old.kinds[position] as usize].relation_type,
                old.relations.id(position),
            );
            while let Some(row) = added.next_if(|row| (row.target, row.relation_type, row.id) < key)
            {
                self.push(merged, numbers, row);
            }
            self.keep(merged, position);
        }
        for row in added {
            self.push(merged, numbers, row);
        }
        merged.offsets.push(merged.targets.len() as u32);
    }

    fn push(
        &mut self,
        merged: &mut OutgoingEdges,
        numbers: &mut FxHashMap<EdgeKind, u32>,
        row: &RelationRow,
    ) {
        let target = self.entities.index.get(row.target);
        merged
            .targets
            .push(target.expect("checked when rows were sorted"));
        let next = merged.kind_table.len() as u32;
        let kind = *numbers.entry(row.kind()).or_insert(next);
        if kind == next {
            merged.kind_table.push(row.kind());
        }
        merged.kinds.push(kind);
        merged.weights.push(row.weight);
        merged.relations.push(row.id);
    }
}
