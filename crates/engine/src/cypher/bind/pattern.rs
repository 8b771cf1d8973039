use open_cypher::ast::{
    Expr, Name, NodePattern, PathFactor, PathFactorKind, PathMode, PathSelector, Pattern,
    PatternComprehension, PatternPart, QuantifierKind, RelationshipDirection, RelationshipPattern,
};

use super::expression::Typed;
use super::kind::Kind;
use super::rewrite::conjuncts;
use super::{Binder, already_bound, span, unsupported};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::graph::{Direction, Key, LabelId, TypeId};
use crate::cypher::plan::{Comparison, Expression, Matching, PathPart, Slot};

/// A pattern with its names bound, before it is known in which order it is searched.
#[derive(Debug, Default)]
pub(super) struct BoundPattern {
    pub nodes: Vec<BoundNode>,
    pub relationships: Vec<BoundRelationship>,
    pub paths: Vec<(Slot, Vec<PathPart>)>,
    /// Conditions that all have to hold.
    pub filters: Vec<Expression>,
    /// Slots that the pattern fills.
    pub slots: Vec<Slot>,
}

#[derive(Debug)]
pub(super) struct BoundNode {
    pub slot: Slot,
    /// Filled by an earlier clause.
    pub is_bound: bool,
    /// A label that it has to have.
    pub label: Option<LabelId>,
    /// It has to have a label that nothing has.
    pub is_impossible: bool,
}

#[derive(Debug)]
pub(super) struct BoundRelationship {
    pub slot: Slot,
    pub is_bound: bool,
    /// Places in [`BoundPattern::nodes`], left and right as written.
    pub left: usize,
    pub right: usize,
    pub direction: Direction,
    pub types: Option<Vec<TypeId>>,
    /// Least and most of a run.
    pub length: Option<(u32, Option<u32>)>,
    pub properties: Vec<(Key, Expression)>,
    /// Whether someone reads the relationships of a run.
    pub is_read: bool,
    pub shortest: Option<Shortest>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shortest {
    pub all: bool,
    pub path: Option<Slot>,
}

/// Nodes and relationships that the patterns of one query may have: each is searched inside the one before it.
const MOST_PARTS: usize = 200;

/// Whether a pattern may bring in names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewNames {
    Allowed,
    Refused,
}

