use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Binder;
use super::pattern::{BoundPattern, BoundRelationship, equality_of};
use crate::cypher::graph::Key;
use crate::cypher::plan::{Expand, Expression, LabelTest, Matching, PathPart, Slot, Step, Walk};

/// What one search starts from costs, in nodes that it looks at.
const INDEX_COST: u64 = 1;

impl Binder<'_> {
    /// The order in which a pattern is searched: from the node that fewest can be, along relationships to
    /// what hangs on it, each condition as soon as all that it reads is there.
    pub(super) fn schedule(&mut self, mut pattern: BoundPattern) -> Matching {
        if pattern.nodes.iter().any(|node| node.is_impossible) {
            return Matching {
                steps: vec![Step::Nothing],
                slots: pattern.slots,
            };
        }
        let mut schedule = Schedule::new(
            &pattern.slots,
            std::mem::take(&mut pattern.filters),
            std::mem::take(&mut pattern.paths),
        );
        let mut frontier = Frontier::new(&pattern);
        schedule.flush();
        loop {
            if let Some(place) = frontier.next() {
                self.relationship(&pattern, place, &frontier.placed, &mut schedule);
                let relationship = &pattern.relationships[place];
                for end in [relationship.left, relationship.right] {
                    if !frontier.placed[end] {
                        frontier.place(&pattern, end);
                        schedule.fill(pattern.nodes[end].slot);
                        schedule.label_filter(&pattern, end);
                    }
                }
                schedule.fill(relationship.slot);
                if let Some(path) = relationship.shortest.and_then(|shortest| shortest.path) {
                    schedule.fill(path);
                }
                schedule.flush();
                continue;
            }
            let start = (0..pattern.nodes.len())
                .filter(|&place| !frontier.placed[place])
                .min_by_key(|&place| (self.start_cost(&pattern, place, &schedule), place));
            let Some(start) = start else {
                break;
            };
            frontier.place(&pattern, start);
            self.start(&pattern, start, &mut schedule);
            schedule.flush();
        }
        Matching {
            steps: schedule.finish(),
            slots: pattern.slots,
        }
    }

    fn start_cost(&self, pattern: &BoundPattern, place: usize, schedule: &Schedule) -> u64 {
        let node = &pattern.nodes[place];
        if node.is_bound {
            return 0;
        }
        if self.index_filter(node.slot, schedule).is_some() {
            return INDEX_COST;
        }
        1 + self.graph.count_nodes(node.label)
    }

    /// A condition that an index answers with what is there already: its key and value.
    fn index_filter<'s>(
        &self,
        slot: Slot,
        schedule: &'s Schedule,
    ) -> Option<(&'s Key, &'s Expression)> {
        schedule.conditions_on(slot).find_map(|condition| {
            equality_of(condition, slot)
                .filter(|(key, value)| self.graph.has_index(key) && schedule.is_ready(value))
        })
    }

    fn start(&self, pattern: &BoundPattern, place: usize, schedule: &mut Schedule) {
        let node = &pattern.nodes[place];
        if node.is_bound {
            schedule.steps.push(Step::Bound(node.slot));
            schedule.label_filter(pattern, place);
            return;
        }
        let slot = node.slot;
        if let Some((key, value)) = self.index_filter(slot, schedule) {
            // The condition stays: an index may have more than is asked for.
            let (key, value) = (key.clone(), value.clone());
            schedule.steps.push(Step::Lookup { slot, key, value });
            schedule.fill(slot);
            schedule.label_filter(pattern, place);
        } else {
            let label = node.label;
            schedule.steps.push(Step::Nodes { slot, label });
            schedule.fill(slot);
        }
    }

    fn relationship(
        &mut self,
        pattern: &BoundPattern,
        place: usize,
        placed: &[bool],
        schedule: &mut Schedule,
    ) {
        let relationship: &BoundRelationship = &pattern.relationships[place];
        let starts_right = !placed[relationship.left] && placed[relationship.right];
        let (from, to, direction) = if starts_right {
            (
                relationship.right,
                relationship.left,
                relationship.direction.reversed(),
            )
        } else {
            (
                relationship.left,
                relationship.right,
                relationship.direction,
            )
        };
        let expansion = self.expansion(relationship.types.clone(), direction);
        let (from_slot, to_slot) = (pattern.nodes[from].slot, pattern.nodes[to].slot);
        // The ends of a relationship that is there already say where to start.
        let to_is_bound = placed[to] || from == to;
        if relationship.is_bound && !placed[from] && relationship.length.is_none() {
            if pattern.nodes[from].is_bound {
                schedule.steps.push(Step::Bound(from_slot));
            }
            schedule.steps.push(Step::Expand(Expand {
                from: from_slot,
                from_is_bound: pattern.nodes[from].is_bound,
                to: to_slot,
                to_is_bound: to_is_bound || pattern.nodes[to].is_bound,
                relationship: relationship.slot,
                relationship_is_bound: true,
                expansion,
            }));
            return;
        }
        // A node that an earlier clause bound is compared, not filled.
        let to_is_bound = to_is_bound || pattern.nodes[to].is_bound;
        let Some((least, most)) = relationship.length else {
            schedule.steps.push(Step::Expand(Expand {
                from: from_slot,
                from_is_bound: true,
                to: to_slot,
                to_is_bound,
                relationship: relationship.slot,
                relationship_is_bound: relationship.is_bound,
                expansion,
            }));
            return;
        };
        let walk = Walk {
            from: from_slot,
            to: to_slot,
            to_is_bound,
            relationships: relationship.is_read.then_some(relationship.slot),
            relationships_are_bound: relationship.is_bound,
            is_reversed: starts_right,
            expansion,
            least,
            most,
            properties: relationship.properties.clone(),
            only_ends: false,
        };
        schedule.steps.push(match relationship.shortest {
            Some(shortest) => Step::Shortest {
                walk,
                all: shortest.all,
                path: shortest.path,
            },
            None => Step::Walk(walk),
        });
    }
}

