//! Expressions over the slots of a row.

use std::sync::Arc;

use super::{Matching, Plan, Slot};
use crate::cypher::functions::Function;
use crate::cypher::graph::{Key, LabelId, TypeId};
use crate::cypher::value::Value;

/// A test of labels or of a relationship's type.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cypher) enum LabelTest {
    /// The name as a label and as a type, where the graph has it.
    Name(Option<LabelId>, Option<TypeId>),
    Any,
    Not(Box<LabelTest>),
    And(Vec<LabelTest>),
    Or(Vec<LabelTest>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Concatenate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
    Matches,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Quantifier {
    All,
    Any,
    None,
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Logic {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::cypher) enum Expression {
    Constant(Value),
    Slot(Slot),
    List(Vec<Expression>),
    Map(Vec<(Arc<str>, Expression)>),
    Property(Box<Expression>, Key),
    Index(Box<Expression>, Box<Expression>),
    Slice(
        Box<Expression>,
        Option<Box<Expression>>,
        Option<Box<Expression>>,
    ),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Logic(Logic, Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    In(Box<Expression>, Box<Expression>),
    Text(TextTest, Box<Expression>, Box<Expression>),
    IsNull(Box<Expression>),
    HasLabels(Box<Expression>, LabelTest),
    Call(&'static Function, Vec<Expression>),
    Case {
        operand: Option<Box<Expression>>,
        branches: Vec<(Vec<Expression>, Expression)>,
        otherwise: Option<Box<Expression>>,
    },
    ListComprehension {
        slot: Slot,
        list: Box<Expression>,
        predicate: Option<Box<Expression>>,
        projection: Option<Box<Expression>>,
    },
    Quantified {
        kind: Quantifier,
        slot: Slot,
        list: Box<Expression>,
        predicate: Box<Expression>,
    },
    Reduce {
        accumulator: Slot,
        initial: Box<Expression>,
        slot: Slot,
        list: Box<Expression>,
        expression: Box<Expression>,
    },
    MapProjection {
        base: Box<Expression>,
        has_all: bool,
        entries: Vec<(Arc<str>, Expression)>,
    },
    /// Whether a pattern matches.
    Exists(Box<Matching>),
    PatternComprehension {
        matching: Box<Matching>,
        projection: Box<Expression>,
    },
    ExistsQuery(Box<Plan>),
    CountQuery(Box<Plan>),
    CollectQuery(Box<Plan>),
}

/// What stands right inside an expression: the same walk for readers and for writers.
macro_rules! parts {
    ($whole:expr, $iter:ident $(, $mut:tt)?) => {
        match $whole {
            Expression::Constant(_)
            | Expression::Slot(_)
            | Expression::Exists(_)
            | Expression::ExistsQuery(_)
            | Expression::CountQuery(_)
            | Expression::CollectQuery(_) => Vec::new(),
            Expression::List(items) | Expression::Call(_, items) => items.$iter().collect(),
            Expression::Map(entries) => entries.$iter().map(|(_, value)| value).collect(),
            Expression::Property(inner, _)
            | Expression::Not(inner)
            | Expression::Negate(inner)
            | Expression::IsNull(inner)
            | Expression::HasLabels(inner, _) => vec![inner],
            Expression::Index(left, right)
            | Expression::Logic(_, left, right)
            | Expression::Compare(_, left, right)
            | Expression::Arithmetic(_, left, right)
            | Expression::In(left, right)
            | Expression::Text(_, left, right) => vec![left, right],
            Expression::Slice(list, lower, upper) => {
                let bounds = lower.$iter().chain(upper).map(|bound| &$($mut)? **bound);
                std::iter::once(&$($mut)? **list).chain(bounds).collect()
            }
            Expression::Case {
                operand,
                branches,
                otherwise,
            } => {
                let arms = branches
                    .$iter()
                    .flat_map(|(when, then)| when.$iter().chain(std::iter::once(then)));
                let ends = operand.$iter().chain(otherwise).map(|part| &$($mut)? **part);
                arms.chain(ends).collect()
            }
            Expression::ListComprehension {
                list,
                predicate,
                projection,
                ..
            } => {
                let rest = predicate.$iter().chain(projection).map(|part| &$($mut)? **part);
                std::iter::once(&$($mut)? **list).chain(rest).collect()
            }
            Expression::Quantified {
                list, predicate, ..
            } => vec![list, predicate],
            Expression::Reduce {
                initial,
                list,
                expression,
                ..
            } => vec![initial, list, expression],
            Expression::MapProjection { base, entries, .. } => {
                let values = entries.$iter().map(|(_, value)| value);
                std::iter::once(&$($mut)? **base).chain(values).collect()
            }
            Expression::PatternComprehension { projection, .. } => vec![projection],
        }
    };
}

impl Expression {
    /// The expressions right inside this one, not those of inner queries.
    pub(in crate::cypher) fn parts(&self) -> Vec<&Expression> {
        parts!(self, iter)
    }

    /// See [`Expression::parts`].
    pub(in crate::cypher) fn parts_mut(&mut self) -> Vec<&mut Expression> {
        parts!(self, iter_mut, mut)
    }
}