impl Binder<'_> {
    /// The pattern of a `MATCH` with its `WHERE`.
    pub(super) fn matching(
        &mut self,
        pattern: &Pattern,
        predicate: Option<&Expr>,
        names: NewNames,
    ) -> Result<Matching> {
        let mut bound = BoundPattern::default();
        let mut writing = Vec::new();
        for part in &pattern.parts {
            self.parts += part.kind.path.kind.factors.len();
            if self.parts > MOST_PARTS {
                return Err(CypherError::syntax(
                    "QueryTooDeep",
                    format!("more than {MOST_PARTS} nodes and relationships in the patterns of one query"),
                )
                .at(span(part.span)));
            }
            self.declare_part(part, names, &mut bound, &mut writing)?;
        }
        // Properties may read what any part of the pattern brings in.
        for (factor, place) in writing {
            self.constrain(factor, place, &mut bound)?;
        }
        if let Some(predicate) = predicate {
            conjuncts(self.condition(predicate)?, &mut bound.filters);
        }
        Ok(self.schedule(bound))
    }

    /// A pattern as a condition.
    pub(super) fn pattern_exists(&mut self, pattern: &Pattern) -> Result<Expression> {
        self.within(|binder| {
            let matching = binder.matching(pattern, None, NewNames::Refused)?;
            Ok(Expression::Exists(Box::new(matching)))
        })
    }

    pub(super) fn pattern_comprehension(
        &mut self,
        comprehension: &PatternComprehension,
    ) -> Result<Typed> {
        self.within(|binder| {
            let mut pattern = comprehension.pattern.clone();
            if let (Some(name), Some(part)) = (&comprehension.binding, pattern.parts.first_mut()) {
                part.kind.binding = Some(name.clone());
            }
            let predicate = comprehension.predicate.as_deref();
            let matching = binder.matching(&pattern, predicate, NewNames::Allowed)?;
            let (projection, kind) = binder.expression(&comprehension.projection)?;
            Ok((
                Expression::PatternComprehension {
                    matching: Box::new(matching),
                    projection: Box::new(projection),
                },
                Kind::list_of(kind),
            ))
        })
    }

    fn declare_part<'p>(
        &mut self,
        part: &'p PatternPart,
        names: NewNames,
        bound: &mut BoundPattern,
        writing: &mut Vec<(&'p PathFactor, usize)>,
    ) -> Result<()> {
        let shortest = match part.kind.selector.as_ref().map(|selector| &selector.kind) {
            None | Some(PathSelector::All) => None,
            Some(PathSelector::AnyShortest) => Some(false),
            Some(PathSelector::AllShortest) => Some(true),
            Some(_) => return Err(unsupported("this choice of paths", part.span)),
        };
        let binding = part.kind.binding.as_ref();
        let path = match binding {
            Some(name) if self.scope.find(&name.kind.text).is_some() => {
                return Err(already_bound(name));
            }
            Some(name) if names == NewNames::Refused => return Err(self.undefined(name)),
            Some(_) => Some(self.new_slot()),
            None => None,
        };
        let (factors, shortest) = match part.kind.path.kind.factors.as_slice() {
            [
                PathFactor {
                    kind: PathFactorKind::LegacyShortest { all, pattern },
                    ..
                },
            ] => (pattern.kind.factors.as_slice(), Some(*all)),
            factors => (factors, shortest),
        };
        let mut parts = Vec::new();
        let mut left: Option<usize> = None;
        let mut waiting: Option<(&'p PathFactor, &'p RelationshipPattern)> = None;
        for factor in factors {
            match &factor.kind {
                PathFactorKind::Node(node) => {
                    let place = self.declare_node(node, names, bound)?;
                    writing.push((factor, place));
                    if let (Some(left), Some((factor, relationship))) = (left, waiting.take()) {
                        let shortest = shortest.map(|all| Shortest { all, path });
                        let place =
                            self.declare_relationship(relationship, (left, place), names, bound)?;
                        let declared = &mut bound.relationships[place];
                        declared.shortest = shortest;
                        declared.is_read |= path.is_some();
                        writing.push((factor, place));
                        parts.push(if declared.length.is_some() {
                            PathPart::Relationships(declared.slot)
                        } else {
                            PathPart::Relationship(declared.slot)
                        });
                    }
                    parts.push(PathPart::Node(bound.nodes[place].slot));
                    left = Some(place);
                }
                PathFactorKind::Relationship(relationship) if left.is_some() => {
                    waiting = Some((factor, relationship));
                }
                _ => return Err(unsupported("this form of a path", factor.span)),
            }
        }
        if shortest.is_some() && parts.len() != 3 {
            return Err(CypherError::syntax(
                "UnexpectedSyntax",
                "a shortest path is asked for over one relationship pattern, such as (a)-[*]-(b)",
            )
            .at(span(part.span)));
        }
        if shortest.is_some() {
            let last = bound
                .relationships
                .last_mut()
                .expect("three parts hold one");
            last.length.get_or_insert((1, Some(1)));
        }
        if let (Some(path), Some(name)) = (path, binding) {
            if self.scope.find(&name.kind.text).is_some() {
                return Err(already_bound(name));
            }
            self.scope.add(&name.kind.text, path, Kind::Path);
            bound.slots.push(path);
            if shortest.is_none() {
                bound.paths.push((path, parts));
            }
        }
        Ok(())
    }

    fn declare_node(
        &mut self,
        node: &NodePattern,
        names: NewNames,
        bound: &mut BoundPattern,
    ) -> Result<usize> {
        let (slot, is_bound) = match &node.variable {
            None => {
                let slot = self.new_slot();
                bound.slots.push(slot);
                (slot, false)
            }
            Some(name) => match self.scope.find(&name.kind.text) {
                Some(variable) => {
                    if variable.kind != Kind::Node && variable.kind.is_known() {
                        return Err(conflict(name, "a node"));
                    }
                    (variable.slot, !bound.slots.contains(&variable.slot))
                }
                None if names == NewNames::Refused => return Err(self.undefined(name)),
                None => {
                    let slot = self.declare(name, Kind::Node)?;
                    bound.slots.push(slot);
                    (slot, false)
                }
            },
        };
        let known = bound.nodes.iter().position(|node| node.slot == slot);
        Ok(known.unwrap_or_else(|| {
            bound.nodes.push(BoundNode {
                slot,
                is_bound,
                label: None,
                is_impossible: false,
            });
            bound.nodes.len() - 1
        }))
    }

    fn declare_relationship(
        &mut self,
        relationship: &RelationshipPattern,
        (left, right): (usize, usize),
        names: NewNames,
        bound: &mut BoundPattern,
    ) -> Result<usize> {
        let quantifier = relationship
            .legacy_quantifier
            .as_ref()
            .map(|quantifier| (quantifier, 1))
            .or(relationship
                .graph_quantifier
                .as_ref()
                .map(|quantifier| (quantifier, 0)));
        let length = quantifier
            .map(|(quantifier, least)| {
                bounds(&quantifier.kind, least).ok_or_else(|| {
                    CypherError::syntax(
                        "InvalidRelationshipPattern",
                        "the number of hops is out of range",
                    )
                    .at(span(quantifier.span))
                })
            })
            .transpose()?;
        let (slot, is_bound) = match &relationship.variable {
            None => {
                let slot = self.new_slot();
                bound.slots.push(slot);
                (slot, false)
            }
            Some(name) => match self.scope.find(&name.kind.text) {
                Some(variable) => {
                    let fits = match (&variable.kind, length) {
                        (Kind::Any | Kind::Null, _) | (Kind::Relationship, None) => true,
                        (Kind::List(of), Some(_)) => {
                            matches!(**of, Kind::Relationship | Kind::Any | Kind::Null)
                        }
                        _ => false,
                    };
                    if !fits {
                        return Err(conflict(name, "a relationship"));
                    }
                    let slot = variable.slot;
                    if bound.slots.contains(&slot) {
                        return Err(CypherError::syntax(
                            "RelationshipUniquenessViolation",
                            format!(
                                "{} can be one relationship of a pattern only",
                                name.kind.text
                            ),
                        )
                        .at(span(name.span)));
                    }
                    (slot, true)
                }
                None if names == NewNames::Refused => return Err(self.undefined(name)),
                None => {
                    let kind = match length {
                        Some(_) => Kind::list_of(Kind::Relationship),
                        None => Kind::Relationship,
                    };
                    let slot = self.declare(name, kind)?;
                    bound.slots.push(slot);
                    (slot, false)
                }
            },
        };
        bound.relationships.push(BoundRelationship {
            slot,
            is_bound,
            left,
            right,
            direction: match relationship.direction.kind {
                RelationshipDirection::Left => Direction::In,
                RelationshipDirection::Right => Direction::Out,
                _ => Direction::Both,
            },
            types: None,
            length,
            properties: Vec::new(),
            is_read: relationship.variable.is_some(),
            shortest: None,
        });
        Ok(bound.relationships.len() - 1)
    }
}

