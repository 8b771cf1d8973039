//! The rules, in the order in which they are tried: from what is certain to what only may be.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::acronym::acronyms;
use super::groups::Groups;
use super::guard::without_legal_form;
use super::named::{Candidate, Named};
use super::person::{left_out_names, parts_of_names};
use super::romanize::{as_pinyin, pinyin, romanize, skeleton};
use super::similar::similar;
use super::type_family::{Fit, fit, is_organization, is_person};
use crate::text::{Language, index_terms, is_stop_word, name_key, simplify, squash};
use crate::types::MergeRule;

/// Finds pairs, given what is joined already.
type Step = fn(&[Named], &Groups<'_>) -> Vec<Candidate>;

pub(super) const STEPS: [Step; 11] = [
    shared_names,
    same_letters,
    stated_aliases,
    legal_forms,
    inflections,
    transliterations,
    pinyin_names,
    acronyms,
    left_out_names,
    parts_of_names,
    last_resorts,
];

/// Letters that two spellings must share to be one name but for its blanks: "e mail" and "email".
const SHORTEST_SQUASHED: usize = 4;
/// The same of Chinese, Japanese and Korean characters, which say more each.
const SHORTEST_DENSE: usize = 2;
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
        let form = simplify(&squash(&name.key)).into_owned();
        let letters = form.chars().filter(|c| c.is_alphabetic()).count();
        let is_dense = form.chars().all(|c| c >= '\u{2E80}');
        if letters >= SHORTEST_SQUASHED || is_dense && letters >= SHORTEST_DENSE {
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

/// Chinese names and what their characters sound like. Many names sound alike: a pair is sure only where neither
/// name can be another thing's, and of persons where texts bring the two together.
fn pinyin_names(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut by_sound: BTreeMap<String, [BTreeSet<usize>; 2]> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        for sound in pinyin(&name.key) {
            by_sound.entry(sound).or_default()[0].insert(at);
        }
    }
    if by_sound.is_empty() {
        return Vec::new();
    }
    for (at, name) in names.iter().enumerate() {
        for form in as_pinyin(&name.key) {
            if let Some([_, latin]) = by_sound.get_mut(&form) {
                latin.insert(at);
            }
        }
    }
    // For each name of either script, the names of the other one that sound like it.
    let mut alike: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for [han, latin] in by_sound.values() {
        if han.len() > MOST_OF_A_FORM || latin.len() > MOST_OF_A_FORM {
            continue;
        }
        for (&one, &other) in han
            .iter()
            .flat_map(|one| latin.iter().map(move |other| (one, other)))
        {
            alike.entry(one).or_default().insert(other);
            alike.entry(other).or_default().insert(one);
        }
    }
    let is_single = |at: usize| {
        let things: BTreeSet<usize> = alike[&at].iter().map(|&at| groups.root(at)).collect();
        things.len() == 1
    };
    let mut found = Vec::new();
    for (&one, others) in alike.iter().filter(|(at, _)| !names[**at].key.is_ascii()) {
        for &other in others {
            let fit = fit(&names[one].kinds, &names[other].kinds);
            if fit == Fit::Unrelated {
                continue;
            }
            let is_sure = fit >= Fit::Related
                && is_single(one)
                && is_single(other)
                && (is_person(&names[one].kinds) == Some(false) || groups.are_near(one, other));
            found.push(directed(
                names,
                one,
                other,
                MergeRule::Transliteration,
                is_sure,
            ));
        }
    }
    found
}

/// What only a person or a model can settle.
fn last_resorts(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let mut found = descriptions(names, groups);
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
fn descriptions(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let (descriptions, proper): (Vec<usize>, Vec<usize>) =
        (0..names.len()).partition(|&at| is_description(&names[at]));
    // The one proper name that has a tie; `None` where several have it.
    let mut owner: BTreeMap<(&str, bool, &str), Option<usize>> = BTreeMap::new();
    for at in proper {
        groups.count(names[at].ties.len());
        for (kind, leads_away, end) in &names[at].ties {
            owner
                .entry((kind, *leads_away, end))
                .and_modify(|owner| *owner = None)
                .or_insert(Some(at));
        }
    }
    let mut found = Vec::new();
    for from in descriptions {
        let name = &names[from];
        groups.count(name.ties.len());
        for (kind, leads_away, end) in &name.ties {
            // The description speaks of what it is tied to.
            if !name.key.contains(end.as_str()) {
                continue;
            }
            let owner = owner.get(&(kind.as_str(), *leads_away, end.as_str()));
            if let Some(&Some(into)) = owner
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
