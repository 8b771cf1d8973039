//! Which names mean one thing.
//!
//! [`senses`] tells apart things that share a name; [`resolve`] joins names of one thing. A name is joined
//! to another only for a reason that can be said in words (the same letters, an alias that a text gives,
//! initials, an acronym …), never because it looks alike. What speaks for a pair but does not settle it is
//! proposed, for a person or a model to decide; what was decided holds, whatever else is found later.
//!
//! [`documents_meant`] finds the note that bears a name.
//!
//! Candidates come from maps by form and from neighbours in sorted lists, so that n names cost
//! n·log n.

mod acronym;
mod candidates;
mod descriptor;
mod document;
mod groups;
mod guard;
mod named;
mod person;
mod romanize;
mod senses;
mod similar;
mod type_family;

use std::collections::BTreeMap;

pub use descriptor::is_descriptor;
pub use document::{DocumentsMeant, Titled, documents_meant};
pub use named::{Decisions, FoundMerge, Named};
pub use senses::{Reading, senses};

use crate::types::MergeStatus;
use groups::Groups;

/// Names with the one that each of them goes by, and why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolved {
    /// Key of a name → key of the name that stands for all of its group; only names that are joined.
    pub into: BTreeMap<String, String>,
    /// Every pair that was joined, proposed, or kept apart by a decision, by the keys of its names.
    pub merges: Vec<FoundMerge>,
}

/// Joins names. `names` in the order of their keys, each key once.
pub fn resolve(names: &[Named], decisions: &Decisions) -> Resolved {
    let (resolved, compared) = resolve_counted(names, decisions);
    tracing::debug!(names = names.len(), compared, "resolved names");
    resolved
}

/// [`resolve`], and how much was looked at for it.
fn resolve_counted(names: &[Named], decisions: &Decisions) -> (Resolved, usize) {
    let mut groups = Groups::new(names, decisions);
    for (one, other) in decisions.accepted() {
        groups.accept(one, other);
    }
    // Each step sees what the steps before it joined: a surname is nobody's when two persons bear it, and
    // "J. Silva" and "João Silva" are not two persons any more.
    for step in candidates::STEPS {
        for candidate in step(names, &groups) {
            groups.add(candidate);
        }
    }
    let mut merges = groups.take_merges();
    let into = groups.representatives(&merges);
    drop_settled(&mut merges, &into);
    (Resolved { into, merges }, groups.compared())
}

/// What became one by another way needs no proposal.
pub fn drop_settled(merges: &mut Vec<FoundMerge>, into: &BTreeMap<String, String>) {
    merges.retain(|merge| {
        let one = into.get(&merge.one).unwrap_or(&merge.one);
        let other = into.get(&merge.other).unwrap_or(&merge.other);
        merge.status != MergeStatus::Proposed || one != other
    });
}

#[cfg(test)]
mod tests;
