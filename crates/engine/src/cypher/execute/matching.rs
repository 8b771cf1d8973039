use super::{Executor, Row, Sink};
use crate::cypher::error::Result;
use crate::cypher::graph::{Direction, Flow};
use crate::cypher::plan::{Expand, Matching, PathPart, Step};
use crate::cypher::value::{NodeId, Path, RelationshipId, Value};

impl Executor<'_> {
    /// Calls `found` with the row filled for each way in which a pattern matches.
    pub(super) fn matching(
        &self,
        matching: &Matching,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        self.steps(&matching.steps, &mut Vec::new(), row, found)
    }

    /// `used`: the relationships of this match so far, of which none may come again.
    pub(super) fn steps(
        &self,
        steps: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let mut steps = steps;
        while let Some((Step::Filter(condition), rest)) = steps.split_first() {
            if !self.holds(condition, row)? {
                return Ok(Flow::Continue);
            }
            steps = rest;
        }
        let Some((step, rest)) = steps.split_first() else {
            return found(row);
        };
        self.budget.enter()?;
        let flow = self.step(step, rest, used, row, found)?;
        self.budget.leave();
        Ok(flow)
    }

    fn step(
        &self,
        step: &Step,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        match step {
            Step::Nodes { slot, label } => self.graph.nodes(*label, &mut |node| {
                self.budget.tick()?;
                row[*slot] = Value::Node(node);
                self.steps(rest, used, row, found)
            }),
            Step::Lookup { slot, key, value } => {
                let value = self.value(value, row)?;
                if value.is_null() {
                    return Ok(Flow::Continue);
                }
                match self.graph.lookup(key, &value)? {
                    Some(nodes) => {
                        for node in nodes {
                            self.budget.tick()?;
                            row[*slot] = Value::Node(node);
                            if self.steps(rest, used, row, found)? == Flow::Stop {
                                return Ok(Flow::Stop);
                            }
                        }
                        Ok(Flow::Continue)
                    }
                    None => self.graph.nodes(None, &mut |node| {
                        self.budget.tick()?;
                        row[*slot] = Value::Node(node);
                        self.steps(rest, used, row, found)
                    }),
                }
            }
            Step::Bound(slot) => match row[*slot] {
                Value::Node(_) => self.steps(rest, used, row, found),
                _ => Ok(Flow::Continue),
            },
            Step::Filter(_) => unreachable!("conditions are judged before"),
            Step::Expand(expand) => self.expand(expand, rest, used, row, found),
            Step::Walk(walk) => self.walk(walk, rest, used, row, found),
            Step::Shortest { walk, all, path } => {
                self.shortest(walk, *all, *path, rest, used, row, found)
            }
            Step::Path { slot, parts } => {
                row[*slot] = self.path(parts, row);
                self.steps(rest, used, row, found)
            }
            Step::Nothing => Ok(Flow::Continue),
        }
    }

    fn expand(
        &self,
        expand: &Expand,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        if expand.relationship_is_bound {
            return self.along_bound(expand, rest, used, row, found);
        }
        let Value::Node(from) = row[expand.from] else {
            return Ok(Flow::Continue);
        };
        let wanted = match (expand.to_is_bound, &row[expand.to]) {
            (true, Value::Node(node)) => Some(*node),
            (true, _) => return Ok(Flow::Continue),
            (false, _) => None,
        };
        self.expansions[expand.expansion].expand(from, &mut |relationship, node| {
            self.budget.tick()?;
            if wanted.is_some_and(|wanted| wanted != node) || used.contains(&relationship) {
                return Ok(Flow::Continue);
            }
            row[expand.relationship] = Value::Relationship(relationship);
            if wanted.is_none() {
                row[expand.to] = Value::Node(node);
            }
            used.push(relationship);
            let flow = self.steps(rest, used, row, found)?;
            used.pop();
            Ok(flow)
        })
    }

    /// The relationship is there already: its ends are compared with what is known of them, or fill it.
    fn along_bound(
        &self,
        expand: &Expand,
        rest: &[Step],
        used: &mut Vec<RelationshipId>,
        row: &mut Row,
        found: Sink<'_>,
    ) -> Result<Flow> {
        let Value::Relationship(relationship) = row[expand.relationship] else {
            return Ok(Flow::Continue);
        };
        if used.contains(&relationship) {
            return Ok(Flow::Continue);
        }
        let plan = &self.expansion_plans[expand.expansion];
        let is_of_type = plan
            .types
            .as_ref()
            .is_none_or(|types| types.contains(&self.graph.type_of(relationship)));
        if !is_of_type {
            return Ok(Flow::Continue);
        }
        let (source, target) = self.graph.ends(relationship);
        let ways: &[(NodeId, NodeId)] = match plan.direction {
            Direction::Out => &[(source, target)],
            Direction::In => &[(target, source)],
            Direction::Both if source == target => &[(source, target)],
            Direction::Both => &[(source, target), (target, source)],
        };
        let known = (row[expand.from].clone(), row[expand.to].clone());
        for &(from, to) in ways {
            let fits = |is_bound: bool, known: &Value, node: NodeId| {
                !is_bound || *known == Value::Node(node)
            };
            if !fits(expand.from_is_bound, &known.0, from)
                || !fits(expand.to_is_bound && expand.to != expand.from, &known.1, to)
                || (expand.to == expand.from && from != to)
            {
                continue;
            }
            row[expand.from] = Value::Node(from);
            row[expand.to] = Value::Node(to);
            used.push(relationship);
            let flow = self.steps(rest, used, row, found)?;
            used.pop();
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// Null when a part of it is.
    fn path(&self, parts: &[PathPart], row: &Row) -> Value {
        let mut path = Path {
            nodes: Vec::new(),
            relationships: Vec::new(),
        };
        let mut is_reached = false;
        for part in parts {
            match part {
                // The node behind a run of relationships is the one that the run has reached.
                PathPart::Node(_) if is_reached => is_reached = false,
                PathPart::Node(slot) => match row[*slot] {
                    Value::Node(node) => path.nodes.push(node),
                    _ => return Value::Null,
                },
                PathPart::Relationship(slot) => match row[*slot] {
                    Value::Relationship(id) => path.relationships.push(id),
                    _ => return Value::Null,
                },
                PathPart::Relationships(slot) => {
                    let Some(ids) = row[*slot].as_list() else {
                        return Value::Null;
                    };
                    for id in ids {
                        let (Value::Relationship(id), Some(last)) = (id, path.nodes.last()) else {
                            return Value::Null;
                        };
                        let (source, target) = self.graph.ends(*id);
                        path.nodes
                            .push(if source == *last { target } else { source });
                        path.relationships.push(*id);
                    }
                    is_reached = true;
                }
            }
        }
        Value::Path(std::sync::Arc::new(path))
    }
}
