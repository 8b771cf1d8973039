//! The sentence of a chunk that says most of what was asked.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::text::{Language, QueryTerm, Tokenizer};

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

/// Sentences and lines of a text, trimmed; what is longer than `longest` bytes is cut at a blank.
pub(super) fn sentences(text: &str, longest: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let ends = match c {
            '\n' => line_ends_sentence(text[start..at].trim_start(), &text[after..]),
            '。' | '！' | '？' | '；' => true,
            '.' if text[start..at]
                .trim()
                .bytes()
                .all(|byte| byte.is_ascii_digit()) =>
            {
                false
            }
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends || after - start > longest && c.is_whitespace() || after - start > longest + 80 {
            push_trimmed(text, start..after, &mut found);
            start = after;
        }
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

/// A line break inside a paragraph is only where an editor wrapped it: the sentence goes on.
fn line_ends_sentence(line: &str, rest: &str) -> bool {
    let next = rest.split('\n').next().unwrap_or_default().trim_start();
    let starts_block = next.is_empty()
        || next.starts_with(['#', '-', '*', '+', '|', '>', '`', '~'])
        || next.starts_with(|c: char| c.is_ascii_digit());
    starts_block || line.starts_with(['#', '|', '`'])
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let part = &text[range.clone()];
    let trimmed = part.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = range.start + (part.len() - part.trim_start().len());
    found.push(start..start + trimmed.len());
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

    #[test]
    fn sentences_end_where_people_end_them() {
        #[track_caller]
        fn check(text: &str, expected: &[&str]) {
            let found: Vec<&str> = sentences(text, LONGEST)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(found, expected);
        }
        check("One. Two v1.2 is out! ", &["One.", "Two v1.2 is out!"]);
        check("# Head\n\ntext", &["# Head", "text"]);
        check("# Head\ntext", &["# Head", "text"]);
        check("a line that\ngoes on", &["a line that\ngoes on"]);
        check("- one\n- two\n3. three", &["- one", "- two", "3. three"]);
        check("| a | b |\nafter", &["| a | b |", "after"]);
        check("第一句。第二句", &["第一句。", "第二句"]);
        check("  ", &[]);
        assert!(
            sentences(&"x".repeat(2000), LONGEST)
                .iter()
                .all(|range| range.len() <= LONGEST + 81)
        );
    }
}
