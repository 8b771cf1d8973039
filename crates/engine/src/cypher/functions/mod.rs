//! The functions that expressions can call, one family a file.

mod conversion;
mod graph;
mod list;
mod math;
mod scalar;
mod string;
mod temporal;

use std::cell::Cell;

pub(super) use graph::properties;

use super::bind::Takes;
use super::budget::Budget;
use super::error::{CypherError, Result};
use super::graph::PropertyGraph;
use super::value::Value;

/// What a function can look at besides its arguments.
pub(super) struct Context<'g> {
    pub graph: &'g dyn PropertyGraph,
    /// Nanoseconds since 1970-01-01T00:00Z: one for the whole query.
    pub now: i128,
    /// State of `rand`.
    pub random: Cell<u64>,
    pub budget: &'g Budget,
}

/// Type of a function's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    Anything,
    Boolean,
    Integer,
    Float,
    String,
    Map,
    Node,
    Nodes,
    Relationships,
    Strings,
    Integers,
    List,
    Temporal,
    Duration,
    /// The type of the first argument.
    Same,
    /// The type of the items of the first argument.
    Item,
}

type Run = fn(&Context<'_>, &[Value]) -> Result<Value>;

/// A function of the language.
#[derive(Debug)]
pub(super) struct Function {
    /// In lower case.
    pub name: &'static str,
    pub least: usize,
    pub most: usize,
    /// The last one holds for all that follow.
    pub takes: &'static [Takes],
    pub gives: Gives,
    /// Null when its first argument is null.
    pub keeps_null: bool,
    pub run: Run,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Function {
    /// How many arguments it takes, for messages.
    pub(super) fn arity(&self) -> String {
        if self.least == self.most {
            self.least.to_string()
        } else if self.most == usize::MAX {
            format!("{} or more", self.least)
        } else {
            format!("{} to {}", self.least, self.most)
        }
    }
}

const FAMILIES: [&[Function]; 7] = [
    scalar::FUNCTIONS,
    conversion::FUNCTIONS,
    graph::FUNCTIONS,
    list::FUNCTIONS,
    math::FUNCTIONS,
    string::FUNCTIONS,
    temporal::FUNCTIONS,
];

/// The function of a name in lower case.
pub(super) fn function(name: &str) -> Option<&'static Function> {
    let mut all = FAMILIES.into_iter().flatten();
    all.find(|function| function.name == name)
}

/// Names of all functions, in lower case.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    FAMILIES.into_iter().flatten().map(|function| function.name)
}

/// A function that is null when its first argument is.
const fn on_value(
    name: &'static str,
    arity: (usize, usize),
    takes: &'static [Takes],
    gives: Gives,
    run: Run,
) -> Function {
    Function {
        name,
        least: arity.0,
        most: arity.1,
        takes,
        gives,
        keeps_null: true,
        run,
    }
}

fn wrong(what: &str, value: &Value) -> CypherError {
    CypherError::of_type(format!("this takes {what}, not {}", value.type_name()))
}

fn integer(value: &Value) -> Result<i64> {
    match value {
        Value::Integer(number) => Ok(*number),
        other => Err(wrong("an integer", other)),
    }
}

fn number(value: &Value) -> Result<f64> {
    value.as_number().ok_or_else(|| wrong("a number", value))
}

fn text(value: &Value) -> Result<&str> {
    value.as_text().ok_or_else(|| wrong("a string", value))
}