/// Path modes other than openCypher's own rule, that no relationship comes twice.
pub(super) fn is_own_mode(mode: PathMode) -> bool {
    mode == PathMode::Trail
}

fn bounds(kind: &QuantifierKind, least: u32) -> Option<(u32, Option<u32>)> {
    let number = |text: &String| text.replace('_', "").parse::<u32>().ok();
    Some(match kind {
        QuantifierKind::ZeroOrMore => (least, None),
        QuantifierKind::OneOrMore => (1, None),
        QuantifierKind::Optional => (0, Some(1)),
        QuantifierKind::Fixed(hops) => (number(hops)?, Some(number(hops)?)),
        QuantifierKind::Range { lower, upper } => (
            lower.as_ref().map_or(Some(least), number)?,
            match upper {
                Some(upper) => Some(number(upper)?),
                None => None,
            },
        ),
        _ => return None,
    })
}

fn conflict(name: &Name, what: &str) -> CypherError {
    CypherError::syntax(
        "VariableTypeConflict",
        format!("{} stands for something else than {what}", name.kind.text),
    )
    .at(span(name.span))
}

/// Used by the planner to name a property in an index.
pub(super) fn equality_of(filter: &Expression, slot: Slot) -> Option<(&Key, &Expression)> {
    let Expression::Compare(Comparison::Equal, left, right) = filter else {
        return None;
    };
    [(left, right), (right, left)]
        .into_iter()
        .find_map(|(property, value)| match &**property {
            Expression::Property(of, key) if **of == Expression::Slot(slot) => {
                Some((key, &**value))
            }
            _ => None,
        })
}
