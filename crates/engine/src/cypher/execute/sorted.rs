//! Rows in the order of their keys.

use std::cmp::Ordering;

use super::{Executor, Row};
use crate::cypher::budget::Budget;
use crate::cypher::error::Result;
use crate::cypher::plan::{Slot, SortKey};
use crate::cypher::value::{Value, order};

/// Keys and values of a row.
type Keyed = (Vec<Value>, Vec<Value>);

/// Rows that are sorted without a look at the clock.
const RUN: usize = 8_192;

/// Rows by their sort keys; when only the first few are asked for, only about as many are held.
pub(super) struct Sorted<'p> {
    keys: &'p [SortKey],
    rows: Vec<Keyed>,
    most: Option<u64>,
    /// Bytes of the rows that are held.
    held: u64,
}

impl<'p> Sorted<'p> {
    pub(super) fn new(keys: &'p [SortKey], most: Option<u64>) -> Self {
        Self {
            keys,
            rows: Vec::new(),
            most,
            held: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        executor: &Executor<'_>,
        live: &[Slot],
        row: &mut Row,
    ) -> Result<()> {
        let keys = self
            .keys
            .iter()
            .map(|key| executor.value(&key.expression, row))
            .collect::<Result<Vec<_>>>()?;
        let values: Vec<Value> = live.iter().map(|slot| row[*slot].clone()).collect();
        let bytes = bytes_of(&keys, &values);
        self.rows.push((keys, values));
        self.held += bytes;
        executor.budget.hold(bytes)?;
        if let Some(most) = self.most
            && (self.rows.len() as u64) > most.saturating_mul(2).saturating_add(1_000)
        {
            self.sort(executor.budget)?;
            self.rows.truncate(most as usize);
            let kept = self
                .rows
                .iter()
                .map(|(keys, values)| bytes_of(keys, values))
                .sum();
            executor.budget.release(self.held - kept);
            self.held = kept;
        }
        Ok(())
    }

    /// Runs are sorted, then merged two by two; equal rows stay as they came.
    fn sort(&mut self, budget: &Budget) -> Result<()> {
        let mut runs = Vec::new();
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        loop {
            let mut run: Vec<Keyed> = rows.by_ref().take(RUN).collect();
            if run.is_empty() {
                break;
            }
            run.sort_by(|a, b| self.order(a, b));
            budget.look()?;
            runs.push(run);
        }
        while runs.len() > 1 {
            let mut merged = Vec::new();
            let mut runs_left = runs.into_iter();
            while let Some(left) = runs_left.next() {
                merged.push(match runs_left.next() {
                    Some(right) => self.merge(left, right, budget)?,
                    None => left,
                });
            }
            runs = merged;
        }
        self.rows = runs.pop().unwrap_or_default();
        Ok(())
    }

    fn merge(&self, left: Vec<Keyed>, right: Vec<Keyed>, budget: &Budget) -> Result<Vec<Keyed>> {
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            budget.tick()?;
            let next = if self.order(a, b).is_le() {
                left.next()
            } else {
                right.next()
            };
            merged.extend(next);
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }

    fn order(&self, (left, _): &Keyed, (right, _): &Keyed) -> Ordering {
        for ((key, a), b) in self.keys.iter().zip(left).zip(right) {
            let by_key = compare(key, a, b);
            if by_key != Ordering::Equal {
                return by_key;
            }
        }
        Ordering::Equal
    }

    pub(super) fn finish(mut self, budget: &Budget) -> Result<Vec<Keyed>> {
        self.sort(budget)?;
        Ok(self.rows)
    }
}

fn bytes_of(keys: &[Value], values: &[Value]) -> u64 {
    keys.iter().chain(values).map(Value::bytes).sum::<u64>() + 48
}

fn compare(key: &SortKey, left: &Value, right: &Value) -> Ordering {
    if let Some(nulls_first) = key.nulls_first
        && left.is_null() != right.is_null()
    {
        return if left.is_null() == nulls_first {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    let by_value = order(left, right);
    if key.is_descending {
        by_value.reverse()
    } else {
        by_value
    }
}
