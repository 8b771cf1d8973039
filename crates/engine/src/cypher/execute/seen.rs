use rustc_hash::FxHashSet;

use super::budget::Budget;
use crate::cypher::error::Result;
use crate::cypher::plan::Slot;
use crate::cypher::value::{Group, Value};

/// Rows or values that came before. Nodes alone, the most frequent case, are kept as numbers.
#[derive(Debug, Default)]
pub(super) struct Seen {
    nodes: FxHashSet<u64>,
    groups: FxHashSet<Group>,
}

impl Seen {
    /// Adds the values of these slots; whether they are new.
    pub(super) fn insert(
        &mut self,
        row: &[Value],
        slots: &[Slot],
        budget: &Budget,
    ) -> Result<bool> {
        if let [slot] = slots {
            return self.insert_value(&row[*slot], budget);
        }
        self.insert_group(
            slots.iter().map(|slot| row[*slot].clone()).collect(),
            budget,
        )
    }

    /// Adds a value; whether it is new.
    pub(super) fn insert_value(&mut self, value: &Value, budget: &Budget) -> Result<bool> {
        if let Value::Node(id) = value {
            let is_new = self.nodes.insert(id.0);
            if is_new {
                budget.hold(16)?;
            }
            return Ok(is_new);
        }
        self.insert_group(vec![value.clone()], budget)
    }

    fn insert_group(&mut self, values: Vec<Value>, budget: &Budget) -> Result<bool> {
        let bytes: u64 = values.iter().map(Value::bytes).sum();
        let is_new = self.groups.insert(Group(values));
        if is_new {
            budget.hold(bytes + 40)?;
        }
        Ok(is_new)
    }
}
