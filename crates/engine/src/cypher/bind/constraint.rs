use open_cypher::ast::{
    Expr, ExprKind, LabelExpression, LabelExpressionKind, PathFactor, PathFactorKind,
};

use super::expression::mismatch;
use super::kind::{Kind, Takes};
use super::pattern::BoundPattern;
use super::rewrite::conjuncts;
use super::{Binder, known, span, unsupported};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::graph::{Key, TypeId};
use crate::cypher::plan::{Comparison, Expression, Slot};

impl Binder<'_> {
    /// Labels, types, properties and inner conditions of a node or relationship.
    pub(super) fn constrain(
        &mut self,
        factor: &PathFactor,
        place: usize,
        bound: &mut BoundPattern,
    ) -> Result<()> {
        match &factor.kind {
            PathFactorKind::Node(node) => {
                let slot = bound.nodes[place].slot;
                if let Some(labels) = &node.labels {
                    self.constrain_labels(labels, place, bound)?;
                }
                for (key, value) in self.properties(node.properties.as_deref(), &Kind::Node)? {
                    bound.filters.push(has_value(slot, key, value));
                }
                if let Some(predicate) = &node.where_clause {
                    conjuncts(self.condition(predicate)?, &mut bound.filters);
                }
            }
            PathFactorKind::Relationship(relationship) => {
                let slot = bound.relationships[place].slot;
                let is_run = bound.relationships[place].length.is_some();
                if let Some(labels) = &relationship.labels {
                    match self.types(labels)? {
                        Some(types) => bound.relationships[place].types = Some(types),
                        None if is_run => {
                            return Err(unsupported("this test of a run's types", labels.span));
                        }
                        None => {
                            let test = self.label_test(labels, &Kind::Relationship)?;
                            let relationship = Box::new(Expression::Slot(slot));
                            bound
                                .filters
                                .push(Expression::HasLabels(relationship, test));
                        }
                    }
                }
                let properties =
                    self.properties(relationship.properties.as_deref(), &Kind::Relationship)?;
                if is_run {
                    bound.relationships[place].properties = properties;
                } else {
                    let tests = properties
                        .into_iter()
                        .map(|(key, value)| has_value(slot, key, value));
                    bound.filters.extend(tests);
                }
                if let Some(predicate) = &relationship.where_clause {
                    conjuncts(self.condition(predicate)?, &mut bound.filters);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn constrain_labels(
        &mut self,
        labels: &LabelExpression,
        place: usize,
        bound: &mut BoundPattern,
    ) -> Result<()> {
        match &labels.kind {
            LabelExpressionKind::And(parts) => {
                for part in parts {
                    self.constrain_labels(part, place, bound)?;
                }
            }
            LabelExpressionKind::Parenthesized(inner) => {
                self.constrain_labels(inner, place, bound)?;
            }
            LabelExpressionKind::Name(name) => {
                let id = known(self.graph.label(&name.kind.text), "label", name)?;
                let node = &mut bound.nodes[place];
                match id {
                    None => node.is_impossible = true,
                    Some(id) if node.label.is_none() && !node.is_bound => node.label = Some(id),
                    Some(id) => {
                        let of_node = Box::new(Expression::Slot(node.slot));
                        let test = crate::cypher::plan::LabelTest::Name(Some(id), None);
                        bound.filters.push(Expression::HasLabels(of_node, test));
                    }
                }
            }
            _ => {
                let test = self.label_test(labels, &Kind::Node)?;
                let of_node = Box::new(Expression::Slot(bound.nodes[place].slot));
                bound.filters.push(Expression::HasLabels(of_node, test));
            }
        }
        Ok(())
    }

    /// The types of `A|B`; `None` for what is more than that.
    fn types(&self, labels: &LabelExpression) -> Result<Option<Vec<TypeId>>> {
        let mut types = Vec::new();
        let parts = match &labels.kind {
            LabelExpressionKind::Or(parts) => parts.as_slice(),
            _ => std::slice::from_ref(labels),
        };
        for part in parts {
            match &part.kind {
                LabelExpressionKind::Name(name) => {
                    let id = self.graph.relationship_type(&name.kind.text);
                    types.extend(known(id, "relationship type", name)?);
                }
                LabelExpressionKind::Or(_) | LabelExpressionKind::Parenthesized(_) => {
                    let inner = match &part.kind {
                        LabelExpressionKind::Parenthesized(inner) => inner,
                        _ => part,
                    };
                    match self.types(inner)? {
                        Some(inner) => types.extend(inner),
                        None => return Ok(None),
                    }
                }
                _ => return Ok(None),
            }
        }
        types.sort_unstable();
        types.dedup();
        Ok(Some(types))
    }

    fn properties(
        &mut self,
        properties: Option<&Expr>,
        kind: &Kind,
    ) -> Result<Vec<(Key, Expression)>> {
        let Some(properties) = properties else {
            return Ok(Vec::new());
        };
        match &properties.kind {
            ExprKind::Map(entries) => {
                let entries = entries.iter();
                entries
                    .map(|entry| {
                        let key = self.key(&entry.key, kind)?;
                        Ok((key, self.expression(&entry.value)?.0))
                    })
                    .collect()
            }
            ExprKind::Parameter(_) => Err(CypherError::syntax(
                "InvalidParameterUse",
                "a parameter can not be all properties of a pattern; write {name: $name}",
            )
            .at(span(properties.span))),
            _ => Err(mismatch(Takes::HasProperties, &Kind::Any, properties)),
        }
    }
}

fn has_value(slot: Slot, key: Key, value: Expression) -> Expression {
    let property = Expression::Property(Box::new(Expression::Slot(slot)), key);
    Expression::Compare(Comparison::Equal, Box::new(property), Box::new(value))
}
