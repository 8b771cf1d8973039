use super::kind::Kind;
use super::rewrite::replace;
use crate::cypher::error::{CypherError, Result};
use crate::cypher::plan::{AggregateKind, Expression, Slot};

/// Names of aggregating functions in lower case, with the number of their arguments.
pub(super) const AGGREGATES: &[(&str, AggregateKind, usize)] = &[
    ("count", AggregateKind::Count, 1),
    ("sum", AggregateKind::Sum, 1),
    ("avg", AggregateKind::Average, 1),
    ("min", AggregateKind::Least, 1),
    ("max", AggregateKind::Most, 1),
    ("collect", AggregateKind::Collect, 1),
    ("stdev", AggregateKind::Deviation, 1),
    ("stdevp", AggregateKind::DeviationOfAll, 1),
    ("percentilecont", AggregateKind::PercentileContinuous, 2),
    ("percentiledisc", AggregateKind::PercentileDiscrete, 2),
];

/// What a name of an aggregating function stands for, with the number of its arguments.
pub(super) fn aggregate_of(name: &str) -> Option<(AggregateKind, usize)> {
    let found = AGGREGATES.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, kind, arguments)| (kind, arguments))
}

/// Type of an aggregate over values of a kind.
pub(super) fn aggregate_kind(kind: AggregateKind, of: Kind) -> Kind {
    match kind {
        AggregateKind::Count | AggregateKind::CountRows => Kind::Integer,
        AggregateKind::Collect => Kind::list_of(of),
        AggregateKind::Least | AggregateKind::Most => of,
        _ => Kind::Any,
    }
}

/// An item of a projection that aggregates: what it reads besides aggregates has to be a grouping key, or a
/// part of one that is a plain variable.
pub(super) fn over_groups(
    mut expression: Expression,
    keys: &[(Expression, Slot)],
    rows: &[Slot],
) -> Result<Expression> {
    replace(&mut expression, &mut |part| {
        let is_simple = match part {
            Expression::Slot(_) => true,
            Expression::Property(of, _) => matches!(**of, Expression::Slot(_)),
            _ => false,
        };
        let key = keys.iter().find(|(key, _)| is_simple && key == part);
        key.map(|(_, slot)| Expression::Slot(*slot))
    });
    let mut is_ambiguous = false;
    expression.each_slot(&mut |slot| is_ambiguous |= rows.contains(&slot));
    if is_ambiguous {
        return Err(CypherError::syntax(
            "AmbiguousAggregationExpression",
            "beside an aggregate only grouping keys may be read: name the other part in an item of its own",
        ));
    }
    Ok(expression)
}
