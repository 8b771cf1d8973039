use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::arithmetic::add;
use super::seen::Seen;
use super::{Executor, Row};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::graph::Flow;
use crate::cypher::plan::{Aggregate, AggregateKind, Expression, Slot};
use crate::cypher::temporal::scaled;
use crate::cypher::value::{Group, NodeId, Value, order};

/// Rows that share their keys, in the order of their first.
pub(super) struct Groups<'p> {
    keys: &'p [(Expression, Slot)],
    aggregates: &'p [(Aggregate, Slot)],
    places: FxHashMap<Group, usize>,
    opened: Vec<(Vec<Value>, Vec<Accumulator>)>,
    /// Group of the row before: the next one is most often of the same.
    last: usize,
    /// Keys of the row at hand.
    values: Vec<Value>,
}

impl<'p> Groups<'p> {
    pub(super) fn new(keys: &'p [(Expression, Slot)], aggregates: &'p [(Aggregate, Slot)]) -> Self {
        let mut groups = Self {
            keys,
            aggregates,
            places: FxHashMap::default(),
            opened: Vec::new(),
            last: 0,
            values: Vec::new(),
        };
        // Without keys there is one group, also of no rows.
        if keys.is_empty() {
            groups.open(Vec::new());
        }
        groups
    }

    fn open(&mut self, values: Vec<Value>) -> usize {
        let accumulators = self.aggregates.iter();
        let accumulators = accumulators
            .map(|(aggregate, _)| Accumulator::new(aggregate.kind))
            .collect();
        self.opened.push((values, accumulators));
        self.opened.len() - 1
    }

    pub(super) fn add(&mut self, executor: &Executor<'_>, row: &mut Row) -> Result<()> {
        let place = self.place_of(executor, row)?;
        for (number, (aggregate, _)) in self.aggregates.iter().enumerate() {
            let accumulator = &mut self.opened[place].1[number];
            accumulator.add(executor, aggregate, row)?;
        }
        Ok(())
    }

    /// Adds nodes at once where every aggregate counts distinct nodes, these.
    pub(super) fn count_nodes(
        &mut self,
        executor: &Executor<'_>,
        row: &mut Row,
        nodes: &[NodeId],
    ) -> Result<()> {
        let place = self.place_of(executor, row)?;
        for accumulator in &mut self.opened[place].1 {
            accumulator.count += accumulator.seen.insert_nodes(nodes, executor.budget)?;
        }
        Ok(())
    }

    /// The group of a row.
    fn place_of(&mut self, executor: &Executor<'_>, row: &mut Row) -> Result<usize> {
        if self.keys.is_empty() {
            return Ok(0);
        }
        if self.is_of_last(row) {
            return Ok(self.last);
        }
        self.values.clear();
        for (key, _) in self.keys {
            self.values.push(executor.value(key, row)?);
        }
        self.place(executor)
    }

    /// Whether a row is of the group of the row before, as far as that can be seen without computing anything.
    fn is_of_last(&self, row: &Row) -> bool {
        self.opened.get(self.last).is_some_and(|(values, _)| {
            let mut pairs = self.keys.iter().zip(values);
            pairs.all(|((key, _), value)| match key {
                Expression::Slot(slot) => is_same(&row[*slot], value),
                _ => false,
            })
        })
    }

    /// The group of the values at hand.
    fn place(&mut self, executor: &Executor<'_>) -> Result<usize> {
        let group = Group(std::mem::take(&mut self.values));
        self.last = if let Some(place) = self.places.get(&group) {
            *place
        } else {
            let bytes: u64 = group.0.iter().map(Value::bytes).sum();
            executor
                .budget
                .hold(2 * bytes + 96 * (1 + self.aggregates.len() as u64))?;
            let place = self.open(group.0.clone());
            self.places.insert(group, place);
            place
        };
        Ok(self.last)
    }

    pub(super) fn each(
        self,
        row: &mut Row,
        visit: &mut dyn FnMut(&mut Row) -> Result<Flow>,
    ) -> Result<()> {
        for (values, accumulators) in self.opened {
            for ((_, slot), value) in self.keys.iter().zip(values) {
                row[*slot] = value;
            }
            for ((_, slot), accumulator) in self.aggregates.iter().zip(accumulators) {
                row[*slot] = accumulator.finish()?;
            }
            if visit(row)? == Flow::Stop {
                break;
            }
        }
        Ok(())
    }
}

/// Whether two values are one without a doubt: what a row hands on to the next.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(a), Value::String(b)) => Arc::ptr_eq(a, b),
        (Value::Node(a), Value::Node(b)) => a == b,
        (Value::Integer(a), Value::Integer(b)) => a == b,
        _ => false,
    }
}

/// One aggregate of one group.
struct Accumulator {
    kind: AggregateKind,
    seen: Seen,
    count: u64,
    value: Value,
    values: Vec<Value>,
    /// Which part of the values a percentile is.
    part: f64,
}

