//! How much two texts have in common, by their words.

use std::collections::BTreeSet;

use crate::text::{Tokenizer, detect_language};

/// The words of a text as the search index has them; what programs join by signs is taken apart.
pub(crate) fn terms(text: &str) -> BTreeSet<String> {
    let plain: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let mut terms = String::new();
    Tokenizer::default().index_terms(&plain, detect_language(&plain), &mut terms);
    terms
        .split(' ')
        .filter(|term| !term.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Share of the words of both that both have (Jaccard); 0 for nothing.
pub(crate) fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    if all == 0 {
        0.0
    } else {
        shared as f64 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_makes_no_difference_and_words_do() {
        let check = |one: &str, other: &str, expected: f64| {
            let found = likeness(&terms(one), &terms(other));
            assert!((found - expected).abs() < 0.01, "{one} / {other}: {found}");
        };
        check("works_at", "Works at", 1.0);
        check("stores-in", "stores in", 1.0);
        check("lives in", "born in", 1.0 / 3.0);
        check("", "", 0.0);
        check("a b c", "", 0.0);
    }
}
