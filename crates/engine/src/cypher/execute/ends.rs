//! The nodes at the end of a run, where it does not count in how many ways each is reached.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::aggregate::Groups;
use super::walk::Onward;
use super::{Executor, Row};
use crate::cypher::error::Result;
use crate::cypher::graph::{Direction, Flow, VisitNodes, breadth_first};
use crate::cypher::plan::{Aggregate, AggregateKind, Expression, Operator, Slot, Step, Walk};
use crate::cypher::value::{NodeId, RelationshipId, Value};

/// Bytes that a node takes that was met, and one whose way is known too.
const MET: u64 = 16;
const REACHED: u64 = 48;

/// Depth, relationship that leads here, first relationship of the branch.
type Reached = (u32, Option<RelationshipId>, Option<RelationshipId>);

/// `MATCH … -[*1..3]->(b) … count(DISTINCT b)`, where nothing but the count reads `b`.
pub(super) struct CountedEnds<'p> {
    /// What comes before the match.
    before: &'p [Operator],
    /// What the match does before the run.
    steps: &'p [Step],
    walk: &'p Walk,
    conditions: Vec<&'p Expression>,
}

impl<'p> CountedEnds<'p> {
    /// `None` where an aggregation over what `operators` give is anything else.
    pub(super) fn of(
        operators: &'p [Operator],
        keys: &[(Expression, Slot)],
        aggregates: &[(Aggregate, Slot)],
    ) -> Option<Self> {
        let (last, before) = operators.split_last()?;
        let Operator::Match {
            matching,
            is_optional: false,
        } = last
        else {
            return None;
        };
        let place = matching
            .steps
            .iter()
            .rposition(|step| !matches!(step, Step::Filter(_)))?;
        let Step::Walk(walk) = &matching.steps[place] else {
            return None;
        };
        let mut reads_end = false;
        for (key, _) in keys {
            key.each_slot(&mut |slot| reads_end |= slot == walk.to);
        }
        let counts_ends = !aggregates.is_empty()
            && aggregates.iter().all(|(aggregate, _)| {
                aggregate.kind == AggregateKind::Count
                    && aggregate.is_distinct
                    && aggregate.arguments == [Expression::Slot(walk.to)]
            });
        if !walk.only_ends || reads_end || !counts_ends {
            return None;
        }
        let conditions = matching.steps[place + 1..].iter();
        Some(Self {
            before,
            steps: &matching.steps[..place],
            walk,
            conditions: conditions
                .filter_map(|step| match step {
                    Step::Filter(condition) => Some(condition),
                    _ => None,
                })
                .collect(),
        })
    }
}

