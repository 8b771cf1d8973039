//! Syntax tree → plan: names become slots and numbers, mistakes are found before a row is read.

mod aggregation;
mod call;
mod constraint;
mod expression;
mod kind;
mod literal;
mod operator;
mod pattern;
mod procedure;
mod projection;
mod query;
mod rewrite;
mod schedule;
mod scope;

use std::collections::BTreeMap;

use open_cypher::Span;
use open_cypher::ast::{Name, Query};

use kind::Kind;
pub(super) use kind::Takes;
use scope::Scope;

use super::error::{CypherError, ErrorKind, Result};
use super::graph::{Direction, PropertyGraph, Resolved, TypeId};
use super::plan::{Aggregate, ExpansionPlan, Plan, Slot};
use super::value::Value;
use crate::text::near_names;

/// Values of `$name`.
pub type Parameters = BTreeMap<String, Value>;

/// A query that can be run.
#[derive(Debug)]
pub(super) struct Bound {
    pub plan: Plan,
    pub expansions: Vec<ExpansionPlan>,
    /// Length of a row.
    pub slots: usize,
    /// Procedures that it calls, by their places.
    pub procedures: Vec<usize>,
}

/// Binds a query to a graph's names and to its parameters.
pub(super) fn bind(
    source: &str,
    query: &Query,
    graph: &dyn PropertyGraph,
    parameters: &Parameters,
) -> Result<Bound> {
    let mut binder = Binder {
        source,
        graph,
        parameters,
        slots: 0,
        scope: Scope::default(),
        aggregation: Aggregation::Refused,
        expansions: Vec::new(),
        procedures: Vec::new(),
        parts: 0,
        depth: 0,
    };
    let plan = binder.query(query)?;
    Ok(Bound {
        plan,
        expansions: binder.expansions,
        slots: binder.slots,
        procedures: binder.procedures,
    })
}

struct Binder<'a> {
    source: &'a str,
    graph: &'a dyn PropertyGraph,
    parameters: &'a Parameters,
    slots: usize,
    scope: Scope,
    aggregation: Aggregation,
    expansions: Vec<ExpansionPlan>,
    procedures: Vec<usize>,
    /// Nodes and relationships of patterns so far.
    parts: usize,
    /// How many queries this one lies in.
    depth: usize,
}

/// What an aggregating function means where the binder is.
#[derive(Debug)]
enum Aggregation {
    Refused,
    /// In the argument of another one.
    Inside,
    /// Collected for the projection.
    Collected(Vec<(Aggregate, Slot)>),
}

impl Binder<'_> {
    fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    /// Adds a variable under a new slot.
    fn declare(&mut self, name: &Name, kind: Kind) -> Result<Slot> {
        if self.scope.find(&name.kind.text).is_some() {
            return Err(already_bound(name));
        }
        let slot = self.new_slot();
        self.scope.add(&name.kind.text, slot, kind);
        Ok(slot)
    }

    /// The error for a name that is not in scope.
    fn undefined(&self, name: &Name) -> CypherError {
        let text = &name.kind.text;
        let known = self.scope.variables().iter();
        let known = known.map(|variable| variable.name.to_string());
        let near = near_names(text, known, str::to_lowercase);
        let message = with_near(format!("{text} stands for nothing here"), &near);
        CypherError::syntax("UndefinedVariable", message).at(span(name.span))
    }

    /// Number of what an expansion follows.
    fn expansion(&mut self, types: Option<Vec<TypeId>>, direction: Direction) -> usize {
        let plan = ExpansionPlan { types, direction };
        let known = self.expansions.iter().position(|known| *known == plan);
        known.unwrap_or_else(|| {
            self.expansions.push(plan);
            self.expansions.len() - 1
        })
    }

    /// Binds something with names of its own, which are forgotten after it.
    fn within<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let length = self.scope.len();
        let bound = bind(self);
        self.scope.shrink(length);
        bound
    }
}

fn span(span: Span) -> (usize, usize) {
    (span.start, span.end)
}

fn already_bound(name: &Name) -> CypherError {
    CypherError::syntax(
        "VariableAlreadyBound",
        format!("{} stands for something already", name.kind.text),
    )
    .at(span(name.span))
}

fn unsupported(what: &str, at: Span) -> CypherError {
    CypherError::syntax("UnexpectedSyntax", format!("{what} is not offered")).at(span(at))
}

/// A message that ends with the names that may have been meant.
fn with_near(message: String, near: &[String]) -> String {
    if near.is_empty() {
        return message;
    }
    format!("{message}; did you mean {}?", near.join(" or "))
}

/// The number of a name, nothing when nothing has it, an error when nothing can.
fn known<T>(resolved: Resolved<T>, what: &str, name: &Name) -> Result<Option<T>> {
    match resolved {
        Resolved::Known(id) => Ok(Some(id)),
        Resolved::Absent => Ok(None),
        Resolved::Unknown(near) => {
            let text = &name.kind.text;
            let message = with_near(format!("the graph has no {what} {text}"), &near);
            Err(
                CypherError::compile(ErrorKind::SemanticError, "UnknownName", message)
                    .at(span(name.span)),
            )
        }
    }
}
