//! The rules, in the order in which they are tried: from what is certain to what only may be.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::acronym::acronyms;
use super::groups::Groups;
use super::guard::without_legal_form;
use super::named::{Candidate, Named};
use super::person::{left_out_names, parts_of_names};
use super::romanize::{romanize, skeleton};
use super::similar::similar;
use super::type_family::{Fit, fit, is_organization};
use crate::text::{Language, index_terms, is_stop_word, name_key, squash};
use crate::types::MergeRule;

/// Finds pairs, given what is joined already.
type Step = fn(&[Named], &Groups<'_>) -> Vec<Candidate>;

pub(super) const STEPS: [Step; 10] = [
    shared_names,
    same_letters,
    stated_aliases,
    legal_forms,
    inflections,
    transliterations,
    acronyms,
    left_out_names,
    parts_of_names,
    last_resorts,
];

/// Letters that two spellings must share to be one name but for its blanks: "e mail" and "email".
const SHORTEST_SQUASHED: usize = 4;
/// Names under one form; where there are more, the form says nothing.
const MOST_OF_A_FORM: usize = 4;

/// The longer name is the one to keep, with as few initials as there are; of equals the more frequent one.
pub(super) fn directed(
    names: &[Named],
    one: usize,
    other: usize,
    rule: MergeRule,
    is_sure: bool,
) -> Candidate {
    let rank = |at: usize| {
        let name = &names[at];
        let words = name.words();
        let initials = words.iter().filter(|word| word.chars().count() == 1);
        (
            words.len(),
            Reverse(initials.count()),
            name.count,
            name.key.chars().count(),
            Reverse(at),
        )
    };
    let (from, into) = if rank(one) < rank(other) {
        (one, other)
    } else {
        (other, one)
    };
    Candidate {
        from,
        into,
        rule,
        is_sure,
    }
}

/// Pairs of all names that share a form, unless too many do.
fn pairs_of(forms: BTreeMap<String, BTreeSet<usize>>) -> impl Iterator<Item = (usize, usize)> {
    forms
        .into_values()
        .filter(|names| (2..=MOST_OF_A_FORM).contains(&names.len()))
        .flat_map(|names| {
            let names: Vec<usize> = names.into_iter().collect();
            let mut pairs = Vec::new();
            for (at, &one) in names.iter().enumerate() {
                pairs.extend(names[at + 1..].iter().map(|&other| (one, other)));
            }
            pairs
        })
}

/// Things of one name that were told apart: somebody may know better.
fn shared_names(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let mut forms: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(shared) = &name.shared {
            forms.entry(shared.clone()).or_default().insert(at);
        }
    }
    let directed = |(one, other)| directed(names, one, other, MergeRule::SameName, false);
    pairs_of(forms).map(directed).collect()
}

fn same_letters(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let mut forms: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        let form = squash(&name.key);
        if form.chars().filter(|c| c.is_alphabetic()).count() >= SHORTEST_SQUASHED {
            forms.entry(form).or_default().insert(at);
        }
    }
    pairs_of(forms)
        .map(|(one, other)| {
            // Which of them is written apart says nothing about which is the better one.
            let (from, into) = if names[one].count < names[other].count {
                (one, other)
            } else {
                (other, one)
            };
            Candidate {
                from,
                into,
                rule: MergeRule::SameLetters,
                is_sure: fit(&names[one].kinds, &names[other].kinds) != Fit::Unrelated,
            }
        })
        .collect()
}

fn stated_aliases(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let by_key: BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.key.as_str(), at))
        .collect();
    let mut owners: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (owner, name) in names.iter().enumerate() {
        for alias in &name.aliases {
            if let Some(&at) = by_key.get(name_key(alias).as_str())
                && at != owner
            {
                owners.entry(at).or_default().insert(owner);
            }
        }
    }
    let mut found = Vec::new();
    for (at, owners) in owners {
        let is_sure = owners.len() == 1;
        if owners.len() > MOST_OF_A_FORM {
            continue;
        }
        for owner in owners {
            let fits = fit(&names[at].kinds, &names[owner].kinds) != Fit::Unrelated;
            found.push(directed(
                names,
                at,
                owner,
                MergeRule::StatedAlias,
                is_sure && fits,
            ));
        }
    }
    found
}