impl Accumulator {
    fn new(kind: AggregateKind) -> Self {
        Self {
            kind,
            seen: Seen::default(),
            count: 0,
            value: Value::Null,
            values: Vec::new(),
            part: 0.0,
        }
    }

    fn add(&mut self, executor: &Executor<'_>, aggregate: &Aggregate, row: &mut Row) -> Result<()> {
        let Some(argument) = aggregate.arguments.first() else {
            self.count += 1;
            return Ok(());
        };
        if let Some(part) = aggregate.arguments.get(1) {
            self.part = percentile(&executor.value(part, row)?)?;
        }
        // Counting nodes is frequent enough to spare the copy.
        if let (AggregateKind::Count, Expression::Slot(slot)) = (self.kind, argument) {
            let value = &row[*slot];
            let counts = !value.is_null()
                && (!aggregate.is_distinct || self.seen.insert_value(value, executor.budget)?);
            self.count += u64::from(counts);
            return Ok(());
        }
        let value = executor.value(argument, row)?;
        if value.is_null() {
            return Ok(());
        }
        if aggregate.is_distinct && !self.seen.insert_value(&value, executor.budget)? {
            return Ok(());
        }
        self.count += 1;
        match self.kind {
            AggregateKind::CountRows | AggregateKind::Count => {}
            AggregateKind::Sum | AggregateKind::Average => {
                check_summable(&value)?;
                self.value = if self.value.is_null() {
                    value
                } else {
                    add(&self.value, &value)?
                };
            }
            AggregateKind::Least => {
                if self.value.is_null() || order(&value, &self.value).is_lt() {
                    self.value = value;
                }
            }
            AggregateKind::Most => {
                if self.value.is_null() || order(&value, &self.value).is_gt() {
                    self.value = value;
                }
            }
            AggregateKind::Collect => {
                executor.budget.hold(value.bytes())?;
                self.values.push(value);
            }
            _ => {
                if value.as_number().is_none() {
                    return Err(CypherError::of_type(format!(
                        "this aggregates numbers, not {}",
                        value.type_name()
                    )));
                }
                executor.budget.hold(value.bytes())?;
                self.values.push(value);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Value> {
        Ok(match self.kind {
            AggregateKind::CountRows | AggregateKind::Count => Value::Integer(self.count as i64),
            AggregateKind::Sum if self.value.is_null() => Value::Integer(0),
            AggregateKind::Sum | AggregateKind::Least | AggregateKind::Most => self.value,
            AggregateKind::Average => match &self.value {
                Value::Duration(sum) => {
                    let mean = scaled(sum, 1.0 / self.count as f64)?;
                    Value::Duration(Arc::new(mean))
                }
                sum => sum
                    .as_number()
                    .map_or(Value::Null, |sum| Value::Float(sum / self.count as f64)),
            },
            AggregateKind::Collect => Value::list(self.values)?,
            AggregateKind::Deviation => deviation(&self.values, 1),
            AggregateKind::DeviationOfAll => deviation(&self.values, 0),
            AggregateKind::PercentileContinuous | AggregateKind::PercentileDiscrete => {
                let last = match self.values.len() {
                    0 => return Ok(Value::Null),
                    count => count - 1,
                };
                if self.kind == AggregateKind::PercentileDiscrete {
                    let place = (self.part * self.values.len() as f64).ceil() as usize;
                    let place = place.saturating_sub(1);
                    let (_, value, _) = self.values.select_nth_unstable_by(place, order);
                    return Ok(value.clone());
                }
                let place = self.part * last as f64;
                let (_, low, above) = self
                    .values
                    .select_nth_unstable_by(place.floor() as usize, order);
                let low = low.as_number().unwrap_or(0.0);
                let next = above.iter().min_by(|a, b| order(a, b));
                let next = next.and_then(Value::as_number).unwrap_or(low);
                Value::Float(low + (next - low) * (place - place.floor()))
            }
        })
    }
}

fn check_summable(value: &Value) -> Result<()> {
    match value {
        Value::Integer(_) | Value::Float(_) | Value::Duration(_) => Ok(()),
        other => Err(CypherError::of_type(format!(
            "numbers and durations can be summed, not {}",
            other.type_name()
        ))),
    }
}

fn percentile(value: &Value) -> Result<f64> {
    match value.as_number() {
        Some(part) if (0.0..=1.0).contains(&part) => Ok(part),
        Some(part) => Err(CypherError::argument(format!(
            "a percentile lies between 0.0 and 1.0, not at {part}"
        ))),
        None => Err(CypherError::of_type(format!(
            "a percentile is a number, not {}",
            value.type_name()
        ))),
    }
}

/// Standard deviation of a sample (`less` = 1) or of all (`less` = 0).
fn deviation(values: &[Value], less: usize) -> Value {
    if values.len() <= less {
        return Value::Float(0.0);
    }
    let numbers = || values.iter().filter_map(Value::as_number);
    let mean = numbers().sum::<f64>() / values.len() as f64;
    let squares: f64 = numbers()
        .map(|number| (number - mean) * (number - mean))
        .sum();
    Value::Float(libm::sqrt(squares / (values.len() - less) as f64))
}
