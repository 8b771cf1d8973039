//! What a query becomes once its names are bound: operators over rows of numbered slots.

mod expression;
mod slots;

use std::sync::Arc;

pub(super) use expression::{
    Arithmetic, Comparison, Expression, LabelTest, Logic, Quantifier, TextTest,
};

use super::graph::{Direction, Key, LabelId, TypeId};

/// Place of a value in a row. Each variable of a query has its own, so that inner queries share the row.
pub(super) type Slot = usize;

/// A whole query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// One for each side of `UNION`.
    pub branches: Vec<Branch>,
    /// `UNION ALL` keeps equal rows.
    pub keeps_equal_rows: bool,
    pub columns: Vec<Arc<str>>,
}

/// One side of `UNION`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Branch {
    pub operators: Vec<Operator>,
    /// Slot of each column.
    pub outputs: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operator {
    Match {
        matching: Matching,
        is_optional: bool,
    },
    Unwind {
        list: Expression,
        slot: Slot,
    },
    Filter(Expression),
    Project(Vec<(Expression, Slot)>),
    Aggregate {
        keys: Vec<(Expression, Slot)>,
        aggregates: Vec<(Aggregate, Slot)>,
    },
    Distinct(Vec<Slot>),
    Sort {
        keys: Vec<SortKey>,
        /// How many rows can still be asked for, when that is known.
        limit: Option<Box<(Option<Expression>, Expression)>>,
        /// Slots that are read later.
        live: Vec<Slot>,
    },
    Skip(Expression),
    Limit(Expression),
    Call {
        procedure: usize,
        arguments: Vec<Expression>,
        /// Column of the procedure, slot that takes it.
        columns: Vec<(usize, Slot)>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SortKey {
    pub expression: Expression,
    pub is_descending: bool,
    pub nulls_first: Option<bool>,
}

/// The pattern of a `MATCH`, in the order in which it is searched.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matching {
    pub steps: Vec<Step>,
    /// Slots that the pattern fills: null where an optional one does not match.
    pub slots: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Every node with a label, or every node.
    Nodes {
        slot: Slot,
        label: Option<LabelId>,
    },
    /// The nodes that an index has for a property value.
    Lookup {
        slot: Slot,
        key: Key,
        value: Expression,
    },
    /// The slot holds a node already; null matches nothing.
    Bound(Slot),
    Expand(Expand),
    Walk(Walk),
    Shortest {
        walk: Walk,
        all: bool,
        path: Option<Slot>,
    },
    /// Builds a path from what was matched.
    Path {
        slot: Slot,
        parts: Vec<PathPart>,
    },
    Filter(Expression),
    /// Nothing can match.
    Nothing,
}

/// One relationship.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expand {
    pub from: Slot,
    /// Otherwise the relationship is, and says where it starts.
    pub from_is_bound: bool,
    pub to: Slot,
    pub to_is_bound: bool,
    pub relationship: Slot,
    pub relationship_is_bound: bool,
    pub expansion: usize,
}

/// A run of relationships.
#[expect(
    clippy::struct_excessive_bools,
    reason = "four questions that are independent of each other"
)]
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Walk {
    pub from: Slot,
    pub to: Slot,
    pub to_is_bound: bool,
    /// The list of relationships, where someone reads it.
    pub relationships: Option<Slot>,
    pub relationships_are_bound: bool,
    /// Searched from the end of the pattern: the list is turned round.
    pub is_reversed: bool,
    pub expansion: usize,
    pub least: u32,
    pub most: Option<u32>,
    /// Properties that each relationship has.
    pub properties: Vec<(Key, Expression)>,
    /// Only the nodes reached count, not in how many ways.
    pub only_ends: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PathPart {
    Node(Slot),
    Relationship(Slot),
    Relationships(Slot),
}

/// What relationships an expansion follows; prepared once a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpansionPlan {
    /// `None` for all types.
    pub types: Option<Vec<TypeId>>,
    pub direction: Direction,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Aggregate {
    pub kind: AggregateKind,
    pub is_distinct: bool,
    pub arguments: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AggregateKind {
    CountRows,
    Count,
    Sum,
    Average,
    Least,
    Most,
    Collect,
    Deviation,
    DeviationOfAll,
    PercentileContinuous,
    PercentileDiscrete,
}