/// The relationships that can be searched next.
struct Frontier {
    /// Whether each node is there.
    placed: Vec<bool>,
    /// Relationships at each node.
    at: Vec<Vec<usize>>,
    /// Cost and place of those that can be next.
    open: BTreeSet<(u8, usize)>,
    done: Vec<bool>,
}

impl Frontier {
    fn new(pattern: &BoundPattern) -> Self {
        let mut frontier = Self {
            placed: vec![false; pattern.nodes.len()],
            at: vec![Vec::new(); pattern.nodes.len()],
            open: BTreeSet::new(),
            done: vec![false; pattern.relationships.len()],
        };
        for (relationship, place) in pattern.relationships.iter().zip(0..) {
            frontier.at[relationship.left].push(place);
            frontier.at[relationship.right].push(place);
            let cost = frontier.cost(relationship);
            frontier.open.extend(cost.map(|cost| (cost, place)));
        }
        frontier
    }

    fn cost(&self, relationship: &BoundRelationship) -> Option<u8> {
        let is_run = relationship.length.is_some();
        let is_shortest = relationship.shortest.is_some();
        match (
            self.placed[relationship.left],
            self.placed[relationship.right],
        ) {
            (true, true) if is_shortest => Some(5),
            (true, true) => Some(u8::from(is_run)),
            _ if relationship.is_bound && !is_run => Some(2),
            (true, _) | (_, true) if !is_shortest => Some(3 + u8::from(is_run)),
            _ => None,
        }
    }

    /// The cheapest, which is done with it.
    fn next(&mut self) -> Option<usize> {
        let (_, place) = self.open.pop_first()?;
        self.done[place] = true;
        Some(place)
    }

    /// A node is there now.
    fn place(&mut self, pattern: &BoundPattern, node: usize) {
        let around = std::mem::take(&mut self.at[node]);
        let costs = |frontier: &Self| -> Vec<Option<u8>> {
            let around = around.iter();
            around
                .map(|&place| frontier.cost(&pattern.relationships[place]))
                .collect()
        };
        let before = costs(self);
        self.placed[node] = true;
        let after = costs(self);
        for ((&place, before), after) in around.iter().zip(before).zip(after) {
            if !self.done[place] {
                before.map(|cost| self.open.remove(&(cost, place)));
                self.open.extend(after.map(|cost| (cost, place)));
            }
        }
    }
}

/// What waits for slots to be filled.
struct Waiting<T> {
    what: Option<T>,
    /// Slots that it reads and that are not filled yet.
    missing: usize,
}

