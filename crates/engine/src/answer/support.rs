use rustc_hash::FxHashSet;

use crate::text::{Language, index_terms, query_terms};

/// Share of a sentence's content words that the quote must hold.
const LEAST_OVERLAP: f64 = 0.5;

/// Whether a quote supports a sentence by its words: at least half of the sentence's content words stand in it, in
/// any of their forms.
pub fn is_supported(sentence: &str, quote: &str, language: Language) -> bool {
    let mut terms = String::new();
    index_terms(quote, language, &mut terms);
    let held: FxHashSet<&str> = terms.split(' ').collect();
    let asked = query_terms(sentence, &[language]);
    let content: Vec<_> = asked.iter().filter(|term| !term.stop).collect();
    if content.is_empty() {
        return false;
    }
    let found = content
        .iter()
        .filter(|term| {
            term.alternatives
                .iter()
                .any(|form| held.contains(form.as_str()))
        })
        .count();
    found as f64 >= LEAST_OVERLAP * content.len() as f64
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
    }
}
