use std::sync::Arc;

use open_cypher::ast::{
    Expr, Name, NullOrder, OrderBy, ProjectionClause, ProjectionItem, ProjectionItemKind,
    SetQuantifier, SortDirection,
};

use super::aggregation::over_groups;
use super::kind::Kind;
use super::rewrite::replace;
use super::scope::Scope;
use super::{Aggregation, Binder, span};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::plan::{Aggregate, Expression, Operator, Slot, SortKey};

/// An item of a projection, bound.
struct Item {
    name: Arc<str>,
    expression: Expression,
    kind: Kind,
    slot: Slot,
    is_aggregate: bool,
}

/// Aggregates with the slots that take them.
type Aggregates = Vec<(Aggregate, Slot)>;

/// `WITH` needs names for what it computes, `RETURN` takes its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Required,
    ByText,
}

impl Binder<'_> {
    /// `WITH` or `RETURN`: after it only its items are in scope. `where_clause` is `WITH`'s.
    pub(super) fn projection(
        &mut self,
        projection: &ProjectionClause,
        where_clause: Option<&Expr>,
        naming: Naming,
        out: &mut Vec<Operator>,
    ) -> Result<()> {
        let (items, aggregates) = self.items(projection, naming)?;
        let before = std::mem::take(&mut self.scope);
        let is_distinct = projection
            .quantifier
            .as_ref()
            .is_some_and(|quantifier| quantifier.kind == SetQuantifier::Distinct);
        let aggregates_any = !aggregates.is_empty();
        let rows = before.slots();
        let mut after = Scope::default();
        for item in &items {
            after.add(&item.name, item.slot, item.kind.clone());
        }
        let mut aggregates = aggregates;
        let keys = match &projection.order_by {
            Some(order_by) => self.sort_keys(
                order_by,
                &items,
                &before,
                &after,
                &mut aggregates,
                (aggregates_any, is_distinct),
            )?,
            None => Vec::new(),
        };
        project(items, aggregates, &rows, out)?;
        let slots = after.slots();
        if is_distinct {
            out.push(Operator::Distinct(slots.clone()));
        }
        self.scope = Scope::default();
        let skip = projection.skip.as_ref().or(projection.offset.as_ref());
        let skip = skip.map(|expr| self.row_count(expr)).transpose()?;
        let limit = projection.limit.as_ref();
        let limit = limit.map(|expr| self.row_count(expr)).transpose()?;
        if !keys.is_empty() {
            out.push(Operator::Sort {
                keys,
                limit: limit.clone().map(|limit| Box::new((skip.clone(), limit))),
                live: if where_clause.is_some() {
                    slots.into_iter().chain(rows).collect()
                } else {
                    slots
                },
            });
        }
        out.extend(skip.map(Operator::Skip));
        out.extend(limit.map(Operator::Limit));
        // WITH's condition may also read what was there before, where each row still is one of those.
        if !aggregates_any && !is_distinct {
            self.scope = before;
            for variable in after.variables() {
                self.scope
                    .add(&variable.name, variable.slot, variable.kind.clone());
            }
        } else {
            self.scope = after.clone();
        }
        if let Some(predicate) = where_clause {
            out.push(Operator::Filter(self.condition(predicate)?));
        }
        self.scope = after;
        Ok(())
    }

    /// A number of rows: it can read nothing of a row.
    fn row_count(&mut self, expr: &Expr) -> Result<Expression> {
        let (bound, kind) = self.expression(expr).map_err(|error| {
            if error.detail == "UndefinedVariable" {
                CypherError::syntax(
                    "NonConstantExpression",
                    "SKIP and LIMIT can not depend on a row",
                )
                .at(span(expr.span))
            } else {
                error
            }
        })?;
        let wrong = match &bound {
            Expression::Constant(crate::cypher::value::Value::Integer(count)) => {
                (*count < 0).then_some("NegativeIntegerArgument")
            }
            Expression::Negate(_) => Some("NegativeIntegerArgument"),
            _ if kind.is_known() && kind != Kind::Integer => Some("InvalidArgumentType"),
            _ => None,
        };
        // What a parameter holds shows when the query runs.
        let is_parameter = matches!(expr.kind, open_cypher::ast::ExprKind::Parameter(_));
        match wrong {
            Some(detail) if !is_parameter => Err(CypherError::syntax(
                detail,
                "a number of rows is an integer of 0 or more",
            )
            .at(span(expr.span))),
            _ => Ok(bound),
        }
    }

    fn items(
        &mut self,
        projection: &ProjectionClause,
        naming: Naming,
    ) -> Result<(Vec<Item>, Aggregates)> {
        self.aggregation = Aggregation::Collected(Vec::new());
        let mut items: Vec<Item> = Vec::new();
        for item in &projection.items {
            let bound = self.item(item, naming, &mut items);
            if bound.is_err() {
                self.aggregation = Aggregation::Refused;
            }
            bound?;
        }
        let Aggregation::Collected(aggregates) =
            std::mem::replace(&mut self.aggregation, Aggregation::Refused)
        else {
            unreachable!("set above, and put back by all that change it");
        };
        Ok((items, aggregates))
    }

    fn item(&mut self, item: &ProjectionItem, naming: Naming, items: &mut Vec<Item>) -> Result<()> {
        let (expression, alias) = match &item.kind {
            ProjectionItemKind::Wildcard => {
                if self.scope.variables().is_empty() && naming == Naming::ByText {
                    return Err(CypherError::syntax(
                        "NoVariablesInScope",
                        "there is nothing that * could stand for",
                    )
                    .at(span(item.span)));
                }
                for variable in self.scope.variables() {
                    items.push(Item {
                        name: Arc::clone(&variable.name),
                        expression: Expression::Slot(variable.slot),
                        kind: variable.kind.clone(),
                        slot: variable.slot,
                        is_aggregate: false,
                    });
                }
                return Ok(());
            }
            ProjectionItemKind::Expression { expression, alias } => (expression, alias),
            _ => return Err(super::unsupported("this item", item.span)),
        };
        let Aggregation::Collected(before) = &self.aggregation else {
            unreachable!("set by items");
        };
        let before = before.len();
        let (bound, kind) = self.expression(expression)?;
        let Aggregation::Collected(collected) = &self.aggregation else {
            unreachable!("put back by every aggregate");
        };
        let mut is_aggregate = collected.len() > before;
        bound.each_slot(&mut |slot| {
            is_aggregate |= collected.iter().any(|(_, of)| *of == slot);
        });
        let name: Arc<str> = match (alias, &expression.kind) {
            (Some(alias), _) => Arc::from(alias.kind.text.as_str()),
            (None, open_cypher::ast::ExprKind::Variable(name)) => {
                Arc::from(name.kind.text.as_str())
            }
            (None, _) if naming == Naming::Required => {
                return Err(CypherError::syntax(
                    "NoExpressionAlias",
                    "what WITH computes needs a name: add AS …",
                )
                .at(span(expression.span)));
            }
            (None, _) => Arc::from(expression.span.text(self.source).unwrap_or_default()),
        };
        if items.iter().any(|known| known.name == name) {
            let at = alias
                .as_ref()
                .map_or(expression.span, |alias: &Name| alias.span);
            return Err(CypherError::syntax(
                "ColumnNameConflict",
                format!("two columns are named {name}"),
            )
            .at(span(at)));
        }
        let slot = self.new_slot();
        items.push(Item {
            name,
            expression: bound,
            kind,
            slot,
            is_aggregate,
        });
        Ok(())
    }

    fn sort_keys(
        &mut self,
        order_by: &OrderBy,
        items: &[Item],
        before: &Scope,
        after: &Scope,
        aggregates: &mut Vec<(Aggregate, Slot)>,
        (aggregates_any, is_distinct): (bool, bool),
    ) -> Result<Vec<SortKey>> {
        // Names of the projection hide those before it.
        let mut scope = before.clone();
        for variable in after.variables() {
            scope.add(&variable.name, variable.slot, variable.kind.clone());
        }
        self.scope = scope;
        let rows: Vec<Slot> = before
            .slots()
            .into_iter()
            .filter(|slot| !items.iter().any(|item| item.slot == *slot))
            .collect();
        let mut keys = Vec::new();
        for item in &order_by.items {
            self.aggregation = if aggregates_any {
                Aggregation::Collected(std::mem::take(aggregates))
            } else {
                Aggregation::Refused
            };
            let known = match &self.aggregation {
                Aggregation::Collected(collected) => collected.len(),
                _ => 0,
            };
            let bound = self.expression(&item.expression);
            if let Aggregation::Collected(collected) =
                std::mem::replace(&mut self.aggregation, Aggregation::Refused)
            {
                *aggregates = collected;
            }
            let (mut expression, _) = bound?;
            let undefined = || {
                CypherError::syntax(
                    "UndefinedVariable",
                    "after an aggregation or DISTINCT only what is projected can be sorted by",
                )
                .at(span(item.expression.span))
            };
            if aggregates_any || is_distinct {
                for (aggregate, _) in &aggregates[known.min(aggregates.len())..] {
                    let mut reads = false;
                    for argument in &aggregate.arguments {
                        argument.each_slot(&mut |_| reads = true);
                    }
                    if reads {
                        return Err(undefined());
                    }
                }
                let whole = items.iter().find(|item| item.expression == expression);
                if let Some(whole) = whole {
                    expression = Expression::Slot(whole.slot);
                } else {
                    replace(&mut expression, &mut |part| {
                        let is_simple = match part {
                            Expression::Slot(_) => true,
                            Expression::Property(of, _) => matches!(**of, Expression::Slot(_)),
                            _ => false,
                        };
                        let item = items
                            .iter()
                            .find(|item| is_simple && item.expression == *part);
                        item.map(|item| Expression::Slot(item.slot))
                    });
                }
                let mut is_lost = false;
                expression.each_slot(&mut |slot| is_lost |= rows.contains(&slot));
                if is_lost {
                    return Err(undefined());
                }
            }
            keys.push(SortKey {
                expression,
                is_descending: item
                    .direction
                    .as_ref()
                    .is_some_and(|direction| direction.kind == SortDirection::Descending),
                nulls_first: item
                    .nulls
                    .as_ref()
                    .map(|nulls| nulls.kind == NullOrder::First),
            });
        }
        Ok(keys)
    }
}

/// Without aggregates one step; with them the groups first, then what is computed from them.
fn project(
    items: Vec<Item>,
    aggregates: Vec<(Aggregate, Slot)>,
    rows: &[Slot],
    out: &mut Vec<Operator>,
) -> Result<()> {
    if aggregates.is_empty() {
        out.push(Operator::Project(
            items
                .into_iter()
                .filter(|item| item.expression != Expression::Slot(item.slot))
                .map(|item| (item.expression, item.slot))
                .collect(),
        ));
        return Ok(());
    }
    let (over, keys): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| item.is_aggregate);
    let keys: Vec<(Expression, Slot)> = keys
        .into_iter()
        .map(|item| (item.expression, item.slot))
        .collect();
    let computed = over
        .into_iter()
        .map(|item| Ok((over_groups(item.expression, &keys, rows)?, item.slot)))
        .collect::<Result<Vec<_>>>()?;
    out.push(Operator::Aggregate { keys, aggregates });
    out.push(Operator::Project(computed));
    Ok(())
}
