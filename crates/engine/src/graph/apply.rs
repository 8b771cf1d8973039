//! Applies changes to a graph in place.

mod chunks;
mod relations;

use std::collections::BTreeMap;

use super::builder::Dangling;
use super::delta::{Changes, GraphDelta};
use super::index::{IdIndex, RowId};
use super::parts::Parts;
use super::{Graph, NO_ENTITY};
use crate::types::{DocumentId, EntityId};

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
        let documents = Renumbering::new(&self.documents, &changes.documents);
        self.apply_to_relations(changes, &entities, &mut dangling);
        self.apply_to_titles(changes, &entities, &documents, &mut dangling);
        self.apply_to_chunks(changes, &entities, &documents, &mut dangling);
        self.entities = entities.index;
        self.documents = documents.index;
        dangling
    }

    fn apply_to_titles(
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
            let was_there = old.get(id).is_some();
            if was_there != change.is_some() && (was_there || place < old.len()) {
                keeps_all = false;
            }
            from = place + usize::from(was_there);
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

    /// Rows of `offsets` with an item that is gone, in order, each as often as it has one.
    fn rows_that_lose<'a>(
        &'a self,
        offsets: &'a [u32],
        items: &'a [u32],
    ) -> impl Iterator<Item = u32> + 'a {
        let map = self.map.as_deref();
        // Nothing is gone when all keep their index.
        let items = if map.is_some() { items } else { &[] };
        let gone = move |&(_, item): &(usize, &u32)| {
            map.is_some_and(|map| map[*item as usize] == NO_ENTITY)
        };
        let lost = items.iter().enumerate().filter(gone);
        lost.map(move |(place, _)| {
            offsets.partition_point(|&start| start as usize <= place) as u32 - 1
        })
    }

    /// Rewrites items of which none is gone.
    fn renumber(&self, items: &mut [u32]) {
        if let Some(map) = &self.map {
            for item in items {
                *item = map[*item as usize];
            }
        }
    }
}
