//! Things that share a name: a planet and a metal.

use std::collections::{BTreeMap, BTreeSet};

use super::type_family::{Fit, fit};
use crate::text::{Language, is_stop_word, words};

/// Words that a description must have to tell things apart.
const FEWEST_WORDS: usize = 2;

/// What one passage says a name is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub kinds: BTreeSet<String>,
    pub description: Option<String>,
    /// The document that says so, by any number of the caller's.
    pub document: i64,
}

/// Which of several things each reading of a name is about: for each, the type that tells its thing from the
/// others; all `None` where the name has one thing only.
///
/// A type alone makes no other thing: what one text calls a company is an organization to the next. Names are
/// told apart only where their types have nothing in common and their descriptions share no word.
pub fn senses(name: &str, readings: &[Reading]) -> Vec<Option<String>> {
    let mut groups: Vec<(BTreeSet<String>, BTreeSet<String>)> = Vec::new();
    let own: BTreeSet<String> = content_words(name);
    let mut group_of: Vec<Option<usize>> = vec![None; readings.len()];
    let mut order: Vec<usize> = (0..readings.len())
        .filter(|&at| !readings[at].kinds.is_empty())
        .collect();
    // What is described comes first: the rest goes to what it fits.
    order.sort_by_key(|&at| (readings[at].description.is_none(), at));
    for at in order {
        let reading = &readings[at];
        let said: BTreeSet<String> = reading
            .description
            .as_deref()
            .map(content_words)
            .unwrap_or_default()
            .difference(&own)
            .cloned()
            .collect();
        let is_other = |(kinds, words): &(BTreeSet<String>, BTreeSet<String>)| {
            fit(kinds, &reading.kinds) == Fit::Unrelated
                && said.len() >= FEWEST_WORDS
                && words.len() >= FEWEST_WORDS
                && words.is_disjoint(&said)
        };
        let best = (0..groups.len())
            .filter(|&group| !is_other(&groups[group]))
            .max_by_key(|&group| {
                (
                    fit(&groups[group].0, &reading.kinds),
                    std::cmp::Reverse(group),
                )
            });
        let group = best.unwrap_or_else(|| {
            groups.push(<(BTreeSet<String>, BTreeSet<String>)>::default());
            groups.len() - 1
        });
        groups[group].0.extend(reading.kinds.iter().cloned());
        groups[group].1.extend(said);
        group_of[at] = Some(group);
    }
    if groups.len() < 2 {
        return vec![None; readings.len()];
    }
    // A reading without a type follows its document, else the thing that is spoken of most.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for group in group_of.iter().flatten() {
        *counts.entry(*group).or_default() += 1;
    }
    let most = counts
        .iter()
        .max_by_key(|&(&group, &count)| (count, std::cmp::Reverse(group)));
    let most = most.map_or(0, |(&group, _)| group);
    let of_document: BTreeMap<i64, usize> = readings
        .iter()
        .zip(&group_of)
        .rev()
        .filter_map(|(reading, group)| Some((reading.document, (*group)?)))
        .collect();
    readings
        .iter()
        .zip(group_of)
        .map(|(reading, group)| {
            let group = group
                .or_else(|| of_document.get(&reading.document).copied())
                .unwrap_or(most);
            groups[group].0.first().cloned()
        })
        .collect()
}

fn content_words(text: &str) -> BTreeSet<String> {
    let is_function = |word: &str| {
        Language::ALL
            .iter()
            .any(|&language| is_stop_word(word, language))
    };
    words(text)
        .into_iter()
        .map(|word| word.folded.into_string())
        .filter(|word| word.chars().count() > 1 && !is_function(word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(kind: &str, description: &str, document: i64) -> Reading {
        Reading {
            kinds: (!kind.is_empty())
                .then(|| kind.to_owned())
                .into_iter()
                .collect(),
            description: (!description.is_empty()).then(|| description.to_owned()),
            document,
        }
    }

    #[test]
    fn only_types_and_descriptions_together_tell_things_apart() {
        let check = |readings: &[Reading], expected: &[Option<&str>]| {
            let found = senses("Mercury", readings);
            let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
            assert_eq!(found, expected);
        };
        let planet = reading("Planet", "The innermost planet, near the Sun.", 1);
        let metal = reading("Metal", "A liquid used in old thermometers.", 2);
        check(
            &[planet.clone(), metal.clone()],
            &[Some("Planet"), Some("Metal")],
        );
        check(
            &[
                metal.clone(),
                reading("", "", 1),
                planet.clone(),
                reading("", "", 2),
                reading("", "", 3),
            ],
            &[
                Some("Metal"),
                Some("Planet"),
                Some("Planet"),
                Some("Metal"),
                Some("Metal"),
            ],
        );
        // Words for much the same, the same words, or no words: one thing.
        check(
            &[
                planet.clone(),
                reading("CelestialBody", "A rock without air.", 2),
            ],
            &[None, None],
        );
        check(
            &[
                planet.clone(),
                reading("Metal", "Named like the innermost planet.", 2),
            ],
            &[None, None],
        );
        check(&[planet.clone(), reading("Metal", "", 2)], &[None, None]);
        check(
            &[
                planet,
                reading("Concept", "Liquid things in thermometers.", 2),
            ],
            &[None, None],
        );
    }
}
