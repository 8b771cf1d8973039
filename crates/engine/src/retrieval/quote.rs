//! The sentence of a chunk that says most of what was asked.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::text::{Language, QueryTerm, Tokenizer, sentences};

/// Quotes are not longer than this many bytes.
const LONGEST: usize = 320;

/// Byte range of the best sentence or line of `text`: the one with most distinct words of the question,
/// the first of equals. A heading says what a text is about but states nothing, and no more does an
/// embedded picture, so they come last.
pub(super) fn best_quote(
    text: &str,
    language: Language,
    terms: &[QueryTerm],
    tokenizer: &mut Tokenizer,
) -> Range<usize> {
    let wanted: FxHashSet<&str> = terms
        .iter()
        .filter(|term| !term.stop)
        .flat_map(|term| term.alternatives.iter().map(String::as_str))
        .collect();
    let mut best = ((false, 0), 0..0);
    let mut buffer = String::new();
    for sentence in sentences(text, LONGEST) {
        buffer.clear();
        tokenizer.index_terms(&text[sentence.clone()], language, &mut buffer);
        let found: FxHashSet<&str> = buffer
            .split(' ')
            .filter(|term| wanted.contains(term))
            .collect();
        let merit = (states_something(&text[sentence.clone()]), found.len());
        if best.1.is_empty() || merit > best.0 {
            best = (merit, sentence);
        }
    }
    best.1
}

/// False for headings and for what is nothing but one embed.
pub(super) fn states_something(sentence: &str) -> bool {
    let item = sentence.trim_start_matches(['-', '*', '+', '>', ' ']);
    let is_embed = item.starts_with("![") && item.ends_with([']', ')']);
    !sentence.starts_with('#') && !is_embed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::query_terms;

    #[test]
    fn what_states_something_is_quoted() {
        #[track_caller]
        fn check(text: &str, question: &str, expected: &str) {
            let terms = query_terms(question, &[Language::English]);
            let mut tokenizer = Tokenizer::default();
            let quote = best_quote(text, Language::English, &terms, &mut tokenizer);
            assert_eq!(&text[quote], expected);
        }
        let note = "# Kiln\n\n![[kiln.png]]\n\nBuilt by Ana.\n\n- ![kiln](kiln.jpg)\n";
        check(note, "kiln", "Built by Ana.");
        check("# Kiln\n\n![[kiln.png]]\n", "kiln", "# Kiln");
        check(
            "One. The kiln. A red kiln, fired.",
            "fired kiln",
            "A red kiln, fired.",
        );
        check("One. Two.", "nothing", "One.");
    }
}