impl Executor<'_> {
    /// Counts the ends of runs in their groups, without a row for each.
    pub(super) fn count_ends(
        &self,
        ends: &CountedEnds<'_>,
        groups: &mut Groups<'_>,
        row: &mut Row,
    ) -> Result<()> {
        let walk = ends.walk;
        let mut passed = Vec::new();
        let mut count = |row: &mut Row| {
            let Value::Node(from) = row[walk.from] else {
                return Ok(Flow::Continue);
            };
            self.each_end(walk, from, &mut |nodes| {
                let nodes = if ends.conditions.is_empty() {
                    nodes
                } else {
                    passed.clear();
                    for &node in nodes {
                        row[walk.to] = Value::Node(node);
                        let mut passes = true;
                        for condition in &ends.conditions {
                            passes = passes && self.holds(condition, row)?;
                        }
                        if passes {
                            passed.push(node);
                        }
                    }
                    &passed
                };
                // A group is there once a row of it is.
                if !nodes.is_empty() {
                    groups.count_nodes(self, row, nodes)?;
                }
                Ok(Flow::Continue)
            })
        };
        self.operators(ends.before, row, &mut |row| {
            self.steps(ends.steps, &mut Vec::new(), row, &mut count)
        })
    }

    /// Goes on from each node at the end of a run, once.
    pub(super) fn ends(
        &self,
        onward: &mut Onward<'_, '_>,
        from: NodeId,
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
    ) -> Result<Flow> {
        self.each_end(onward.walk, from, &mut |nodes| {
            for &node in nodes {
                if self.go_on(onward, node, used, row)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            Ok(Flow::Continue)
        })
    }

    /// Each node at the end of a run once: breadth first, for the shortest way to a node uses no relationship twice.
    /// The start is one of them where no hop is asked for, or where a run leads back to it.
    fn each_end(&self, walk: &Walk, from: NodeId, visit: VisitNodes<'_>) -> Result<Flow> {
        let mut held = 0;
        let mut visit = |nodes: &[NodeId]| {
            let bytes = size_of_val(nodes) as u64;
            held += bytes;
            self.budget.hold(bytes)?;
            self.budget.tick()?;
            visit(nodes)
        };
        let flow = self.each_end_of(walk, from, &mut visit)?;
        self.budget.release(held);
        Ok(flow)
    }

    fn each_end_of(&self, walk: &Walk, from: NodeId, visit: VisitNodes<'_>) -> Result<Flow> {
        let expansion = &self.expansions[walk.expansion];
        let most = walk.most.unwrap_or(u32::MAX);
        let may_return = walk.least > 0;
        if !may_return && visit(&[from])? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        // In one direction a way back to the start is met on the way.
        let is_directed = self.expansion_plans[walk.expansion].direction != Direction::Both;
        let is_met = is_directed && may_return;
        if is_directed && let Some(flow) = expansion.reach(from, most, is_met, visit) {
            return flow;
        }
        if may_return && self.returns(walk, from, most)? && visit(&[from])? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if !is_directed && let Some(flow) = expansion.reach(from, most, false, visit) {
            return flow;
        }
        let mut met = FxHashSet::from_iter([from]);
        let mut held = 0;
        let expand = |node: NodeId, queue: &mut Vec<NodeId>| {
            expansion.expand(node, &mut |_, other| {
                self.budget.tick()?;
                if met.insert(other) {
                    held += MET;
                    self.budget.hold(MET)?;
                    queue.push(other);
                }
                Ok(Flow::Continue)
            })?;
            Ok(())
        };
        let flow = breadth_first(&mut vec![from], most, expand, visit)?;
        self.budget.release(held);
        Ok(flow)
    }

    /// Whether a run of at most so many relationships leads back to where it began. In one direction it is
    /// enough to come back; in both the way back must be another one: two branches of the breadth-first tree
    /// that meet.
    fn returns(&self, walk: &Walk, start: NodeId, most: u32) -> Result<bool> {
        let expansion = &self.expansions[walk.expansion];
        let is_directed = self.expansion_plans[walk.expansion].direction != Direction::Both;
        let mut reached: FxHashMap<NodeId, Reached> =
            FxHashMap::from_iter([(start, (0, None, None))]);
        let mut queue = VecDeque::from([start]);
        let mut returns = false;
        while let Some(node) = queue.pop_front() {
            let (depth, by, branch) = reached[&node];
            if depth >= most {
                break;
            }
            let flow = expansion.expand(node, &mut |relationship, other| {
                self.budget.tick()?;
                if Some(relationship) == by {
                    return Ok(Flow::Continue);
                }
                let own = branch.or(Some(relationship));
                match reached.get(&other) {
                    None => {
                        self.budget.hold(REACHED)?;
                        reached.insert(other, (depth + 1, Some(relationship), own));
                        queue.push_back(other);
                    }
                    Some(_) if other == start => returns = true,
                    Some((other_depth, _, other_branch)) => {
                        returns |=
                            !is_directed && *other_branch != own && depth + 1 + other_depth <= most;
                    }
                }
                Ok(if returns { Flow::Stop } else { Flow::Continue })
            })?;
            if flow == Flow::Stop {
                break;
            }
        }
        self.budget.release(REACHED * (reached.len() as u64 - 1));
        Ok(returns)
    }
}
