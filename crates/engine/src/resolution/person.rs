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
            groups.count(alike.len());
            let fuller: Vec<(usize, Fuller)> = alike
                .iter()
                .filter_map(|&into| Some((into, fuller(&names[into], &names[from])?)))
                .collect();
            let things: BTreeSet<usize> =
                fuller.iter().map(|&(into, _)| groups.root(into)).collect();
            for (into, how) in fuller {
                let is_sure = things.len() == 1
                    && is_person(&names[from].kinds) == Some(true)
                    && is_person(&names[into].kinds) == Some(true)
                    // Who writes out both in one text may well mean two persons.
                    && !(how == Fuller::ByAName && names[from].shares_text(&names[into]))
                    && groups.are_near(from, into);
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
        groups.count(persons.len());
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
        if is_sure || persons.iter().any(|&at| groups.are_near(from, at)) {
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

/// How a name is another one with more of it written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fuller {
    /// Initials are written out.
    ByLetters,
    /// It has a name more than the other one, which is no abbreviation otherwise.
    ByAName,
}

/// How the longer name says more than the shorter one, of the same last word; `None` where it may well be somebody
/// else's. Names may be left out, but where middle initials stand they are the person's: "George W. Bush" is not
/// "George H. W. Bush".
fn fuller(long: &Named, short: &Named) -> Option<Fuller> {
    let (long_words, short_words) = (long.words(), short.words());
    let letters = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    if letters(&long_words) <= letters(&short_words) || long_words.len() < short_words.len() {
        return None;
    }
    let is_initial = |word: &str| word.chars().count() == 1;
    let fits =
        |short: &str, long: &str| short == long || (is_initial(short) && long.starts_with(short));
    if !fits(short_words[0], long_words[0]) {
        return None;
    }
    let mut rest = long_words.iter();
    let is_in_order = short_words
        .iter()
        .all(|short| rest.any(|long| fits(short, long)));
    if !is_in_order {
        return None;
    }
    if long_words.len() == short_words.len() {
        return Some(Fuller::ByLetters);
    }
    let (long_middle, short_middle) = (middle(&long_words), middle(&short_words));
    let has_initials = long_middle
        .iter()
        .chain(short_middle)
        .any(|word| is_initial(word));
    match (short_middle.is_empty(), is_initial(short_words[0])) {
        (false, _) if has_initials => None,
        (_, true) => Some(Fuller::ByLetters),
        (_, false) => Some(Fuller::ByAName),
    }
}

/// The words between the first and the last one.
fn middle<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    &words[1..words.len() - 1]
}
