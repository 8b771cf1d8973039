use super::Binder;
use super::pattern::{BoundPattern, BoundRelationship, equality_of};
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
        let mut schedule = Schedule {
            steps: Vec::new(),
            missing: pattern.slots.clone(),
            filters: std::mem::take(&mut pattern.filters),
            paths: std::mem::take(&mut pattern.paths),
        };
        let mut placed = vec![false; pattern.nodes.len()];
        let mut done = vec![false; pattern.relationships.len()];
        schedule.flush();
        loop {
            let next = (0..done.len())
                .filter(|&place| !done[place])
                .filter_map(|place| {
                    let relationship = &pattern.relationships[place];
                    let ends = (placed[relationship.left], placed[relationship.right]);
                    let cost = match (ends, relationship) {
                        ((true, true), r) if r.shortest.is_none() => u8::from(r.length.is_some()),
                        ((true, true), _) => 5,
                        (_, r) if r.is_bound && r.length.is_none() => 2,
                        ((true, _) | (_, true), r) if r.shortest.is_none() => {
                            3 + u8::from(r.length.is_some())
                        }
                        _ => return None,
                    };
                    Some((cost, place))
                })
                .min();
            if let Some((_, place)) = next {
                self.relationship(&pattern, place, &placed, &mut schedule);
                done[place] = true;
                for end in [
                    pattern.relationships[place].left,
                    pattern.relationships[place].right,
                ] {
                    if !placed[end] {
                        placed[end] = true;
                        schedule
                            .missing
                            .retain(|&slot| slot != pattern.nodes[end].slot);
                        schedule.label_filter(&pattern, end);
                    }
                }
                schedule
                    .missing
                    .retain(|&slot| slot != pattern.relationships[place].slot);
                if let Some(path) = pattern.relationships[place].shortest.and_then(|s| s.path) {
                    schedule.missing.retain(|&slot| slot != path);
                }
                schedule.flush();
                continue;
            }
            let start = (0..placed.len())
                .filter(|&place| !placed[place])
                .min_by_key(|&place| (self.start_cost(&pattern, place, &schedule), place));
            let Some(start) = start else {
                break;
            };
            placed[start] = true;
            self.start(&pattern, start, &mut schedule);
            schedule.flush();
        }
        schedule
            .steps
            .extend(schedule.filters.drain(..).map(Step::Filter));
        Matching {
            steps: schedule.steps,
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

    /// A condition that an index answers with what is there already.
    fn index_filter(&self, slot: Slot, schedule: &Schedule) -> Option<usize> {
        schedule.filters.iter().position(|filter| {
            equality_of(filter, slot)
                .is_some_and(|(key, value)| self.graph.has_index(key) && schedule.is_ready(value))
        })
    }

    fn start(&self, pattern: &BoundPattern, place: usize, schedule: &mut Schedule) {
        let node = &pattern.nodes[place];
        if node.is_bound {
            schedule.steps.push(Step::Bound(node.slot));
            schedule.label_filter(pattern, place);
            return;
        }
        if let Some(filter) = self.index_filter(node.slot, schedule) {
            // The condition stays: an index may have more than is asked for.
            let (key, value) =
                equality_of(&schedule.filters[filter], node.slot).expect("it was found by this");
            let (key, value) = (key.clone(), value.clone());
            let slot = node.slot;
            schedule.steps.push(Step::Lookup { slot, key, value });
            schedule.missing.retain(|&missing| missing != slot);
            schedule.label_filter(pattern, place);
        } else {
            schedule.steps.push(Step::Nodes {
                slot: node.slot,
                label: node.label,
            });
            schedule.missing.retain(|&missing| missing != node.slot);
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

struct Schedule {
    steps: Vec<Step>,
    /// Slots that are not filled yet.
    missing: Vec<Slot>,
    filters: Vec<Expression>,
    paths: Vec<(Slot, Vec<PathPart>)>,
}

impl Schedule {
    fn is_ready(&self, expression: &Expression) -> bool {
        let mut is_ready = true;
        expression.each_slot(&mut |slot| is_ready &= !self.missing.contains(&slot));
        is_ready
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
        let (built, waiting) =
            std::mem::take(&mut self.paths)
                .into_iter()
                .partition(|(_, parts)| {
                    parts.iter().all(|part| {
                        let (PathPart::Node(slot)
                        | PathPart::Relationship(slot)
                        | PathPart::Relationships(slot)) = part;
                        !self.missing.contains(slot)
                    })
                });
        self.paths = waiting;
        let built: Vec<(Slot, Vec<PathPart>)> = built;
        for (slot, parts) in built {
            self.steps.push(Step::Path { slot, parts });
            self.missing.retain(|&missing| missing != slot);
        }
        let (ready, waiting) = std::mem::take(&mut self.filters)
            .into_iter()
            .partition(|filter| self.is_ready(filter));
        self.filters = waiting;
        let ready: Vec<Expression> = ready;
        self.steps.extend(ready.into_iter().map(Step::Filter));
    }
}
