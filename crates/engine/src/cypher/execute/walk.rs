use super::{Executor, Row, Sink};
use crate::cypher::error::Result;
use crate::cypher::graph::{Direction, Flow};
use crate::cypher::plan::{Step, Walk};
use crate::cypher::value::{NodeId, RelationshipId, Value, equals};

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
        let mut onward = Onward { walk, rest, found };
        if walk.relationships_are_bound {
            return self.along_bound_run(&mut onward, from, used, row);
        }
        if walk.only_ends {
            return self.ends(&mut onward, from, used, row);
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
                onward,
                wanted,
                properties,
                first,
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
        let walk = hop.onward.walk;
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
            self.budget.enter()?;
            let flow = self.hop(hop, other, used, row)?;
            self.budget.leave();
            used.pop();
            Ok(flow)
        })
    }

    fn has(&self, hop: &Hop<'_, '_>, relationship: RelationshipId) -> Result<bool> {
        for ((key, _), wanted) in hop.onward.walk.properties.iter().zip(&hop.properties) {
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
        let walk = hop.onward.walk;
        if let Some(slot) = walk.relationships {
            let mut ids: Vec<Value> = used[hop.first..]
                .iter()
                .map(|id| Value::Relationship(*id))
                .collect();
            if walk.is_reversed {
                ids.reverse();
            }
            row[slot] = Value::list(ids)?;
        }
        self.go_on(&mut hop.onward, node, used, row)
    }

    /// Goes on from the node that a run has arrived at.
    pub(super) fn go_on(
        &self,
        onward: &mut Onward<'_, '_>,
        node: NodeId,
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
    ) -> Result<Flow> {
        row[onward.walk.to] = Value::Node(node);
        self.steps(onward.rest, used, row, onward.found)
    }

    /// The list of relationships is there already: they have to hang together.
    fn along_bound_run(
        &self,
        onward: &mut Onward<'_, '_>,
        from: NodeId,
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
    ) -> Result<Flow> {
        let walk = onward.walk;
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
        let flow = if !walk.to_is_bound || row[walk.to] == Value::Node(node) {
            self.go_on(onward, node, used, row)?
        } else {
            Flow::Continue
        };
        used.truncate(first);
        Ok(flow)
    }
}

/// A run, and what comes behind it.
pub(super) struct Onward<'h, 'f> {
    pub(super) walk: &'h Walk,
    rest: &'h [Step],
    found: Sink<'f>,
}

/// What stays the same from hop to hop.
struct Hop<'h, 'f> {
    onward: Onward<'h, 'f>,
    /// The node that the run has to end at.
    wanted: Option<NodeId>,
    /// Values of the properties that each relationship has to have.
    properties: Vec<Value>,
    /// Where this run begins in the relationships used.
    first: usize,
}
