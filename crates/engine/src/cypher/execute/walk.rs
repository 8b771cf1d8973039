use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Executor, Row, Sink};
use crate::cypher::error::Result;
use crate::cypher::graph::{Direction, Flow};
use crate::cypher::plan::{Step, Walk};
use crate::cypher::value::{NodeId, RelationshipId, Value, equals};

/// Depth, relationship that leads here, first relationship of the branch.
type Reached = (u32, Option<RelationshipId>, Option<RelationshipId>);

impl Executor<'_> {
    /// A run of relationships, none of which comes twice in the match.
    pub(super) fn walk(
        &self,
        walk: &Walk,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let Value::Node(from) = row[walk.from] else {
            return Ok(Flow::Continue);
        };
        if walk.relationships_are_bound {
            return self.along_bound_run(walk, from, rest, used, row, found);
        }
        if walk.only_ends {
            return self.ends(walk, from, rest, used, row, found);
        }
        let wanted = match (walk.to_is_bound, &row[walk.to]) {
            (true, Value::Node(node)) => Some(*node),
            (true, _) => return Ok(Flow::Continue),
            (false, _) => None,
        };
        let properties = walk
            .properties
            .iter()
            .map(|(_, value)| self.value(value, row))
            .collect::<Result<Vec<_>>>()?;
        let first = used.len();
        self.hop(
            &mut Hop {
                walk,
                wanted,
                properties,
                first,
                rest,
                found,
            },
            from,
            used,
            row,
        )
    }

    fn hop(
        &self,
        hop: &mut Hop<'_, '_>,
        node: NodeId,
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
    ) -> Result<Flow> {
        let hops = (used.len() - hop.first) as u32;
        let walk = hop.walk;
        if hops >= walk.least
            && hop.wanted.is_none_or(|wanted| wanted == node)
            && self.arrive(hop, node, used, row)? == Flow::Stop
        {
            return Ok(Flow::Stop);
        }
        if walk.most.is_some_and(|most| hops >= most) {
            return Ok(Flow::Continue);
        }
        self.expansions[walk.expansion].expand(node, &mut |relationship, other| {
            self.budget.tick()?;
            if used.contains(&relationship) || !self.has(hop, relationship)? {
                return Ok(Flow::Continue);
            }
            if hops >= self.budget.limits.hops {
                return Err(self.budget.too_many_hops());
            }
            used.push(relationship);
            let flow = self.hop(hop, other, used, row)?;
            used.pop();
            Ok(flow)
        })
    }

    fn has(&self, hop: &Hop<'_, '_>, relationship: RelationshipId) -> Result<bool> {
        for ((key, _), wanted) in hop.walk.properties.iter().zip(&hop.properties) {
            let value = self.graph.relationship_property(relationship, key)?;
            if equals(&value, wanted) != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn arrive(
        &self,
        hop: &mut Hop<'_, '_>,
        node: NodeId,
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
    ) -> Result<Flow> {
        if let Some(slot) = hop.walk.relationships {
            let mut ids: Vec<Value> = used[hop.first..]
                .iter()
                .map(|id| Value::Relationship(*id))
                .collect();
            if hop.walk.is_reversed {
                ids.reverse();
            }
            row[slot] = Value::list(ids)?;
        }
        if hop.wanted.is_none() {
            row[hop.walk.to] = Value::Node(node);
        }
        self.steps(hop.rest, used, row, hop.found)
    }

    /// The list of relationships is there already: they have to hang together.
    fn along_bound_run(
        &self,
        walk: &Walk,
        from: NodeId,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let list = walk.relationships.map(|slot| row[slot].clone());
        let Some(ids) = list.as_ref().and_then(Value::as_list) else {
            return Ok(Flow::Continue);
        };
        let length = ids.len() as u32;
        if length < walk.least || walk.most.is_some_and(|most| length > most) {
            return Ok(Flow::Continue);
        }
        let plan = &self.expansion_plans[walk.expansion];
        let first = used.len();
        let mut node = from;
        let ordered: Vec<&Value> = if walk.is_reversed {
            ids.iter().rev().collect()
        } else {
            ids.iter().collect()
        };
        for id in ordered {
            let Value::Relationship(id) = id else {
                used.truncate(first);
                return Ok(Flow::Continue);
            };
            let (source, target) = self.graph.ends(*id);
            let next = match plan.direction {
                Direction::Out | Direction::Both if source == node => Some(target),
                Direction::In | Direction::Both if target == node => Some(source),
                _ => None,
            };
            let is_of_type = plan
                .types
                .as_ref()
                .is_none_or(|types| types.contains(&self.graph.type_of(*id)));
            let Some(next) = next.filter(|_| is_of_type && !used.contains(id)) else {
                used.truncate(first);
                return Ok(Flow::Continue);
            };
            used.push(*id);
            node = next;
        }
        let flow = if !walk.to_is_bound {
            row[walk.to] = Value::Node(node);
            self.steps(rest, used, row, found)?
        } else if row[walk.to] == Value::Node(node) {
            self.steps(rest, used, row, found)?
        } else {
            Flow::Continue
        };
        used.truncate(first);
        Ok(flow)
    }

    /// Each node at the end of a run once: breadth first, for the shortest way to a node uses no
    /// relationship twice.
    fn ends(
        &self,
        walk: &Walk,
        from: NodeId,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let expansion = &self.expansions[walk.expansion];
        let most = walk.most.unwrap_or(u32::MAX);
        let mut arrive = |node: NodeId| {
            self.budget.tick()?;
            row[walk.to] = Value::Node(node);
            self.steps(rest, used, row, found)
        };
        if walk.least == 0 && arrive(from)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        let mut arrive_once = |node: NodeId| {
            if node == from && walk.least == 0 {
                return Ok(Flow::Continue);
            }
            arrive(node)
        };
        // In one direction a way back to the start is met on the way.
        let is_directed = self.expansion_plans[walk.expansion].direction != Direction::Both;
        if is_directed && let Some(flow) = expansion.reach(from, most, &mut arrive_once) {
            return flow;
        }
        if walk.least > 0 && self.returns(walk, from, most)? && arrive_once(from)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if let Some(flow) = expansion.reach(from, most, &mut arrive_once) {
            return flow;
        }
        let mut depths = FxHashMap::from_iter([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let depth = depths[&node];
            if depth >= most {
                break;
            }
            let flow = expansion.expand(node, &mut |_, other| {
                self.budget.tick()?;
                if depths.contains_key(&other) {
                    return Ok(Flow::Continue);
                }
                self.budget.hold(32)?;
                depths.insert(other, depth + 1);
                queue.push_back(other);
                arrive_once(other)
            })?;
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
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
                        self.budget.hold(48)?;
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
        Ok(returns)
    }
}

/// What stays the same from hop to hop.
struct Hop<'h, 'f> {
    walk: &'h Walk,
    /// The node that the run has to end at.
    wanted: Option<NodeId>,
    /// Values of the properties that each relationship has to have.
    properties: Vec<Value>,
    /// Where this run begins in the relationships used.
    first: usize,
    rest: &'h [Step],
    found: Sink<'f>,
}
