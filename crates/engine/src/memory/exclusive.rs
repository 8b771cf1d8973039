//! Exclusive relations: a subject has them to one thing at a time, so each fact ends where the next begins.
//!
//! The ends follow from the facts that are current and from nothing else: the order in which they became
//! known makes no difference, a late fact finds its place in the past, and a fact that is taken back lets its
//! predecessor go on.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::Result;
use crate::storage::{self, Ending, ExclusiveFact};
use crate::types::{EntityId, RelationId, RelationTypeId, Timestamp};

/// What settling changed and found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Versions that were retracted or recorded.
    pub(crate) touched: BTreeSet<RelationId>,
    /// Facts that got another end.
    pub(crate) ended: usize,
    /// Pairs of facts that begin at the same moment with different objects: neither ends the other.
    pub(crate) conflicts: Vec<(RelationId, RelationId)>,
}

/// Brings the ends of a subject's facts of an exclusive relation in line.
pub(crate) fn settle(
    connection: &Connection,
    source: EntityId,
    kind: RelationTypeId,
    now: Timestamp,
) -> Result<Settled> {
    let mut settled = Settled::default();
    let is_exclusive = storage::is_exclusive(connection, kind, source)?;
    let mut facts = storage::facts_of(connection, source, kind)?;
    // From the latest on: what ends a fact has its last version by then.
    facts.sort_by_key(|fact| (std::cmp::Reverse(fact.from), fact.id));
    for place in 0..facts.len() {
        let next = if is_exclusive {
            successor(&facts, place)
        } else {
            None
        };
        let fact = &facts[place];
        let end = next.map(|next| facts[next].from.expect("what follows has a start"));
        let is_as_wanted = match end {
            Some(end) => fact.ended_by.is_some() && fact.to == Some(end),
            None => fact.ended_by.is_none(),
        };
        if is_as_wanted {
            continue;
        }
        let ending = next.zip(end).map(|(next, at)| Ending {
            at,
            written: facts[next].from_written.as_deref(),
            by: facts[next].id,
        });
        let new = storage::end_fact(connection, fact.id, ending.as_ref(), now)?;
        settled.touched.extend([fact.id, new]);
        settled.ended += 1;
        facts[place].id = new;
    }
    if is_exclusive {
        settled.conflicts = conflicts(&facts);
    }
    Ok(settled)
}

/// The fact that ends the one at `place` before its stated end: the earliest of those with another object
/// that begin later; of several at one moment, the first.
fn successor(facts: &[ExclusiveFact], place: usize) -> Option<usize> {
    let fact = &facts[place];
    (0..facts.len())
        .filter(|&other| {
            let other = &facts[other];
            other.target != fact.target
                && other.from > fact.from
                && fact.stated_to.is_none_or(|end| other.from < Some(end))
        })
        .min_by_key(|&other| (facts[other].from, facts[other].id))
}

fn conflicts(facts: &[ExclusiveFact]) -> Vec<(RelationId, RelationId)> {
    let mut found = Vec::new();
    for (place, one) in facts.iter().enumerate() {
        for other in &facts[place + 1..] {
            if one.from == other.from && one.target != other.target {
                found.push((one.id.min(other.id), one.id.max(other.id)));
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(id: i64, target: i64, from: Option<i64>, to: Option<i64>) -> ExclusiveFact {
        ExclusiveFact {
            id: RelationId(id),
            target: EntityId(target),
            from: from.map(Timestamp),
            from_written: None,
            stated_to: to.map(Timestamp),
            to: to.map(Timestamp),
            ended_by: None,
        }
    }

    #[test]
    fn each_fact_ends_where_the_next_of_another_object_begins() {
        let check = |facts: &[(i64, Option<i64>, Option<i64>)], expected: &[Option<usize>]| {
            let facts: Vec<_> = (1..)
                .zip(facts)
                .map(|(id, &(target, from, to))| fact(id, target, from, to))
                .collect();
            let found: Vec<_> = (0..facts.len())
                .map(|place| successor(&facts, place))
                .collect();
            assert_eq!(found, expected, "{facts:?}");
        };
        check(&[(1, Some(1), None), (2, Some(5), None)], &[Some(1), None]);
        // A late fact goes between the two.
        check(
            &[(1, Some(1), None), (2, Some(5), None), (3, Some(3), None)],
            &[Some(2), None, Some(1)],
        );
        // An unknown start is before every known one.
        check(&[(1, Some(1), None), (2, None, None)], &[None, Some(0)]);
        // A stated end that comes first stays.
        check(&[(1, Some(1), Some(4)), (2, Some(4), None)], &[None, None]);
        check(
            &[(1, Some(1), Some(4)), (2, Some(3), None)],
            &[Some(1), None],
        );
        // The same object said again ends nothing.
        check(&[(1, Some(1), None), (1, Some(5), None)], &[None, None]);
        check(&[(1, Some(5), None), (2, Some(5), None)], &[None, None]);
    }

    #[test]
    fn equal_starts_are_a_conflict() {
        let facts = [
            fact(2, 1, Some(5), None),
            fact(1, 2, Some(5), None),
            fact(3, 2, Some(5), None),
        ];
        assert_eq!(
            conflicts(&facts),
            [
                (RelationId(1), RelationId(2)),
                (RelationId(2), RelationId(3))
            ]
        );
    }
}
