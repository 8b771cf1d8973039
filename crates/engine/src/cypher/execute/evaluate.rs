use std::cmp::Ordering;
use std::sync::Arc;

use super::arithmetic::{arithmetic, negate};
use super::list::{contains, items_of, place_in, slice, type_error};
use super::pattern::Pattern;
use super::{Executor, Row};
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::functions::properties;
use crate::cypher::graph::{Flow, Key, Resolved};
use crate::cypher::plan::{Comparison, Expression, LabelTest, Logic, Quantifier, TextTest};
use crate::cypher::temporal::component;
use crate::cypher::value::{Value, check_bytes, compare, equals};

impl Executor<'_> {
    /// Whether a condition is true; neither false nor null.
    pub(super) fn holds(&self, condition: &Expression, row: &mut Row) -> Result<bool> {
        Ok(self.truth(condition, row)? == Some(true))
    }

    fn truth(&self, condition: &Expression, row: &mut Row) -> Result<Option<bool>> {
        match self.value(condition, row)? {
            Value::Boolean(value) => Ok(Some(value)),
            Value::Null => Ok(None),
            other => Err(CypherError::runtime(
                ErrorKind::TypeError,
                "InvalidArgumentType",
                format!(
                    "a condition is true, false or null, not {}",
                    other.type_name()
                ),
            )),
        }
    }

    pub(super) fn value(&self, expression: &Expression, row: &mut Row) -> Result<Value> {
        Ok(match expression {
            Expression::Constant(value) => value.clone(),
            Expression::Slot(slot) => row[*slot].clone(),
            Expression::List(items) => {
                let items = items.iter().map(|item| self.value(item, row));
                Value::list(items.collect::<Result<_>>()?)?
            }
            Expression::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((Arc::clone(key), self.value(value, row)?)));
                Value::map(entries.collect::<Result<_>>()?)?
            }
            Expression::Property(of, key) => match &**of {
                Expression::Slot(slot) => self.property(&row[*slot], key)?,
                of => {
                    let of = self.value(of, row)?;
                    self.property(&of, key)?
                }
            },
            Expression::Index(of, index) => {
                let (of, index) = (self.value(of, row)?, self.value(index, row)?);
                self.index(&of, &index)?
            }
            Expression::Slice(list, lower, upper) => {
                let list = self.value(list, row)?;
                self.budget.weigh(&list)?;
                let mut bound = |part: &Option<Box<Expression>>| {
                    part.as_ref().map(|part| self.value(part, row)).transpose()
                };
                slice(&list, bound(lower)?, bound(upper)?)?
            }
            Expression::Not(inner) => boolean(self.truth(inner, row)?.map(|value| !value)),
            Expression::Negate(inner) => negate(&self.value(inner, row)?)?,
            Expression::Logic(logic, left, right) => self.logic(*logic, left, right, row)?,
            Expression::Compare(comparison, left, right) => {
                let (left, right) = self.both(left, right, row)?;
                compared(*comparison, &left, &right)
            }
            Expression::Arithmetic(operator, left, right) => {
                let (left, right) = self.both(left, right, row)?;
                arithmetic(*operator, &left, &right)?
            }
            Expression::In(item, list) => {
                let (item, list) = self.both(item, list, row)?;
                contains(&list, &item)?
            }
            Expression::Text(test, left, right) => {
                let (left, right) = self.both(left, right, row)?;
                self.text_test(*test, &left, &right)?
            }
            Expression::IsNull(inner) => Value::Boolean(self.value(inner, row)?.is_null()),
            Expression::HasLabels(inner, test) => {
                let value = self.value(inner, row)?;
                self.has_labels(&value, test)?
            }
            Expression::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.value(argument, row))
                    .collect::<Result<Vec<_>>>()?;
                if function.keeps_null && arguments.first().is_some_and(Value::is_null) {
                    return Ok(Value::Null);
                }
                for argument in &arguments {
                    self.budget.weigh(argument)?;
                }
                let value = (function.run)(&self.context, &arguments)?;
                check_bytes(value.bytes())?;
                value
            }
            Expression::Case {
                operand,
                branches,
                otherwise,
            } => self.case(operand.as_deref(), branches, otherwise.as_deref(), row)?,
            Expression::ListComprehension {
                slot,
                list,
                predicate,
                projection,
            } => {
                let list = self.value(list, row)?;
                let Some(items) = items_of(&list)? else {
                    return Ok(Value::Null);
                };
                let mut out = Vec::new();
                for item in items {
                    self.budget.tick()?;
                    row[*slot] = item.clone();
                    if let Some(predicate) = predicate
                        && !self.holds(predicate, row)?
                    {
                        continue;
                    }
                    out.push(match projection {
                        Some(projection) => self.value(projection, row)?,
                        None => item.clone(),
                    });
                }
                Value::list(out)?
            }
            Expression::Quantified {
                kind,
                slot,
                list,
                predicate,
            } => {
                let list = self.value(list, row)?;
                let Some(items) = items_of(&list)? else {
                    return Ok(Value::Null);
                };
                let (mut yes, mut no, mut unknown) = (0, 0, 0);
                for item in items {
                    self.budget.tick()?;
                    row[*slot] = item.clone();
                    match self.truth(predicate, row)? {
                        Some(true) => yes += 1,
                        Some(false) => no += 1,
                        None => unknown += 1,
                    }
                }
                boolean(match kind {
                    Quantifier::All if no > 0 => Some(false),
                    Quantifier::Any if yes > 0 => Some(true),
                    Quantifier::None if yes > 0 => Some(false),
                    Quantifier::Single if yes > 1 => Some(false),
                    _ if unknown > 0 => None,
                    Quantifier::All | Quantifier::None => Some(true),
                    Quantifier::Any => Some(false),
                    Quantifier::Single => Some(yes == 1),
                })
            }
            Expression::Reduce {
                accumulator,
                initial,
                slot,
                list,
                expression,
            } => {
                let initial = self.value(initial, row)?;
                let list = self.value(list, row)?;
                let Some(items) = items_of(&list)? else {
                    return Ok(Value::Null);
                };
                row[*accumulator] = initial;
                for item in items {
                    self.budget.tick()?;
                    row[*slot] = item.clone();
                    row[*accumulator] = self.value(expression, row)?;
                }
                row[*accumulator].clone()
            }
            Expression::MapProjection {
                base,
                has_all,
                entries,
            } => {
                let base = self.value(base, row)?;
                if base.is_null() {
                    return Ok(Value::Null);
                }
                let mut map = if *has_all {
                    properties(&self.context, &base)?
                } else {
                    std::collections::BTreeMap::new()
                };
                for (key, value) in entries {
                    map.insert(Arc::clone(key), self.value(value, row)?);
                }
                Value::map(map)?
            }
            Expression::Exists(matching) => {
                let mut is_found = false;
                self.matching(matching, row, &mut |_| {
                    is_found = true;
                    Ok(Flow::Stop)
                })?;
                Value::Boolean(is_found)
            }
            Expression::PatternComprehension {
                matching,
                projection,
            } => {
                let mut out = Vec::new();
                self.matching(matching, row, &mut |row| {
                    out.push(self.value(projection, row)?);
                    crate::cypher::value::check_items(out.len() as u64)?;
                    Ok(Flow::Continue)
                })?;
                Value::list(out)?
            }
            Expression::ExistsQuery(plan) => {
                let mut is_found = false;
                self.plan(plan, row, &mut |_, _| {
                    is_found = true;
                    Ok(Flow::Stop)
                })?;
                Value::Boolean(is_found)
            }
            Expression::CountQuery(plan) => {
                let mut rows = 0;
                self.plan(plan, row, &mut |_, _| {
                    rows += 1;
                    Ok(Flow::Continue)
                })?;
                Value::Integer(rows)
            }
            Expression::CollectQuery(plan) => {
                let mut out = Vec::new();
                self.plan(plan, row, &mut |row, outputs| {
                    out.push(row[outputs[0]].clone());
                    crate::cypher::value::check_items(out.len() as u64)?;
                    Ok(Flow::Continue)
                })?;
                Value::list(out)?
            }
        })
    }

    /// Both sides of an operator, whose work grows with them.
    fn both(&self, left: &Expression, right: &Expression, row: &mut Row) -> Result<(Value, Value)> {
        let (left, right) = (self.value(left, row)?, self.value(right, row)?);
        self.budget.weigh(&left)?;
        self.budget.weigh(&right)?;
        Ok((left, right))
    }

    fn logic(
        &self,
        logic: Logic,
        left: &Expression,
        right: &Expression,
        row: &mut Row,
    ) -> Result<Value> {
        let left = self.truth(left, row)?;
        let known = match (logic, left) {
            (Logic::And, Some(false)) => return Ok(Value::Boolean(false)),
            (Logic::Or, Some(true)) => return Ok(Value::Boolean(true)),
            _ => left,
        };
        let right = self.truth(right, row)?;
        Ok(boolean(match (logic, known, right) {
            (Logic::And, _, Some(false)) => Some(false),
            (Logic::Or, _, Some(true)) => Some(true),
            (_, Some(left), Some(right)) => Some(match logic {
                Logic::And => left && right,
                Logic::Or => left || right,
                Logic::Xor => left != right,
            }),
            _ => None,
        }))
    }

    fn case(
        &self,
        operand: Option<&Expression>,
        branches: &[(Vec<Expression>, Expression)],
        otherwise: Option<&Expression>,
        row: &mut Row,
    ) -> Result<Value> {
        let operand = operand
            .map(|operand| self.value(operand, row))
            .transpose()?;
        for (tests, then) in branches {
            for test in tests {
                let is_taken = match &operand {
                    Some(operand) => equals(operand, &self.value(test, row)?) == Some(true),
                    None => self.holds(test, row)?,
                };
                if is_taken {
                    return self.value(then, row);
                }
            }
        }
        otherwise.map_or(Ok(Value::Null), |otherwise| self.value(otherwise, row))
    }

    fn property(&self, of: &Value, key: &Key) -> Result<Value> {
        match of {
            Value::Null => Ok(Value::Null),
            Value::Node(id) => self.graph.node_property(*id, key),
            Value::Relationship(id) => self.graph.relationship_property(*id, key),
            Value::Map(_) => {
                let entry = of.as_map().and_then(|map| map.get(&key.name));
                Ok(entry.cloned().unwrap_or_default())
            }
            Value::Temporal(_) | Value::Duration(_) => {
                Ok(component(of, &key.name).unwrap_or_default())
            }
            other => Err(type_error(format!(
                "{} has no properties",
                other.type_name()
            ))),
        }
    }

    fn index(&self, of: &Value, index: &Value) -> Result<Value> {
        match (of, index) {
            (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
            (Value::List(_), Value::Integer(place)) => {
                let items = of.as_list().unwrap_or_default();
                Ok(place_in(*place, items.len())
                    .and_then(|place| items.get(place))
                    .cloned()
                    .unwrap_or_default())
            }
            (Value::Map(_) | Value::Node(_) | Value::Relationship(_), Value::String(name)) => {
                let id = match self.graph.key(name) {
                    Resolved::Known(id) => id,
                    _ => u32::MAX,
                };
                let key = Key {
                    name: Arc::clone(name),
                    id,
                };
                self.property(of, &key)
            }
            (Value::Map(_) | Value::Node(_) | Value::Relationship(_), _) => {
                Err(CypherError::runtime(
                    ErrorKind::TypeError,
                    "MapElementAccessByNonString",
                    format!("a property has a name, not {}", index.type_name()),
                ))
            }
            (Value::List(_), _) => Err(type_error(format!(
                "a place in a list is an integer, not {}",
                index.type_name()
            ))),
            _ => Err(type_error(format!("{} has no items", of.type_name()))),
        }
    }

    fn has_labels(&self, value: &Value, test: &LabelTest) -> Result<Value> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Node(_) | Value::Relationship(_) => {
                Ok(Value::Boolean(self.passes(value, test)?))
            }
            other => Err(type_error(format!("{} has no labels", other.type_name()))),
        }
    }

    fn passes(&self, value: &Value, test: &LabelTest) -> Result<bool> {
        Ok(match (test, value) {
            (LabelTest::Name(label, _), Value::Node(id)) => match label {
                Some(label) => self.graph.has_label(*id, *label)?,
                None => false,
            },
            (LabelTest::Name(_, kind), Value::Relationship(id)) => {
                kind.is_some_and(|kind| kind == self.graph.type_of(*id))
            }
            (LabelTest::Any, Value::Node(id)) => !self.graph.labels(*id)?.is_empty(),
            (LabelTest::Not(inner), _) => !self.passes(value, inner)?,
            (LabelTest::And(parts), _) => {
                for part in parts {
                    if !self.passes(value, part)? {
                        return Ok(false);
                    }
                }
                true
            }
            (LabelTest::Or(parts), _) => {
                for part in parts {
                    if self.passes(value, part)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => true,
        })
    }

    fn text_test(&self, test: TextTest, left: &Value, right: &Value) -> Result<Value> {
        let (Some(text), Some(other)) = (left.as_text(), right.as_text()) else {
            return Ok(Value::Null);
        };
        Ok(Value::Boolean(match test {
            TextTest::StartsWith => text.starts_with(other),
            TextTest::EndsWith => text.ends_with(other),
            TextTest::Contains => text.contains(other),
            TextTest::Matches => {
                let mut last = self.pattern.borrow_mut();
                let pattern = match last.take() {
                    Some(pattern) if pattern.is_of(other) => pattern,
                    _ => {
                        let pattern = Pattern::new(other)?;
                        self.budget.look()?;
                        pattern
                    }
                };
                last.insert(pattern).matches(text, self.budget)?
            }
        }))
    }
}

fn boolean(value: Option<bool>) -> Value {
    value.map_or(Value::Null, Value::Boolean)
}

fn compared(comparison: Comparison, left: &Value, right: &Value) -> Value {
    match comparison {
        Comparison::Equal => return boolean(equals(left, right)),
        Comparison::NotEqual => return boolean(equals(left, right).map(|value| !value)),
        _ => {}
    }
    let Some(ordering) = compare(left, right) else {
        // NaN is a number, and neither smaller nor larger than another.
        let are_numbers = left.as_number().is_some() && right.as_number().is_some();
        return if are_numbers {
            Value::Boolean(false)
        } else {
            Value::Null
        };
    };
    Value::Boolean(match comparison {
        Comparison::Less => ordering == Ordering::Less,
        Comparison::LessOrEqual => ordering != Ordering::Greater,
        Comparison::Greater => ordering == Ordering::Greater,
        _ => ordering != Ordering::Less,
    })
}
