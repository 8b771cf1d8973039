use super::aggregate::Groups;
use super::ends::CountedEnds;
use super::seen::Seen;
use super::sorted::Sorted;
use super::{Executor, Row, Sink};
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::graph::Flow;
use crate::cypher::plan::{Expression, Operator};
use crate::cypher::value::Value;

/// What an operator remembers from row to row.
enum State {
    Nothing,
    Seen(Seen),
    /// Rows still to be skipped or passed.
    Left(u64),
}

impl Executor<'_> {
    /// Runs operators from the first; what holds rows back splits the chain.
    pub(super) fn operators(
        &self,
        operators: &[Operator],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<()> {
        let last_breaker = operators.iter().rposition(|operator| {
            matches!(operator, Operator::Sort { .. } | Operator::Aggregate { .. })
        });
        let Some(breaker) = last_breaker else {
            return self.start(operators, row, sink);
        };
        let (before, after) = (&operators[..breaker], &operators[breaker + 1..]);
        let mut states = self.states(after, row)?;
        if is_full(&states) {
            return Ok(());
        }
        match &operators[breaker] {
            Operator::Aggregate { keys, aggregates } => {
                let mut groups = Groups::new(keys, aggregates);
                match CountedEnds::of(before, keys, aggregates) {
                    Some(ends) => self.count_ends(&ends, &mut groups, row)?,
                    None => self.operators(before, row, &mut |row| {
                        groups.add(self, row)?;
                        Ok(Flow::Continue)
                    })?,
                }
                groups.each(row, &mut |row| self.stream(after, &mut states, row, sink))
            }
            Operator::Sort { keys, limit, live } => {
                let most = match limit {
                    Some(limit) => {
                        let (skip, limit) = &**limit;
                        let skipped = match skip {
                            Some(skip) => self.count(skip, row)?,
                            None => 0,
                        };
                        Some(self.count(limit, row)?.saturating_add(skipped))
                    }
                    None => None,
                };
                let mut sorted = Sorted::new(keys, most);
                self.operators(before, row, &mut |row| {
                    sorted.add(self, live, row)?;
                    Ok(Flow::Continue)
                })?;
                for (_, values) in sorted.finish(self.budget)? {
                    for (slot, value) in live.iter().zip(values) {
                        row[*slot] = value;
                    }
                    if self.stream(after, &mut states, row, sink)? == Flow::Stop {
                        break;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&self, operators: &[Operator], row: &mut Row, sink: Sink<'_>) -> Result<()> {
        let mut states = self.states(operators, row)?;
        if !is_full(&states) {
            self.stream(operators, &mut states, row, sink)?;
        }
        Ok(())
    }

    fn states(&self, operators: &[Operator], row: &mut Row) -> Result<Vec<State>> {
        operators
            .iter()
            .map(|operator| {
                Ok(match operator {
                    Operator::Distinct(_) => State::Seen(Seen::default()),
                    Operator::Skip(count) | Operator::Limit(count) => {
                        let count = self.count(count, row)?;
                        match operator {
                            Operator::Limit(_) if count == 0 => State::Left(0),
                            _ => State::Left(count),
                        }
                    }
                    _ => State::Nothing,
                })
            })
            .collect::<Result<Vec<State>>>()
            .map(|mut states| {
                // A skip of nothing must not look like a limit that is reached.
                for (state, operator) in states.iter_mut().zip(operators) {
                    if matches!((&operator, &state), (Operator::Skip(_), State::Left(0))) {
                        *state = State::Nothing;
                    }
                }
                states
            })
    }

    /// A number of rows.
    fn count(&self, expression: &Expression, row: &mut Row) -> Result<u64> {
        match self.value(expression, row)? {
            Value::Integer(count) if count >= 0 => Ok(count as u64),
            Value::Integer(count) => Err(CypherError::runtime(
                ErrorKind::SyntaxError,
                "NegativeIntegerArgument",
                format!("{count} is no number of rows"),
            )),
            other => Err(CypherError::runtime(
                ErrorKind::SyntaxError,
                "InvalidArgumentType",
                format!("{} is no number of rows", other.type_name()),
            )),
        }
    }

    fn stream(
        &self,
        operators: &[Operator],
        states: &mut [State],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        self.budget.tick()?;
        let Some((operator, rest)) = operators.split_first() else {
            return sink(row);
        };
        self.budget.enter()?;
        let flow = self.operator(operator, rest, states, row, sink)?;
        self.budget.leave();
        Ok(flow)
    }

    fn operator(
        &self,
        operator: &Operator,
        rest: &[Operator],
        states: &mut [State],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (state, states) = states.split_first_mut().expect("one for each operator");
        match operator {
            Operator::Match {
                matching,
                is_optional,
            } => {
                let mut is_found = false;
                let flow = self.matching(matching, row, &mut |row| {
                    is_found = true;
                    self.stream(rest, states, row, sink)
                })?;
                if is_found || !is_optional {
                    return Ok(flow);
                }
                for slot in &matching.slots {
                    row[*slot] = Value::Null;
                }
                self.stream(rest, states, row, sink)
            }
            Operator::Unwind { list, slot } => match self.value(list, row)? {
                Value::Null => Ok(Flow::Continue),
                list @ Value::List(_) => {
                    self.budget.weigh(&list)?;
                    for item in list.as_list().unwrap_or_default() {
                        row[*slot] = item.clone();
                        if self.stream(rest, states, row, sink)? == Flow::Stop {
                            return Ok(Flow::Stop);
                        }
                    }
                    Ok(Flow::Continue)
                }
                one => {
                    row[*slot] = one;
                    self.stream(rest, states, row, sink)
                }
            },
            Operator::Filter(predicate) => {
                if self.holds(predicate, row)? {
                    self.stream(rest, states, row, sink)
                } else {
                    Ok(Flow::Continue)
                }
            }
            Operator::Project(items) => {
                for (expression, slot) in items {
                    let value = self.value(expression, row)?;
                    self.budget.weigh(&value)?;
                    row[*slot] = value;
                }
                self.stream(rest, states, row, sink)
            }
            Operator::Distinct(slots) => {
                let State::Seen(seen) = state else {
                    unreachable!("its state is made for it");
                };
                if seen.insert(row, slots, self.budget)? {
                    self.stream(rest, states, row, sink)
                } else {
                    Ok(Flow::Continue)
                }
            }
            Operator::Skip(_) => {
                if let State::Left(left @ 1..) = state {
                    *left -= 1;
                    return Ok(Flow::Continue);
                }
                self.stream(rest, states, row, sink)
            }
            Operator::Limit(_) => {
                let State::Left(left) = state else {
                    unreachable!("its state is made for it");
                };
                *left = left.saturating_sub(1);
                let is_last = *left == 0;
                let flow = self.stream(rest, states, row, sink)?;
                Ok(if is_last { Flow::Stop } else { flow })
            }
            Operator::Call {
                procedure,
                arguments,
                columns,
            } => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.value(argument, row))
                    .collect::<Result<Vec<_>>>()?;
                self.budget.look()?;
                for values in self.graph.call(*procedure, &arguments, self.budget)? {
                    for (column, slot) in columns {
                        row[*slot] = values.get(*column).cloned().unwrap_or_default();
                    }
                    if self.stream(rest, states, row, sink)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
                Ok(Flow::Continue)
            }
            Operator::Sort { .. } | Operator::Aggregate { .. } => {
                unreachable!("the chain is split where rows are held back")
            }
        }
    }
}

/// Whether a limit lets nothing pass.
fn is_full(states: &[State]) -> bool {
    states.iter().any(|state| matches!(state, State::Left(0)))
}
