use std::sync::Arc;

use open_cypher::ast::{
    CaseExpression, Expr, ExprKind, IsPredicate, LabelExpression, LabelExpressionKind,
    MapProjectionItemKind, Name, ParameterName, QuantifiedPredicateKind, SubqueryExpressionKind,
    UnaryOperator,
};

use super::kind::{Kind, Takes};
use super::literal::literal;
use super::operator::logic_of;
use super::{Aggregation, Binder, known, span, unsupported};
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::graph::{Key, Resolved};
use crate::cypher::plan::{Expression, LabelTest, Quantifier};

/// An expression with what is known of its type.
pub(super) type Typed = (Expression, Kind);

impl Binder<'_> {
    pub(super) fn expression(&mut self, expr: &Expr) -> Result<Typed> {
        match &expr.kind {
            ExprKind::Literal(value) => literal(value, false),
            ExprKind::Variable(name) => self.variable(name),
            ExprKind::Parameter(parameter) => {
                let (ParameterName::Named(name) | ParameterName::Positional(name)) =
                    &parameter.name
                else {
                    return Err(unsupported("this parameter", expr.span));
                };
                match self.parameters.get(name) {
                    Some(value) => Ok((Expression::Constant(value.clone()), Kind::Any)),
                    None => Err(CypherError::compile(
                        ErrorKind::ParameterMissing,
                        "MissingParameter",
                        format!("the parameter {name} is not given"),
                    )
                    .at(span(expr.span))),
                }
            }
            ExprKind::List(items) => {
                let mut bound = Vec::new();
                let mut of = Kind::Null;
                for item in items {
                    let (item, kind) = self.expression(item)?;
                    bound.push(item);
                    of = of.or(kind);
                }
                Ok((Expression::List(bound), Kind::list_of(of)))
            }
            ExprKind::Map(entries) => {
                let mut bound = Vec::new();
                for entry in entries {
                    let (value, _) = self.expression(&entry.value)?;
                    bound.push((Arc::from(entry.key.kind.text.as_str()), value));
                }
                Ok((Expression::Map(bound), Kind::Map))
            }
            ExprKind::Parenthesized(inner) => self.expression(inner),
            ExprKind::Unary { operator, operand } => self.unary(operator.kind, operand),
            ExprKind::Binary {
                left,
                operator,
                right,
            } => self.binary(expr, left, operator.kind, right),
            ExprKind::Is {
                expression,
                negated,
                predicate,
            } => {
                let (inner, kind) = self.expression(expression)?;
                let test = match predicate {
                    IsPredicate::Null => Expression::IsNull(Box::new(inner)),
                    IsPredicate::Label(labels) => {
                        if !kind.fits(Takes::NodeOrRelationship) {
                            return Err(mismatch(Takes::NodeOrRelationship, &kind, expression));
                        }
                        let test = self.label_test(labels, &kind)?;
                        Expression::HasLabels(Box::new(inner), test)
                    }
                    _ => return Err(unsupported("IS with a type or a normal form", expr.span)),
                };
                let test = if *negated {
                    Expression::Not(Box::new(test))
                } else {
                    test
                };
                Ok((test, Kind::Boolean))
            }
            ExprKind::Property { expression, key } => self.property(expression, key),
            ExprKind::DynamicProperty { expression, key }
            | ExprKind::Index {
                expression,
                index: key,
            } => {
                let (inner, kind) = self.expression(expression)?;
                let (index, index_kind) = self.expression(key)?;
                let of = match &kind {
                    Kind::List(of) => {
                        if index_kind.is_known() && index_kind != Kind::Integer {
                            return Err(type_error(Takes::Integer, &index_kind, key));
                        }
                        (**of).clone()
                    }
                    Kind::Any | Kind::Null | Kind::Map | Kind::Node | Kind::Relationship => {
                        Kind::Any
                    }
                    _ => return Err(type_error(Takes::List, &kind, expression)),
                };
                let of = if of == Kind::Null { Kind::Any } else { of };
                Ok((Expression::Index(Box::new(inner), Box::new(index)), of))
            }
            ExprKind::Slice {
                expression,
                lower,
                upper,
            } => {
                let (inner, kind) = self.typed(expression, Takes::List)?;
                let mut bound = |part: &Option<Box<Expr>>| -> Result<Option<Box<Expression>>> {
                    part.as_ref()
                        .map(|part| Ok(Box::new(self.typed(part, Takes::Integer)?.0)))
                        .transpose()
                };
                let (lower, upper) = (bound(lower)?, bound(upper)?);
                Ok((Expression::Slice(Box::new(inner), lower, upper), kind))
            }
            ExprKind::Function(call) => self.call(expr, call),
            ExprKind::Case(case) => self.case(case),
            ExprKind::ListComprehension(comprehension) => {
                let (list, kind) = self.typed(&comprehension.list, Takes::List)?;
                let of = item_kind(&kind);
                self.each_item(|binder| {
                    let slot = binder.local(&comprehension.variable, of.clone());
                    let predicate = comprehension.predicate.as_deref();
                    let predicate = predicate
                        .map(|predicate| binder.condition(predicate).map(Box::new))
                        .transpose()?;
                    let projection = comprehension.projection.as_deref();
                    let projection = projection
                        .map(|projection| binder.expression(projection))
                        .transpose()?;
                    let (projection, of) = match projection {
                        Some((projection, kind)) => (Some(Box::new(projection)), kind),
                        None => (None, of),
                    };
                    Ok((
                        Expression::ListComprehension {
                            slot,
                            list: Box::new(list),
                            predicate,
                            projection,
                        },
                        Kind::list_of(of),
                    ))
                })
            }
            ExprKind::QuantifiedPredicate(quantified) => {
                let (list, kind) = self.typed(&quantified.list, Takes::List)?;
                self.each_item(|binder| {
                    let slot = binder.local(&quantified.variable, item_kind(&kind));
                    let predicate = binder.condition(&quantified.predicate)?;
                    let kind = match quantified.kind.kind {
                        QuantifiedPredicateKind::All => Quantifier::All,
                        QuantifiedPredicateKind::Any => Quantifier::Any,
                        QuantifiedPredicateKind::None => Quantifier::None,
                        QuantifiedPredicateKind::Single => Quantifier::Single,
                        _ => return Err(unsupported("this quantifier", expr.span)),
                    };
                    Ok((
                        Expression::Quantified {
                            kind,
                            slot,
                            list: Box::new(list),
                            predicate: Box::new(predicate),
                        },
                        Kind::Boolean,
                    ))
                })
            }
            ExprKind::Reduce(reduce) => {
                let (initial, _) = self.expression(&reduce.initial)?;
                let (list, kind) = self.typed(&reduce.list, Takes::List)?;
                self.each_item(|binder| {
                    let accumulator = binder.local(&reduce.accumulator, Kind::Any);
                    let slot = binder.local(&reduce.variable, item_kind(&kind));
                    let (expression, _) = binder.expression(&reduce.expression)?;
                    Ok((
                        Expression::Reduce {
                            accumulator,
                            initial: Box::new(initial),
                            slot,
                            list: Box::new(list),
                            expression: Box::new(expression),
                        },
                        Kind::Any,
                    ))
                })
            }
            ExprKind::MapProjection(projection) => {
                let (base, kind) = self.typed(&projection.base, Takes::HasProperties)?;
                let (mut has_all, mut entries) = (false, Vec::new());
                for item in &projection.items {
                    match &item.kind {
                        MapProjectionItemKind::AllProperties => has_all = true,
                        MapProjectionItemKind::Property(key) => {
                            let property = self.key(key, &kind)?;
                            let name = Arc::clone(&property.name);
                            let value = Expression::Property(Box::new(base.clone()), property);
                            entries.push((name, value));
                        }
                        MapProjectionItemKind::Variable(name) => {
                            let value = self.variable(name)?.0;
                            entries.push((Arc::from(name.kind.text.as_str()), value));
                        }
                        MapProjectionItemKind::Entry(entry) => {
                            let value = self.expression(&entry.value)?.0;
                            entries.push((Arc::from(entry.key.kind.text.as_str()), value));
                        }
                        _ => return Err(unsupported("this part of a map", item.span)),
                    }
                }
                let base = Box::new(base);
                Ok((
                    Expression::MapProjection {
                        base,
                        has_all,
                        entries,
                    },
                    Kind::Map,
                ))
            }
            ExprKind::PatternComprehension(comprehension) => {
                self.pattern_comprehension(comprehension)
            }
            ExprKind::Pattern(_) => Err(CypherError::syntax(
                "UnexpectedSyntax",
                "a pattern is a condition and has no value; write exists(…), size([… | 1]) or COUNT { … }",
            )
            .at(span(expr.span))),
            ExprKind::Subquery(subquery) => {
                let plan = Box::new(self.inner_query(&subquery.query)?);
                match subquery.kind.kind {
                    SubqueryExpressionKind::Exists => {
                        Ok((Expression::ExistsQuery(plan), Kind::Boolean))
                    }
                    SubqueryExpressionKind::Count => {
                        Ok((Expression::CountQuery(plan), Kind::Integer))
                    }
                    SubqueryExpressionKind::Collect if plan.columns.len() == 1 => {
                        Ok((Expression::CollectQuery(plan), Kind::list_of(Kind::Any)))
                    }
                    _ => Err(CypherError::syntax(
                        "UnexpectedSyntax",
                        "COLLECT takes a query that returns one column",
                    )
                    .at(span(expr.span))),
                }
            }
            ExprKind::Wildcard => Err(unsupported("* here", expr.span)),
            _ => Err(unsupported("this expression", expr.span)),
        }
    }

    /// An expression that is true, false or null; patterns may be conditions.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Expression> {
        match &expr.kind {
            ExprKind::Pattern(pattern) => self.pattern_exists(pattern),
            ExprKind::Parenthesized(inner) => self.condition(inner),
            ExprKind::Unary { operator, operand } if operator.kind == UnaryOperator::Not => {
                Ok(Expression::Not(Box::new(self.condition(operand)?)))
            }
            ExprKind::Binary {
                left,
                operator,
                right,
            } if logic_of(operator.kind).is_some() => {
                let logic = logic_of(operator.kind).expect("just seen");
                let (left, right) = (self.condition(left)?, self.condition(right)?);
                Ok(Expression::Logic(logic, Box::new(left), Box::new(right)))
            }
            _ => Ok(self.typed(expr, Takes::Boolean)?.0),
        }
    }

    /// An expression whose type, as far as it is known, has to fit.
    pub(super) fn typed(&mut self, expr: &Expr, takes: Takes) -> Result<Typed> {
        let (bound, kind) = self.expression(expr)?;
        if kind.fits(takes) {
            Ok((bound, kind))
        } else {
            Err(mismatch(takes, &kind, expr))
        }
    }

    fn variable(&mut self, name: &Name) -> Result<Typed> {
        match self.scope.find(&name.kind.text) {
            Some(variable) => Ok((Expression::Slot(variable.slot), variable.kind.clone())),
            None => Err(self.undefined(name)),
        }
    }

    /// Binds what is evaluated for each item of a list, where no aggregate can stand.
    fn each_item<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let aggregation = std::mem::replace(&mut self.aggregation, Aggregation::Refused);
        let bound = self.within(bind);
        self.aggregation = aggregation;
        bound
    }

    /// A variable of a comprehension, which may hide another one.
    fn local(&mut self, name: &Name, kind: Kind) -> usize {
        let slot = self.new_slot();
        self.scope.add(&name.kind.text, slot, kind);
        slot
    }

    fn property(&mut self, expression: &Expr, key: &Name) -> Result<Typed> {
        let (inner, kind) = self.expression(expression)?;
        let has_parts = matches!(kind, Kind::Temporal | Kind::Duration);
        if !kind.fits(Takes::HasProperties) && !has_parts {
            return Err(type_error(Takes::HasProperties, &kind, expression));
        }
        let key = self.key(key, &kind)?;
        Ok((Expression::Property(Box::new(inner), key), Kind::Any))
    }

    /// A property's number. Of a map everything may be asked; of a node only what the graph can have.
    pub(super) fn key(&self, name: &Name, of: &Kind) -> Result<Key> {
        let resolved = match (self.graph.key(&name.kind.text), of) {
            (found, Kind::Node | Kind::Relationship) => found,
            (Resolved::Unknown(_), _) => Resolved::Absent,
            (found, _) => found,
        };
        Ok(Key {
            name: Arc::from(name.kind.text.as_str()),
            id: known(resolved, "property", name)?.unwrap_or(u32::MAX),
        })
    }

    pub(super) fn label_test(&self, labels: &LabelExpression, kind: &Kind) -> Result<LabelTest> {
        let all = |parts: &[LabelExpression]| -> Result<Vec<LabelTest>> {
            let parts = parts.iter();
            parts.map(|part| self.label_test(part, kind)).collect()
        };
        Ok(match &labels.kind {
            LabelExpressionKind::Name(name) => {
                let label = self.graph.label(&name.kind.text);
                let of_type = self.graph.relationship_type(&name.kind.text);
                match kind {
                    Kind::Node => LabelTest::Name(known(label, "label", name)?, None),
                    Kind::Relationship => {
                        LabelTest::Name(None, known(of_type, "relationship type", name)?)
                    }
                    _ => LabelTest::Name(maybe(label), maybe(of_type)),
                }
            }
            LabelExpressionKind::Wildcard => LabelTest::Any,
            LabelExpressionKind::Not(inner) => {
                LabelTest::Not(Box::new(self.label_test(inner, kind)?))
            }
            LabelExpressionKind::And(parts) => LabelTest::And(all(parts)?),
            LabelExpressionKind::Or(parts) => LabelTest::Or(all(parts)?),
            LabelExpressionKind::Parenthesized(inner) => self.label_test(inner, kind)?,
            _ => return Err(unsupported("this label", labels.span)),
        })
    }

    fn case(&mut self, case: &CaseExpression) -> Result<Typed> {
        let operand = case.operand.as_deref();
        let operand = operand
            .map(|operand| self.expression(operand).map(|bound| Box::new(bound.0)))
            .transpose()?;
        let mut of = Kind::Null;
        let mut branches = Vec::new();
        for alternative in &case.alternatives {
            let mut when = Vec::new();
            for test in &alternative.when {
                when.push(match operand {
                    Some(_) => self.expression(test)?.0,
                    None => self.condition(test)?,
                });
            }
            let (then, kind) = self.expression(&alternative.then)?;
            of = of.or(kind);
            branches.push((when, then));
        }
        let otherwise = match &case.else_expression {
            Some(otherwise) => {
                let (otherwise, kind) = self.expression(otherwise)?;
                of = of.or(kind);
                Some(Box::new(otherwise))
            }
            None => None,
        };
        let bound = Expression::Case {
            operand,
            branches,
            otherwise,
        };
        Ok((bound, of))
    }
}

fn maybe<T>(resolved: Resolved<T>) -> Option<T> {
    match resolved {
        Resolved::Known(id) => Some(id),
        _ => None,
    }
}

fn item_kind(list: &Kind) -> Kind {
    match list {
        Kind::List(of) if **of != Kind::Null => (**of).clone(),
        _ => Kind::Any,
    }
}

/// openCypher counts most arguments of the wrong type as mistakes of the text.
pub(super) fn mismatch(takes: Takes, kind: &Kind, expr: &Expr) -> CypherError {
    CypherError::syntax(
        "InvalidArgumentType",
        format!("this takes {}, not {}", takes.name(), kind.name()),
    )
    .at(span(expr.span))
}

fn type_error(takes: Takes, kind: &Kind, expr: &Expr) -> CypherError {
    CypherError {
        kind: ErrorKind::TypeError,
        ..mismatch(takes, kind, expr)
    }
}
