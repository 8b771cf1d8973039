//! What a query becomes once its names are bound: operators over rows of numbered slots.

use std::sync::Arc;

use super::functions::Function;
use super::graph::{Direction, Key, LabelId, TypeId};
use super::value::Value;

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

/// A test of labels or of a relationship's type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LabelTest {
    /// The name as a label and as a type, where the graph has it.
    Name(Option<LabelId>, Option<TypeId>),
    Any,
    Not(Box<LabelTest>),
    And(Vec<LabelTest>),
    Or(Vec<LabelTest>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Concatenate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
    Matches,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Any,
    None,
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
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

impl Expression {
    /// The expressions right inside this one, not those of inner queries.
    pub(super) fn parts(&self) -> Vec<&Expression> {
        match self {
            Self::Constant(_)
            | Self::Slot(_)
            | Self::Exists(_)
            | Self::ExistsQuery(_)
            | Self::CountQuery(_)
            | Self::CollectQuery(_) => Vec::new(),
            Self::List(items) | Self::Call(_, items) => items.iter().collect(),
            Self::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            Self::Property(inner, _)
            | Self::Not(inner)
            | Self::Negate(inner)
            | Self::IsNull(inner)
            | Self::HasLabels(inner, _) => vec![inner],
            Self::Index(left, right)
            | Self::Logic(_, left, right)
            | Self::Compare(_, left, right)
            | Self::Arithmetic(_, left, right)
            | Self::In(left, right)
            | Self::Text(_, left, right) => vec![left, right],
            Self::Slice(list, lower, upper) => {
                let bounds = lower.iter().chain(upper).map(|bound| &**bound);
                std::iter::once(&**list).chain(bounds).collect()
            }
            Self::Case {
                operand,
                branches,
                otherwise,
            } => {
                let arms = branches
                    .iter()
                    .flat_map(|(when, then)| when.iter().chain(std::iter::once(then)));
                let ends = operand.iter().chain(otherwise).map(|part| &**part);
                arms.chain(ends).collect()
            }
            Self::ListComprehension {
                list,
                predicate,
                projection,
                ..
            } => {
                let rest = predicate.iter().chain(projection).map(|part| &**part);
                std::iter::once(&**list).chain(rest).collect()
            }
            Self::Quantified {
                list, predicate, ..
            } => vec![list, predicate],
            Self::Reduce {
                initial,
                list,
                expression,
                ..
            } => vec![initial, list, expression],
            Self::MapProjection { base, entries, .. } => {
                let values = entries.iter().map(|(_, value)| value);
                std::iter::once(&**base).chain(values).collect()
            }
            Self::PatternComprehension { projection, .. } => vec![projection],
        }
    }

    /// See [`Expression::parts`].
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Self::Constant(_)
            | Self::Slot(_)
            | Self::Exists(_)
            | Self::ExistsQuery(_)
            | Self::CountQuery(_)
            | Self::CollectQuery(_) => Vec::new(),
            Self::List(items) | Self::Call(_, items) => items.iter_mut().collect(),
            Self::Map(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
            Self::Property(inner, _)
            | Self::Not(inner)
            | Self::Negate(inner)
            | Self::IsNull(inner)
            | Self::HasLabels(inner, _) => vec![inner],
            Self::Index(left, right)
            | Self::Logic(_, left, right)
            | Self::Compare(_, left, right)
            | Self::Arithmetic(_, left, right)
            | Self::In(left, right)
            | Self::Text(_, left, right) => vec![left, right],
            Self::Slice(list, lower, upper) => {
                let bounds = lower.iter_mut().chain(upper).map(|bound| &mut **bound);
                std::iter::once(&mut **list).chain(bounds).collect()
            }
            Self::Case {
                operand,
                branches,
                otherwise,
            } => {
                let arms = branches
                    .iter_mut()
                    .flat_map(|(when, then)| when.iter_mut().chain(std::iter::once(then)));
                let ends = operand.iter_mut().chain(otherwise).map(|part| &mut **part);
                arms.chain(ends).collect()
            }
            Self::ListComprehension {
                list,
                predicate,
                projection,
                ..
            } => {
                let rest = predicate.iter_mut().chain(projection);
                let rest = rest.map(|part| &mut **part);
                std::iter::once(&mut **list).chain(rest).collect()
            }
            Self::Quantified {
                list, predicate, ..
            } => vec![list, predicate],
            Self::Reduce {
                initial,
                list,
                expression,
                ..
            } => vec![initial, list, expression],
            Self::MapProjection { base, entries, .. } => {
                let values = entries.iter_mut().map(|(_, value)| value);
                std::iter::once(&mut **base).chain(values).collect()
            }
            Self::PatternComprehension { projection, .. } => vec![projection],
        }
    }

    /// Calls `visit` with each slot that the expression reads, those of inner queries too.
    pub(super) fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Self::Slot(slot) => visit(*slot),
            Self::Exists(matching) | Self::PatternComprehension { matching, .. } => {
                matching.each_slot(visit);
            }
            Self::ExistsQuery(plan) | Self::CountQuery(plan) | Self::CollectQuery(plan) => {
                for operator in plan.branches.iter().flat_map(|branch| &branch.operators) {
                    operator.each_slot(visit);
                }
            }
            _ => {}
        }
        for part in self.parts() {
            part.each_slot(visit);
        }
    }
}

impl Matching {
    fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        for step in &self.steps {
            match step {
                Step::Nodes { slot, .. } | Step::Bound(slot) => visit(*slot),
                Step::Lookup { value, .. } => value.each_slot(visit),
                Step::Expand(expand) => {
                    visit(expand.from);
                    visit(expand.to);
                    visit(expand.relationship);
                }
                Step::Walk(walk) | Step::Shortest { walk, .. } => {
                    visit(walk.from);
                    visit(walk.to);
                    walk.relationships.iter().for_each(|slot| visit(*slot));
                    for (_, value) in &walk.properties {
                        value.each_slot(visit);
                    }
                }
                Step::Filter(expression) => expression.each_slot(visit),
                Step::Path { .. } | Step::Nothing => {}
            }
        }
    }
}

impl Operator {
    fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Self::Match { matching, .. } => matching.each_slot(visit),
            Self::Unwind { list: value, .. }
            | Self::Filter(value)
            | Self::Skip(value)
            | Self::Limit(value) => value.each_slot(visit),
            Self::Project(items) => items.iter().for_each(|(item, _)| item.each_slot(visit)),
            Self::Aggregate { keys, aggregates } => {
                for (key, _) in keys {
                    key.each_slot(visit);
                }
                for argument in aggregates.iter().flat_map(|(one, _)| &one.arguments) {
                    argument.each_slot(visit);
                }
            }
            Self::Sort { keys, .. } => {
                for key in keys {
                    key.expression.each_slot(visit);
                }
            }
            Self::Call { arguments, .. } => {
                for value in arguments {
                    value.each_slot(visit);
                }
            }
            Self::Distinct(_) => {}
        }
    }
}
