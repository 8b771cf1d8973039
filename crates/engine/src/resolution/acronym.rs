//! Acronyms and what they stand for.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::Groups;
use super::named::{Candidate, Named};
use super::type_family::{Fit, fit};
use crate::text::{Language, fold, is_stop_word};
use crate::types::MergeRule;

/// Letters of an acronym.
const SHORTEST: usize = 2;
const LONGEST: usize = 10;
/// An acronym of fewer letters stands for too much to be settled.
const SHORTEST_SURE: usize = 3;
/// Proposals for one acronym; one of more is a common abbreviation.
const MOST_PROPOSED: usize = 4;

/// Acronyms with the names that they can stand for.
pub(super) fn acronyms(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut long: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        for initials in initials_of(&name.key) {
            long.entry(initials).or_default().insert(at);
        }
    }
    let mut found = Vec::new();
    for (from, name) in names.iter().enumerate() {
        let letters = name
            .spellings
            .iter()
            .find_map(|spelling| letters_of(spelling));
        let Some(forms) = letters.and_then(|letters| long.get(&letters)) else {
            continue;
        };
        let fitting: Vec<usize> = forms
            .iter()
            .copied()
            .filter(|&into| into != from && fit(&name.kinds, &names[into].kinds) != Fit::Unrelated)
            .collect();
        let things: BTreeSet<usize> = fitting.iter().map(|&into| groups.root(into)).collect();
        if fitting.len() > MOST_PROPOSED {
            continue;
        }
        for into in fitting {
            let is_sure = things.len() == 1
                && name.key.chars().count() >= SHORTEST_SURE
                && !name.documents.is_disjoint(&names[into].documents);
            found.push(Candidate {
                from,
                into,
                rule: MergeRule::Acronym,
                is_sure,
            });
        }
    }
    found
}

/// The letters of a name that is an acronym: capitals, with or without full stops.
fn letters_of(spelling: &str) -> Option<String> {
    let is_written = spelling
        .chars()
        .all(|c| c.is_uppercase() || matches!(c, '.' | '-' | '&'));
    let letters: String = spelling.chars().filter(|c| c.is_alphabetic()).collect();
    let length = letters.chars().count();
    (is_written && (SHORTEST..=LONGEST).contains(&length)).then(|| fold(&letters))
}

/// First letters of the words of a name: of all of them, and of those that are no function words.
fn initials_of(key: &str) -> Vec<String> {
    let words: Vec<&str> = key.split(' ').collect();
    if words.len() < 2 || words.len() > LONGEST {
        return Vec::new();
    }
    let of = |words: &[&str]| {
        words
            .iter()
            .filter_map(|word| word.chars().next())
            .collect::<String>()
    };
    let all = of(&words);
    let is_function = |word: &str| {
        Language::ALL
            .iter()
            .any(|&language| is_stop_word(word, language))
    };
    let strong: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !is_function(word))
        .collect();
    let mut found = vec![all];
    if strong.len() > 1 && strong.len() < words.len() {
        found.push(of(&strong));
    }
    found.retain(|initials| initials.chars().count() >= SHORTEST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_initials_meet() {
        let check = |acronym: &str, long: &str| {
            let letters = letters_of(acronym).unwrap();
            assert!(
                initials_of(&fold(long)).contains(&letters),
                "{acronym} / {long}"
            );
        };
        check("NHS", "National Health Service");
        check("U.S.A.", "United States of America");
        check("UFMG", "Universidade Federal de Minas Gerais");
        check("ООН", "Организация Объединённых Наций");
        assert_eq!(letters_of("Nhs"), None);
        assert_eq!(letters_of("GPT4"), None);
        assert_eq!(letters_of("X"), None);
    }
}
