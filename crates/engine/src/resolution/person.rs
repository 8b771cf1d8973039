//! Persons: initials, names left out, surnames alone.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::Groups;
use super::named::{Candidate, Named};
use super::type_family::is_person;
use crate::types::MergeRule;

/// Persons of one surname and initial that are looked at; of more, an initial says nothing.
const MOST_OF_A_NAME: usize = 16;

/// Initials and middle names: "J. Silva", "João Silva", "João Pedro Silva".
pub(super) fn left_out_names(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut by_ends: BTreeMap<(&str, char), Vec<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(ends) = ends(name) {
            by_ends.entry(ends).or_default().push(at);
        }
    }
    let mut found = Vec::new();
    for alike in by_ends
        .values()
        .filter(|alike| (2..=MOST_OF_A_NAME).contains(&alike.len()))
    {
        for &from in alike {
            let fuller: Vec<usize> = alike
                .iter()
                .copied()
                .filter(|&into| says_more(&names[into], &names[from]))
                .collect();
            let things: BTreeSet<usize> = fuller.iter().map(|&into| groups.root(into)).collect();
            for into in fuller {
                let is_sure = things.len() == 1
                    && is_person(&names[from].kinds) == Some(true)
                    && is_person(&names[into].kinds) == Some(true)
                    && names[from].is_near(&names[into]);
                found.push(Candidate {
                    from,
                    into,
                    rule: MergeRule::Initials,
                    is_sure,
                });
            }
        }
    }
    found
}

/// A surname or a first name alone: "Silva", where every text that says so also says "João Silva".
pub(super) fn parts_of_names(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut by_part: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        let words = name.words();
        if words.len() < 2 || is_person(&name.kinds) != Some(true) {
            continue;
        }
        for word in [words[0], words[words.len() - 1]] {
            by_part.entry(word).or_default().insert(at);
        }
    }
    let mut found = Vec::new();
    for (from, name) in names.iter().enumerate() {
        if name.words().len() != 1 || is_person(&name.kinds) == Some(false) {
            continue;
        }
        let Some(persons) = by_part.get(name.key.as_str()) else {
            continue;
        };
        let things: BTreeSet<usize> = persons.iter().map(|&at| groups.root(at)).collect();
        if things.len() != 1 {
            continue;
        }
        // The fullest of its names is the one to go into.
        let into = persons
            .iter()
            .copied()
            .max_by_key(|&at| (names[at].key.len(), std::cmp::Reverse(at)));
        let into = into.expect("there is one thing");
        let documents: BTreeSet<i64> = persons
            .iter()
            .flat_map(|&at| names[at].documents.iter().copied())
            .collect();
        let is_sure = name
            .documents
            .iter()
            .all(|document| documents.contains(document));
        if is_sure || persons.iter().any(|&at| name.is_near(&names[at])) {
            found.push(Candidate {
                from,
                into,
                rule: MergeRule::PartOfName,
                is_sure: is_sure && is_person(&name.kinds) == Some(true),
            });
        }
    }
    found
}

/// Last word and first letter of a name that may be a person's, of several words.
fn ends(name: &Named) -> Option<(&str, char)> {
    let words = name.words();
    let last = *words.last()?;
    let may_be =
        words.len() >= 2 && last.chars().count() > 1 && is_person(&name.kinds) != Some(false);
    may_be.then_some(())?;
    Some((last, words[0].chars().next()?))
}

/// Whether a name is another one with more of it written out: every word of the shorter one, or its initial,
/// stands in the longer one, in order.
fn says_more(long: &Named, short: &Named) -> bool {
    let (long_words, short_words) = (long.words(), short.words());
    let letters = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    if letters(&long_words) <= letters(&short_words) || long_words.len() < short_words.len() {
        return false;
    }
    let is_initial = |word: &str| word.chars().count() == 1;
    let fits =
        |short: &str, long: &str| short == long || (is_initial(short) && long.starts_with(short));
    if !fits(short_words[0], long_words[0]) {
        return false;
    }
    let mut rest = long_words.iter();
    short_words
        .iter()
        .all(|short| rest.any(|long| fits(short, long)))
}