fn legal_forms(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let mut forms: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        let form = without_legal_form(&name.key).unwrap_or(&name.key);
        forms.entry(form).or_default().insert(at);
    }
    let mut found = Vec::new();
    for (form, names_of) in forms {
        let bare = names_of.iter().copied().find(|&at| names[at].key == form);
        let (Some(bare), 2..=MOST_OF_A_FORM) = (bare, names_of.len()) else {
            continue;
        };
        for &full in names_of.iter().filter(|&&at| at != bare) {
            let is_company = |at: usize| is_organization(&names[at].kinds);
            if is_company(bare) == Some(false) {
                continue;
            }
            found.push(Candidate {
                // The everyday name is the one to show.
                from: full,
                into: bare,
                rule: MergeRule::LegalForm,
                is_sure: names_of.len() == 2
                    && is_company(bare).is_some()
                    && is_company(full) == Some(true),
            });
        }
    }
    found
}

fn inflections(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let mut forms: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        for &language in &name.languages {
            let mut stems = String::new();
            index_terms(&name.key, language, &mut stems);
            forms.entry(stems).or_default().insert(at);
        }
    }
    pairs_of(forms)
        .filter_map(|(one, other)| {
            let fit = fit(&names[one].kinds, &names[other].kinds);
            // Half of such pairs are two things: a people and its language, a cup and its editions.
            (fit != Fit::Unrelated)
                .then(|| directed(names, one, other, MergeRule::Inflection, false))
        })
        .collect()
}

fn transliterations(names: &[Named], _: &Groups<'_>) -> Vec<Candidate> {
    let mut forms: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(latin) = romanize(&name.key) {
            let form = skeleton(&latin);
            if form.chars().count() >= SHORTEST_SQUASHED {
                forms.entry(form).or_default().insert(at);
            }
        }
    }
    pairs_of(forms)
        .filter_map(|(one, other)| {
            let fit = fit(&names[one].kinds, &names[other].kinds);
            let is_across = names[one].key.is_ascii() != names[other].key.is_ascii();
            let is_sure = is_across && fit >= Fit::Related;
            (fit != Fit::Unrelated)
                .then(|| directed(names, one, other, MergeRule::Transliteration, is_sure))
        })
        .collect()
}

/// What only a person or a model can settle.
fn last_resorts(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut found = descriptions(names);
    found.extend(similar(names, groups));
    found.extend(alike(names, groups));
    found
}

/// Names whose vectors are near.
fn alike(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (one, name) in names.iter().enumerate() {
        for key in &name.near {
            let Ok(other) = names.binary_search_by(|name| name.key.cmp(key)) else {
                continue;
            };
            if one < other
                && groups.root(one) != groups.root(other)
                && fit(&name.kinds, &names[other].kinds) != Fit::Unrelated
            {
                found.push(directed(names, one, other, MergeRule::Alike, false));
            }
        }
    }
    found
}

/// "the company that makes X" and the one thing that has the same relation to X.
fn descriptions(names: &[Named]) -> Vec<Candidate> {
    let mut subjects: BTreeMap<(&str, bool, &str), BTreeSet<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        for (kind, leads_away, end) in &name.ties {
            subjects
                .entry((kind, *leads_away, end))
                .or_default()
                .insert(at);
        }
    }
    let mut found = Vec::new();
    for (from, name) in names.iter().enumerate() {
        if !is_description(name) {
            continue;
        }
        for (kind, leads_away, end) in &name.ties {
            // The description speaks of what it is tied to.
            if !name.key.contains(end.as_str()) {
                continue;
            }
            let others: Vec<usize> = subjects[&(kind.as_str(), *leads_away, end.as_str())]
                .iter()
                .copied()
                .filter(|&at| at != from && !is_description(&names[at]))
                .collect();
            if let [into] = others[..]
                && fit(&name.kinds, &names[into].kinds) != Fit::Unrelated
            {
                found.push(Candidate {
                    from,
                    into,
                    rule: MergeRule::Description,
                    is_sure: false,
                });
            }
        }
    }
    found
}

/// Words that describe rather than name: they begin with a small article or the like, and are several.
fn is_description(name: &Named) -> bool {
    let words = name.words();
    let is_function = |word: &str| {
        Language::ALL
            .iter()
            .any(|&language| is_stop_word(word, language))
    };
    words.len() >= 4
        && words.iter().filter(|word| is_function(word)).count() >= 2
        && name
            .spellings
            .iter()
            .all(|spelling| spelling.starts_with(char::is_lowercase))
}
