use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::text::{Language, index_terms, query_terms, sentences};

/// Share of a sentence's content words that the quote must hold.
const LEAST_OVERLAP: f64 = 0.5;

/// Whether a quote supports a sentence by its words: at least half of the sentence's content words stand in it, in
/// any of their forms, and all of its longer numbers: years and amounts.
pub fn is_supported(sentence: &str, quote: &str, language: Language) -> bool {
    numbers_stand(sentence, quote) && overlap(sentence, quote, language) >= LEAST_OVERLAP
}

/// Whether all longer numbers of a sentence stand in the quote.
pub fn numbers_stand(sentence: &str, quote: &str) -> bool {
    let numbers_of = |text| numbers(text).collect::<FxHashSet<String>>();
    numbers_of(sentence).is_subset(&numbers_of(quote))
}

/// The sentence of a quote that supports a sentence best, where one does so alone; otherwise the whole quote.
pub fn narrowed(sentence: &str, quote: &str, language: Language) -> Range<usize> {
    /// Longer ones are cut.
    const LONGEST: usize = 1_200;
    let mut best = (0.0, 0..quote.len());
    for range in sentences(quote, LONGEST) {
        let part = &quote[range.clone()];
        let held = overlap(sentence, part, language);
        if held > best.0 && is_supported(sentence, part, language) {
            best = (held, range);
        }
    }
    best.1
}

/// Share of the sentence's content words that the quote holds; 0 where it has none.
fn overlap(sentence: &str, quote: &str, language: Language) -> f64 {
    let mut terms = String::new();
    index_terms(quote, language, &mut terms);
    let held: FxHashSet<&str> = terms.split(' ').collect();
    let asked = query_terms(sentence, &[language]);
    let content: Vec<_> = asked.iter().filter(|term| !term.stop).collect();
    let found = content
        .iter()
        .filter(|term| {
            term.alternatives
                .iter()
                .any(|form| held.contains(form.as_str()))
        })
        .count();
    found as f64 / content.len().max(1) as f64
}

/// Numbers of three digits and more, without what groups them. Shorter ones may be put into words.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .map(|number| number.replace(['.', ','], ""))
        .filter(|number| number.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_content_words_must_stand_in_the_quote() {
        let check = |sentence, quote, expected| {
            assert_eq!(
                is_supported(sentence, quote, Language::English),
                expected,
                "{sentence}"
            );
        };
        check(
            "The kiln was built in 1911.",
            "Ana built this kiln in 1911, they say.",
            true,
        );
        check(
            "The kiln belongs to Marta.",
            "Ana built this oven in 1911.",
            false,
        );
        check("It is.", "It is.", false);
        check(
            "The kiln was built in 1912.",
            "Ana built this kiln in 1911.",
            false,
        );
        check(
            "Its 2 doors were built with the kiln.",
            "Ana built this kiln with two doors.",
            true,
        );
        check(
            "It cost 1.200 reis to build the kiln.",
            "The kiln cost 1,200 reis.",
            true,
        );
    }

    #[test]
    fn a_citation_is_as_narrow_as_its_sentence_lets_it_be() {
        let quote = "The oven is red. Ana built the kiln in 1911. It burns wood.";
        let check = |sentence, expected: &str| {
            assert_eq!(
                &quote[narrowed(sentence, quote, Language::English)],
                expected
            );
        };
        check("The kiln was built by Ana.", "Ana built the kiln in 1911.");
        check("Ana's red kiln from 1911 burns wood, an oven.", quote);
    }
}
