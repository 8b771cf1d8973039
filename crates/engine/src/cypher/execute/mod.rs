//! Plan → rows. Rows are pushed from the first operator to the last one by one; only sorting, grouping and
//! `DISTINCT` hold rows back.

mod aggregate;
mod arithmetic;
mod ends;
mod evaluate;
mod list;
mod matching;
mod operators;
mod pattern;
mod seen;
mod shortest;
mod sorted;
mod walk;

use std::cell::{Cell, RefCell};

use pattern::Pattern;
use seen::Seen;

use super::bind::Bound;
use super::budget::Budget;
use super::error::Result;
use super::functions::Context;
use super::graph::{Expansion, Flow, PropertyGraph};
use super::plan::{ExpansionPlan, Plan, Slot};
use super::value::Value;

/// Values by slot.
type Row = Vec<Value>;
/// Takes a row and says whether more are wanted.
type Sink<'s> = &'s mut dyn FnMut(&mut Row) -> Result<Flow>;

struct Executor<'g> {
    graph: &'g dyn PropertyGraph,
    expansions: Vec<Box<dyn Expansion + 'g>>,
    expansion_plans: &'g [ExpansionPlan],
    context: Context<'g>,
    budget: &'g Budget,
    /// The last regular expression.
    pattern: RefCell<Option<Pattern>>,
}

/// Runs a plan; `sink` gets the values of each row in the order of the columns.
pub(super) fn execute(
    bound: &Bound,
    graph: &dyn PropertyGraph,
    now: i128,
    budget: &Budget,
    sink: &mut dyn FnMut(&[Value]) -> Result<Flow>,
) -> Result<()> {
    let executor = Executor {
        graph,
        expansions: bound
            .expansions
            .iter()
            .map(|plan| graph.expansion(plan.types.as_deref(), plan.direction))
            .collect(),
        expansion_plans: &bound.expansions,
        context: Context {
            graph,
            now,
            random: Cell::new(0),
            budget,
        },
        budget,
        pattern: RefCell::new(None),
    };
    let mut row = vec![Value::Null; bound.slots];
    let mut rows = 0;
    let mut values = Vec::new();
    executor.plan(&bound.plan, &mut row, &mut |row, outputs| {
        rows += 1;
        if rows > budget.limits.rows {
            return Err(budget.too_many_rows());
        }
        values.clear();
        values.extend(outputs.iter().map(|slot| row[*slot].clone()));
        sink(&values)
    })?;
    Ok(())
}

impl Executor<'_> {
    /// Runs a query or an inner one on the row around it.
    fn plan(
        &self,
        plan: &Plan,
        row: &mut Row,
        sink: &mut dyn FnMut(&mut Row, &[Slot]) -> Result<Flow>,
    ) -> Result<()> {
        let mut seen = Seen::default();
        let mut is_over = false;
        for branch in &plan.branches {
            self.operators(&branch.operators, row, &mut |row| {
                if !plan.keeps_equal_rows && !seen.insert(row, &branch.outputs, self.budget)? {
                    return Ok(Flow::Continue);
                }
                let flow = sink(row, &branch.outputs)?;
                is_over = flow == Flow::Stop;
                Ok(flow)
            })?;
            if is_over {
                break;
            }
        }
        Ok(())
    }
}
