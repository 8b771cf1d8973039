//! Names that notes and rows bear: what models say of such a name is said of what the note is about.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::named::{Decisions, FoundMerge, Named};
use super::type_family::{Fit, fit};
use crate::text::simplify;
use crate::types::{MergeRule, MergeStatus};

/// A document that names a thing: a note, or the rows of one title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Titled {
    /// What pairs with it are listed under; never a [`crate::text::name_key`].
    pub key: String,
    /// [`crate::text::name_key`] of its title and aliases.
    pub names: BTreeSet<String>,
    /// The types it was given, other than by models.
    pub kinds: BTreeSet<String>,
}

/// Names with the document that each of them means, and why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentsMeant {
    /// Key of the name that stands for its group → position of the document.
    pub meant: BTreeMap<String, usize>,
    /// Every pair that was joined, proposed, or kept apart by a decision.
    pub merges: Vec<FoundMerge>,
}

/// Finds the one document whose title or alias a name is. `names` in the order of their keys; `into` as
/// [`super::resolve`] joined them; `taken`: keys of names that have a thing of their own already.
///
/// A name that several documents bear means none of them, and types that have nothing in common make a proposal of it.
pub fn documents_meant(
    names: &[Named],
    into: &BTreeMap<String, String>,
    documents: &[Titled],
    taken: &BTreeSet<String>,
    decisions: &Decisions,
) -> DocumentsMeant {
    let mut by_name: BTreeMap<Cow<'_, str>, BTreeSet<usize>> = BTreeMap::new();
    for (at, document) in documents.iter().enumerate() {
        for name in &document.names {
            by_name.entry(simplify(name)).or_default().insert(at);
        }
    }
    let mut groups: BTreeMap<&str, Vec<&Named>> = BTreeMap::new();
    for name in names {
        let kept = into.get(&name.key).unwrap_or(&name.key);
        groups.entry(kept).or_default().push(name);
    }
    let mut found = DocumentsMeant::default();
    // The groups that a document stands for already.
    let mut joined: BTreeMap<usize, Vec<&Named>> = BTreeMap::new();
    for (kept, group) in groups {
        if group.iter().any(|name| taken.contains(&name.key)) || taken.contains(kept) {
            continue;
        }
        let keys = || group.iter().map(|name| name.key.as_str()).chain([kept]);
        let candidates: BTreeSet<usize> = keys()
            .filter_map(|key| by_name.get(&simplify(key)))
            .filter(|bearers| bearers.len() == 1)
            .flatten()
            .copied()
            .collect();
        let [at] = candidates.iter().copied().collect::<Vec<_>>()[..] else {
            continue;
        };
        let document = &documents[at];
        let decided = keys().find_map(|key| Some((key, decisions.get(key, &document.key)?)));
        let others = joined.entry(at).or_default();
        let is_apart = others.iter().any(|other| {
            group
                .iter()
                .any(|name| decisions.get(&name.key, &other.key) == Some(false))
        });
        let kinds = |group: &[&Named]| -> BTreeSet<String> {
            let kinds = group.iter().flat_map(|name| &name.kinds);
            kinds.cloned().collect()
        };
        let known: BTreeSet<String> = document.kinds.union(&kinds(others)).cloned().collect();
        let fits = fit(&kinds(&group), &known) != Fit::Unrelated;
        let status = match decided {
            Some((_, false)) => MergeStatus::Apart,
            _ if is_apart => MergeStatus::Proposed,
            Some((_, true)) => MergeStatus::Merged,
            None if fits => MergeStatus::Merged,
            None => MergeStatus::Proposed,
        };
        if status == MergeStatus::Merged {
            others.extend(group.iter().copied());
            found.meant.insert(kept.to_owned(), at);
        }
        found.merges.push(FoundMerge {
            one: decided.map_or(kept, |(key, _)| key).to_owned(),
            other: document.key.clone(),
            rule: MergeRule::Document,
            status,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(key: &str, kinds: &[&str]) -> Named {
        Named {
            key: key.to_owned(),
            kinds: kinds.iter().map(|&kind| kind.to_owned()).collect(),
            ..Named::default()
        }
    }

    fn titled(key: &str, names: &[&str], kinds: &[&str]) -> Titled {
        Titled {
            key: key.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            kinds: kinds.iter().map(|&kind| kind.to_owned()).collect(),
        }
    }

    #[test]
    fn a_name_means_the_one_document_that_bears_it() {
        let documents = [
            titled("[[a.md]]", &["ana prado", "ap"], &[]),
            titled("[[x/plan.md]]", &["plan"], &[]),
            titled("[[y/plan.md]]", &["plan"], &[]),
            titled("[[m.md]]", &["mercury"], &["Planet"]),
            titled("[[o.md]]", &["orion"], &[]),
            titled("[[u.md]]", &["聯合國"], &[]),
        ];
        let names = [
            named("ana", &["Person"]),
            named("ana prado", &["Person"]),
            named("ap", &["Person"]),
            named("lisbon", &["City"]),
            named("mercury", &["Person"]),
            named("orion", &["Company"]),
            named("plan", &[]),
            named("联合国", &[]),
        ];
        let into = BTreeMap::from([("ana".to_owned(), "ana prado".to_owned())]);
        let check = |decisions: &Decisions, taken: &[&str], expected: &[(&str, usize)]| {
            let taken = taken.iter().map(|&key| key.to_owned()).collect();
            let found = documents_meant(&names, &into, &documents, &taken, decisions);
            let meant: Vec<(&str, usize)> = found
                .meant
                .iter()
                .map(|(key, &at)| (key.as_str(), at))
                .collect();
            assert_eq!(meant, expected);
            found.merges
        };
        let merges = check(
            &Decisions::default(),
            &[],
            &[("ana prado", 0), ("ap", 0), ("orion", 4), ("联合国", 5)],
        );
        let of = |key: &str| merges.iter().find(|merge| merge.one == key).cloned();
        assert_eq!(of("mercury").unwrap().status, MergeStatus::Proposed);
        assert_eq!(of("plan"), None, "two notes bear it");
        // What was given by that name directly is a thing of its own.
        check(
            &Decisions::default(),
            &["orion"],
            &[("ana prado", 0), ("ap", 0), ("联合国", 5)],
        );
        let mut decisions = Decisions::default();
        decisions.insert("ana", "[[a.md]]", false);
        decisions.insert("mercury", "[[m.md]]", true);
        let merges = check(
            &decisions,
            &[],
            &[("ap", 0), ("mercury", 3), ("orion", 4), ("联合国", 5)],
        );
        assert_eq!(merges[0].one, "ana", "the pair that was decided is listed");
        assert_eq!(merges[0].status, MergeStatus::Apart);
        let mut decisions = Decisions::default();
        decisions.insert("ap", "ana prado", false);
        check(
            &decisions,
            &[],
            &[("ana prado", 0), ("orion", 4), ("联合国", 5)],
        );
    }
}
