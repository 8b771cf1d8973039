use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::cypher::budget::Budget;
use crate::cypher::error::Result;
use crate::cypher::plan::Slot;
use crate::cypher::value::{Group, NodeId, Value};

/// Rows or values that came before. Nodes and strings alone, the most frequent cases, are kept as numbers and as they are.
#[derive(Debug, Default)]
pub(super) struct Seen {
    nodes: Nodes,
    strings: FxHashSet<Arc<str>>,
    groups: FxHashSet<Group>,
}

/// So many nodes are a set; past it the small numbers among them become bits.
const FEW: usize = 512;
/// Numbers below this can be bits: half a megabyte at most.
const MOST_BITS: u64 = 1 << 22;

#[derive(Debug, Default)]
struct Nodes {
    set: FxHashSet<u64>,
    /// Of the numbers that fit.
    bits: Vec<u64>,
}

impl Nodes {
    /// Adds a node; whether it is new.
    fn insert(&mut self, id: u64, budget: &Budget) -> Result<bool> {
        if let Some(bits) = self.bits.get_mut((id / 64) as usize) {
            let bit = 1 << (id % 64);
            let is_new = *bits & bit == 0;
            *bits |= bit;
            return Ok(is_new);
        }
        let is_new = self.set.insert(id);
        if is_new {
            budget.hold(16)?;
            if self.bits.is_empty() && self.set.len() == FEW {
                self.spread(budget)?;
            }
        }
        Ok(is_new)
    }

    fn spread(&mut self, budget: &Budget) -> Result<()> {
        let small = self.set.iter().filter(|id| **id < MOST_BITS);
        let Some(most) = small.max() else {
            return Ok(());
        };
        let words = (most + 1).next_power_of_two().div_ceil(64);
        budget.hold(words * 8)?;
        self.bits = vec![0; words as usize];
        let bits = &mut self.bits;
        self.set
            .retain(|id| match bits.get_mut((*id / 64) as usize) {
                Some(bits) => {
                    *bits |= 1 << (*id % 64);
                    false
                }
                None => true,
            });
        Ok(())
    }
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
        match value {
            Value::Node(id) => self.nodes.insert(id.0, budget),
            Value::String(text) => {
                let is_new = self.strings.insert(Arc::clone(text));
                if is_new {
                    budget.hold(value.bytes() + 24)?;
                }
                Ok(is_new)
            }
            value => self.insert_group(vec![value.clone()], budget),
        }
    }

    /// Adds nodes; how many of them are new.
    pub(super) fn insert_nodes(&mut self, nodes: &[NodeId], budget: &Budget) -> Result<u64> {
        let mut new = 0;
        for node in nodes {
            new += u64::from(self.nodes.insert(node.0, budget)?);
        }
        Ok(new)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cypher::budget::Limits;

    #[test]
    fn nodes_are_new_once_also_past_a_few() {
        let budget = Budget::new(Limits::default());
        let mut nodes = Nodes::default();
        let large = 3 << 60;
        // Every third number, then all of them, small and large.
        for id in (0..3_000).step_by(3) {
            assert!(nodes.insert(id, &budget).unwrap(), "{id}");
        }
        for id in (0..6_000).chain(large..large + 1_000) {
            let is_new = id % 3 != 0 || (3_000..6_000).contains(&id) || id >= large;
            assert_eq!(nodes.insert(id, &budget).unwrap(), is_new, "{id}");
            assert!(!nodes.insert(id, &budget).unwrap(), "{id}");
        }
    }
}
