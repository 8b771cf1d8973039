//! Exclusive relations: a subject has them to one thing at a time, so each fact ends where the next begins.
//!
//! The ends follow from the facts that are current and from nothing else: the order in which they became
//! known makes no difference, a late fact finds its place in the past, and a fact that is taken back lets its
//! predecessor go on.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Facts that begin at the same moment with different objects: neither ends the other. One for each moment.
    pub(crate) conflicts: Vec<Conflict>,
}

/// Two facts that begin at the same moment, and how many more do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conflict {
    one: RelationId,
    other: RelationId,
    more: usize,
}

impl Conflict {
    /// The conflict in words.
    pub(crate) fn sentence(&self, connection: &Connection) -> Result<String> {
        let fact = |id| storage::fact_sentence(connection, id);
        let more = match self.more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Ok(format!(
            "{:?} and {:?}{more} begin at the same moment; neither ends the other",
            fact(self.one)?,
            fact(self.other)?
        ))
    }
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
    // What ends a fact has its last version by then.
    latest_first(&mut facts);
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
/// that begin later; of several at one moment, the first. The latest facts come first.
fn successor(facts: &[ExclusiveFact], place: usize) -> Option<usize> {
    let fact = &facts[place];
    let mut from = fact.from;
    loop {
        let later = facts.partition_point(|other| other.from > from);
        let next = facts[..later].last()?;
        if fact.stated_to.is_some_and(|end| next.from >= Some(end)) {
            return None;
        }
        from = next.from;
        let start = facts.partition_point(|other| other.from > from);
        let found = (start..later).find(|&at| facts[at].target != fact.target);
        if found.is_some() {
            return found;
        }
    }
}

fn latest_first(facts: &mut [ExclusiveFact]) {
    facts.sort_by_key(|fact| (std::cmp::Reverse(fact.from), fact.id));
}

fn conflicts(facts: &[ExclusiveFact]) -> Vec<Conflict> {
    let mut by_start: BTreeMap<Option<Timestamp>, Vec<&ExclusiveFact>> = BTreeMap::new();
    for fact in facts {
        by_start.entry(fact.from).or_default().push(fact);
    }
    let mut found = Vec::new();
    for mut together in by_start.into_values() {
        together.sort_unstable_by_key(|fact| fact.id);
        let first = together[0];
        // Facts of one object say the same thing again.
        if let Some(other) = together.iter().find(|fact| fact.target != first.target) {
            found.push(Conflict {
                one: first.id,
                other: other.id,
                more: together.len() - 2,
            });
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
            let mut facts: Vec<_> = (0..)
                .zip(facts)
                .map(|(id, &(target, from, to))| fact(id, target, from, to))
                .collect();
            latest_first(&mut facts);
            let id = |at: usize| usize::try_from(facts[at].id.0).unwrap();
            let mut found = vec![None; facts.len()];
            for place in 0..facts.len() {
                found[id(place)] = successor(&facts, place).map(id);
            }
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
        // The next of another object, past those that say the same again; of several at once, the first.
        check(
            &[
                (1, Some(1), None),
                (1, Some(5), None),
                (1, Some(7), None),
                (2, Some(7), None),
                (3, Some(7), None),
            ],
            &[Some(3), Some(3), None, None, None],
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
        let conflict = |one, other, more| Conflict {
            one: RelationId(one),
            other: RelationId(other),
            more,
        };
        assert_eq!(conflicts(&facts), [conflict(1, 2, 1)]);
        // One for each moment, however many facts there are.
        let many: Vec<ExclusiveFact> = (0..5_000)
            .map(|n| fact(n, n, (n % 2 == 0).then_some(7), None))
            .collect();
        assert_eq!(
            conflicts(&many),
            [conflict(0, 2, 2_498), conflict(1, 3, 2_498)]
        );
        // The same said twice is none.
        let again = [fact(1, 9, None, None), fact(2, 9, None, None)];
        assert_eq!(conflicts(&again), []);
    }
}