struct Schedule {
    steps: Vec<Step>,
    /// Slots that are not filled yet, with the places of the paths and conditions that wait for them.
    missing: FxHashMap<Slot, (Vec<usize>, Vec<usize>)>,
    paths: Vec<Waiting<(Slot, Vec<PathPart>)>>,
    conditions: Vec<Waiting<Expression>>,
    /// Places of paths and conditions that wait for nothing.
    ready: (BTreeSet<usize>, BTreeSet<usize>),
}

impl Schedule {
    fn new(slots: &[Slot], conditions: Vec<Expression>, paths: Vec<(Slot, Vec<PathPart>)>) -> Self {
        let mut schedule = Self {
            steps: Vec::new(),
            missing: slots.iter().map(|&slot| (slot, <_>::default())).collect(),
            paths: Vec::new(),
            conditions: Vec::new(),
            ready: <_>::default(),
        };
        for (path, place) in paths.into_iter().zip(0..) {
            let slots = path.1.iter().map(|part| {
                let (PathPart::Node(slot)
                | PathPart::Relationship(slot)
                | PathPart::Relationships(slot)) = part;
                *slot
            });
            let missing = schedule.wait(slots.collect(), |waiting| waiting.0.push(place));
            if missing == 0 {
                schedule.ready.0.insert(place);
            }
            let what = Some(path);
            schedule.paths.push(Waiting { what, missing });
        }
        for (condition, place) in conditions.into_iter().zip(0..) {
            let mut slots = Vec::new();
            condition.each_slot(&mut |slot| slots.push(slot));
            let missing = schedule.wait(slots, |waiting| waiting.1.push(place));
            if missing == 0 {
                schedule.ready.1.insert(place);
            }
            let what = Some(condition);
            schedule.conditions.push(Waiting { what, missing });
        }
        schedule
    }

    /// Enters something under each of its slots that is missing; how many those are.
    fn wait(
        &mut self,
        mut slots: Vec<Slot>,
        mut enter: impl FnMut(&mut (Vec<usize>, Vec<usize>)),
    ) -> usize {
        slots.sort_unstable();
        slots.dedup();
        let mut missing = 0;
        for slot in slots {
            if let Some(waiting) = self.missing.get_mut(&slot) {
                enter(waiting);
                missing += 1;
            }
        }
        missing
    }

    /// Conditions that wait for a slot, in the order in which they were written.
    fn conditions_on(&self, slot: Slot) -> impl Iterator<Item = &Expression> {
        let waiting = self.missing.get(&slot).into_iter();
        waiting
            .flat_map(|(_, conditions)| conditions)
            .filter_map(|&place| self.conditions[place].what.as_ref())
    }

    fn is_ready(&self, expression: &Expression) -> bool {
        let mut is_ready = true;
        expression.each_slot(&mut |slot| is_ready &= !self.missing.contains_key(&slot));
        is_ready
    }

    /// The slot has a value now.
    fn fill(&mut self, slot: Slot) {
        let (paths, conditions) = self.missing.remove(&slot).unwrap_or_default();
        for place in paths {
            self.paths[place].missing -= 1;
            if self.paths[place].missing == 0 {
                self.ready.0.insert(place);
            }
        }
        for place in conditions {
            self.conditions[place].missing -= 1;
            if self.conditions[place].missing == 0 {
                self.ready.1.insert(place);
            }
        }
    }

    fn label_filter(&mut self, pattern: &BoundPattern, place: usize) {
        let node = &pattern.nodes[place];
        if let Some(label) = node.label {
            let of_node = Box::new(Expression::Slot(node.slot));
            let test = LabelTest::Name(Some(label), None);
            self.steps
                .push(Step::Filter(Expression::HasLabels(of_node, test)));
        }
    }

    /// Paths whose parts are all there, then conditions that can be judged.
    fn flush(&mut self) {
        while let Some(place) = self.ready.0.pop_first() {
            if let Some((slot, parts)) = self.paths[place].what.take() {
                self.steps.push(Step::Path { slot, parts });
                self.fill(slot);
            }
        }
        while let Some(place) = self.ready.1.pop_first() {
            let condition = self.conditions[place].what.take();
            self.steps.extend(condition.map(Step::Filter));
        }
    }

    /// All steps; what still waits is judged last.
    fn finish(mut self) -> Vec<Step> {
        let left = self.conditions.into_iter();
        let left = left.filter_map(|condition| condition.what);
        self.steps.extend(left.map(Step::Filter));
        self.steps
    }
}
