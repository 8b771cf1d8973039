use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Dangling, Renumbering};
use crate::graph::builder::RelationRow;
use crate::graph::csr::EdgeKind;
use crate::graph::delta::Changes;
use crate::graph::index::span;
use crate::graph::parts::Parts;
use crate::graph::rearrange::{Plan, rearrange};
use crate::types::{EntityId, RelationId};

/// An edge of a row that is written anew.
struct NewEdge {
    /// New index.
    target: u32,
    kind: EdgeKind,
    weight: f32,
    relation: RelationId,
}

impl Parts {
    /// Needs the old entity index; the targets are renumbered on the way.
    pub(super) fn apply_to_relations(
        &mut self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        dangling: &mut Dangling,
    ) {
        let rows = self.rows_to_write(changes, entities, dangling);
        let mut plan = Plan::new(&self.relations.offsets);
        let mut written: Vec<(usize, Vec<NewEdge>)> = Vec::new();
        let mut from = 0;
        for (id, added) in rows {
            let place = self.entities.lower_bound(id);
            plan.keep(from..place);
            let old_row = self.entities.get(id);
            from = place + usize::from(old_row.is_some());
            let stays = old_row.map(|row| self.edges_that_stay(row, changes));
            let stays = stays.into_iter().flatten();
            if entities.index.get(id).is_none() {
                dangling.relations += stays.count();
                continue;
            }
            let mut edges: Vec<NewEdge> = added;
            for (target, edge) in stays {
                match entities.of(target) {
                    Some(target) => edges.push(NewEdge { target, ..edge }),
                    None => dangling.relations += 1,
                }
            }
            edges
                .sort_unstable_by_key(|edge| (edge.target, edge.kind.relation_type, edge.relation));
            written.push((plan.item_count(), edges));
            plan.put(written[written.len() - 1].1.len());
        }
        plan.keep(from..self.entities.len());

        let (offsets, moves) = (plan.offsets, plan.items);
        let length = offsets[offsets.len() - 1] as usize;
        let edges = &mut self.relations;
        rearrange(&mut edges.targets, &moves, length, 0);
        for run in &moves {
            entities.renumber(&mut edges.targets[run.to..run.to + run.from.len()]);
        }
        rearrange(&mut edges.kinds, &moves, length, 0);
        rearrange(&mut edges.weights, &moves, length, 0.0);
        edges.relations.rearrange(&moves, length);
        edges.offsets = offsets;
        let known = edges.kind_table.iter().copied();
        let mut numbers: FxHashMap<EdgeKind, u32> = known.zip(0..).collect();
        for (start, row) in written {
            for (edge, place) in row.into_iter().zip(start..) {
                let next = edges.kind_table.len() as u32;
                let kind = *numbers.entry(edge.kind).or_insert(next);
                if kind == next {
                    edges.kind_table.push(edge.kind);
                }
                edges.targets[place] = edge.target;
                edges.kinds[place] = kind;
                edges.weights[place] = edge.weight;
                edges.relations.set(place, edge.relation);
            }
        }
        edges.tidy();
    }

    /// The entities whose rows change, with the edges that they get: those that come or go, those with a
    /// changed relation, and those with a relation to one that goes.
    fn rows_to_write(
        &self,
        changes: &Changes,
        entities: &Renumbering<EntityId>,
        dangling: &mut Dangling,
    ) -> BTreeMap<EntityId, Vec<NewEdge>> {
        let mut rows: BTreeMap<EntityId, Vec<NewEdge>> = changes
            .entities
            .keys()
            .map(|&id| (id, Vec::new()))
            .collect();
        let lose = entities.rows_that_lose(&self.relations.offsets, &self.relations.targets);
        for source in self.sources_of_changed(changes).into_iter().chain(lose) {
            rows.entry(self.entities.id(source)).or_default();
        }
        for row in changes.relations.values().flatten() {
            match (
                entities.index.get(row.source),
                entities.index.get(row.target),
            ) {
                (Some(_), Some(target)) => {
                    rows.entry(row.source)
                        .or_default()
                        .push(new_edge(row, target));
                }
                _ => dangling.relations += 1,
            }
        }
        rows
    }

    /// Rows that hold an edge of a changed relation, each as often as it does.
    fn sources_of_changed(&self, changes: &Changes) -> Vec<u32> {
        let changed: FxHashSet<RelationId> = changes.relations.keys().copied().collect();
        let Some((&last, &first)) = changed.iter().max().zip(changed.iter().min()) else {
            return Vec::new();
        };
        let relations = self.relations.relations.iter().enumerate();
        relations
            .filter(|(_, id)| (first..=last).contains(id) && changed.contains(id))
            .map(|(position, _)| {
                let next = |&start: &u32| start as usize <= position;
                self.relations.offsets.partition_point(next) as u32 - 1
            })
            .collect()
    }

    /// The old edges of a row that no change replaces, with their old targets.
    fn edges_that_stay<'a>(
        &'a self,
        row: u32,
        changes: &'a Changes,
    ) -> impl Iterator<Item = (u32, NewEdge)> + 'a {
        let edges = &self.relations;
        span(&edges.offsets, row)
            .filter(|&position| {
                !changes
                    .relations
                    .contains_key(&edges.relations.id(position))
            })
            .map(|position| {
                let target = edges.targets[position];
                let edge = NewEdge {
                    target,
                    kind: edges.kind_table[edges.kinds[position] as usize],
                    weight: edges.weights[position],
                    relation: edges.relations.id(position),
                };
                (target, edge)
            })
    }
}

fn new_edge(row: &RelationRow, target: u32) -> NewEdge {
    NewEdge {
        target,
        kind: row.kind(),
        weight: row.weight,
        relation: row.id,
    }
}
