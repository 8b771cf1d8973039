use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Executor, Row, Sink};
use crate::cypher::error::Result;
use crate::cypher::graph::Flow;
use crate::cypher::plan::{Slot, Step, Walk};
use crate::cypher::value::{NodeId, Path, RelationshipId, Value, equals};

/// Ways to a node from those one hop nearer.
type Ways = FxHashMap<NodeId, (u32, Vec<(NodeId, RelationshipId)>)>;

impl Executor<'_> {
    /// One shortest run between two nodes, or all of them. Two ends that are one node have no run between
    /// them, but for the empty one where none is allowed.
    #[expect(
        clippy::too_many_arguments,
        reason = "one step of the search with its parts"
    )]
    pub(super) fn shortest(
        &self,
        walk: &Walk,
        all: bool,
        path: Option<Slot>,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let (Value::Node(from), Value::Node(to)) = (&row[walk.from], &row[walk.to]) else {
            return Ok(Flow::Continue);
        };
        let (from, to) = (*from, *to);
        let properties = walk
            .properties
            .iter()
            .map(|(_, value)| self.value(value, row))
            .collect::<Result<Vec<_>>>()?;
        if from == to {
            if walk.least > 0 {
                return Ok(Flow::Continue);
            }
            return self.on_shortest(walk, path, (vec![from], Vec::new()), rest, used, row, found);
        }
        let ways = self.breadth_first(walk, &properties, from, to, used)?;
        let Some((length, _)) = ways.get(&to) else {
            return Ok(Flow::Continue);
        };
        if *length < walk.least {
            return Ok(Flow::Continue);
        }
        // From the end back to the start, depth first over the ways that were kept.
        let mut stack = vec![(to, vec![to], Vec::new())];
        while let Some((node, nodes, relationships)) = stack.pop() {
            self.budget.tick()?;
            if node == from {
                let (mut nodes, mut relationships) = (nodes, relationships);
                nodes.reverse();
                relationships.reverse();
                let run = (nodes, relationships);
                if self.on_shortest(walk, path, run, rest, used, row, found)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                if !all {
                    return Ok(Flow::Continue);
                }
                continue;
            }
            for &(previous, relationship) in ways[&node].1.iter().rev() {
                let (mut nodes, mut relationships) = (nodes.clone(), relationships.clone());
                nodes.push(previous);
                relationships.push(relationship);
                stack.push((previous, nodes, relationships));
            }
        }
        Ok(Flow::Continue)
    }

    fn breadth_first(
        &self,
        walk: &Walk,
        properties: &[Value],
        from: NodeId,
        to: NodeId,
        used: &[RelationshipId],
    ) -> Result<Ways> {
        let expansion = &self.expansions[walk.expansion];
        let mut ways: Ways = FxHashMap::from_iter([(from, (0, Vec::new()))]);
        let mut frontier = vec![from];
        let mut depth = 0;
        while !frontier.is_empty() && !ways.contains_key(&to) {
            if walk.most.is_some_and(|most| depth >= most) {
                break;
            }
            if depth >= self.budget.limits.hops {
                return Err(self.budget.too_many_hops());
            }
            depth += 1;
            let mut next = Vec::new();
            for node in frontier {
                expansion.expand(node, &mut |relationship, other| {
                    self.budget.tick()?;
                    for ((key, _), wanted) in walk.properties.iter().zip(properties) {
                        let value = self.graph.relationship_property(relationship, key)?;
                        if equals(&value, wanted) != Some(true) {
                            return Ok(Flow::Continue);
                        }
                    }
                    if used.contains(&relationship) {
                        return Ok(Flow::Continue);
                    }
                    match ways.get_mut(&other) {
                        None => {
                            self.budget.hold(64)?;
                            ways.insert(other, (depth, vec![(node, relationship)]));
                            next.push(other);
                        }
                        Some((known, from)) if *known == depth => from.push((node, relationship)),
                        Some(_) => {}
                    }
                    Ok(Flow::Continue)
                })?;
            }
            frontier = next;
        }
        Ok(ways)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one step of the search with its parts"
    )]
    fn on_shortest(
        &self,
        walk: &Walk,
        path: Option<Slot>,
        (mut nodes, mut relationships): (Vec<NodeId>, Vec<RelationshipId>),
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let first = used.len();
        used.extend(&relationships);
        if walk.is_reversed {
            nodes.reverse();
            relationships.reverse();
        }
        if let Some(slot) = walk.relationships {
            let ids = relationships.iter().map(|id| Value::Relationship(*id));
            row[slot] = Value::list(ids.collect())?;
        }
        if let Some(slot) = path {
            row[slot] = Value::Path(Arc::new(Path {
                nodes,
                relationships,
            }));
        }
        let flow = self.steps(rest, used, row, found)?;
        used.truncate(first);
        Ok(flow)
    }
}
