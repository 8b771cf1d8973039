//! Where a passage says what a reply claims it says.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{Word, simplify, squash, words};

/// Names shorter than this, in bytes of their squashed form, are found word by word only.
const SHORTEST_SQUASHED: usize = 5;
/// Words of a quote that have to be found together.
const SHORTEST_QUOTE: usize = 3;
/// Bytes that the sentences between two names may span to stand for a quote.
const LONGEST_SPAN: usize = 1000;

/// A passage made searchable by folded words.
pub(super) struct Grounding<'a> {
    pub(super) text: &'a str,
    words: Vec<Word>,
    /// All folded words in one, Chinese simplified, and for each word where it starts in it.
    squashed: String,
    starts: Vec<usize>,
    sentences: Vec<Range<usize>>,
}

impl<'a> Grounding<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let words = words(text);
        let mut squashed = String::with_capacity(text.len());
        let mut starts = Vec::with_capacity(words.len());
        for word in &words {
            starts.push(squashed.len());
            squashed.push_str(&simplify(&word.folded));
        }
        let mut sentences = Vec::new();
        for (start, line) in lines(text) {
            for (at, sentence) in line.split_sentence_bound_indices() {
                let trimmed = sentence.trim_end();
                if !trimmed.is_empty() {
                    sentences.push(start + at..start + at + trimmed.len());
                }
            }
        }
        Self {
            text,
            words,
            squashed,
            starts,
            sentences,
        }
    }

    /// Every place where the name stands, whole words only, however it is spaced, cased or accented.
    pub(super) fn places(&self, name: &str) -> Vec<Range<usize>> {
        let wanted = words(name);
        if wanted.is_empty() {
            return Vec::new();
        }
        let squashed = squash(name);
        let squashed = simplify(&squashed);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = self.squashed[from..].find(squashed.as_ref()) {
            let start = from + at;
            let end = start + squashed.len();
            if let Ok(first) = self.starts.binary_search(&start) {
                let last = match self.starts.binary_search(&end) {
                    Ok(next) => Some(next - 1),
                    Err(_) if end == self.squashed.len() => Some(self.words.len() - 1),
                    Err(_) => None,
                };
                if let Some(last) = last
                    && (squashed.len() >= SHORTEST_SQUASHED || last + 1 - first == wanted.len())
                {
                    found.push(self.words[first].start..self.words[last].end);
                }
            }
            from = start
                + self.squashed[start..]
                    .chars()
                    .next()
                    .map_or(1, char::len_utf8);
        }
        found
    }

    /// The bytes of the quote. Where the model left something out (`…`), its first longer part.
    pub(super) fn quote(&self, quote: &str) -> Option<Range<usize>> {
        let parts = quote.split("...").flat_map(|part| part.split('…'));
        for part in parts {
            let count = words(part).len();
            if count == 0 || (count < SHORTEST_QUOTE && part.trim() != quote.trim()) {
                continue;
            }
            if let Some(place) = self.places(part).into_iter().next() {
                return Some(self.with_sign(place));
            }
        }
        None
    }

    /// The shortest run of sentences that holds both names.
    pub(super) fn sentences_with(
        &self,
        source: &[Range<usize>],
        target: &[Range<usize>],
    ) -> Option<Range<usize>> {
        let mut best: Option<Range<usize>> = None;
        for one in source {
            for other in target {
                let first = self.sentence_of(one.start.min(other.start))?;
                let last = self.sentence_of(one.end.max(other.end).saturating_sub(1))?;
                let span = first.start..last.end;
                let is_better = best.as_ref().is_none_or(|best| span.len() < best.len());
                if span.len() <= LONGEST_SPAN && is_better {
                    best = Some(span);
                }
            }
        }
        best
    }

    fn sentence_of(&self, byte: usize) -> Option<&Range<usize>> {
        let at = self
            .sentences
            .partition_point(|sentence| sentence.end <= byte);
        self.sentences.get(at)
    }

    /// A place with the sign that ends its sentence.
    fn with_sign(&self, place: Range<usize>) -> Range<usize> {
        let end = self.text[place.end..]
            .chars()
            .next()
            .filter(|c| matches!(c, '.' | '!' | '?' | '。' | '！' | '？'))
            .map_or(place.end, |c| place.end + c.len_utf8());
        place.start..end
    }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "João da Silva runs GraphRAG Labs. He met Ann-Marie O'Neil in 2019.\n林砚秋住在港口。";

    #[test]
    fn names_are_found_as_whole_words() {
        let grounding = Grounding::new(TEXT);
        let check = |name: &str, expected: &[&str]| {
            let found: Vec<&str> = grounding
                .places(name)
                .into_iter()
                .map(|at| &TEXT[at])
                .collect();
            assert_eq!(found, expected, "{name}");
        };
        check("joao da silva", &["João da Silva"]);
        check("Graph RAG", &["GraphRAG"]);
        check("Ann Marie", &["Ann-Marie"]);
        check("林砚秋", &["林砚秋"]);
        check("林硯秋", &["林砚秋"]);
        check("东", &[]);
        check("Sil", &[]);
        check("Pedro", &[]);
        check("", &[]);
        check("?!", &[]);
    }

    #[test]
    fn traditional_and_simplified_chinese_find_each_other() {
        let text = "她在臺灣大學學習，聯合國在紐約。";
        let grounding = Grounding::new(text);
        let place = |name: &str| grounding.places(name).first().map(|at| &text[at.clone()]);
        assert_eq!(place("台湾大学"), Some("臺灣大學"));
        assert_eq!(place("联合国"), Some("聯合國"));
        assert_eq!(
            grounding.quote("联合国在纽约").map(|at| &text[at]),
            Some("聯合國在紐約。")
        );
        assert_eq!(place("联合会"), None);
    }

    #[test]
    fn quotes_are_found_despite_small_changes() {
        let grounding = Grounding::new(TEXT);
        let check = |quote: &str, expected: Option<&str>| {
            assert_eq!(
                grounding.quote(quote).map(|at| &TEXT[at]),
                expected,
                "{quote}"
            );
        };
        check(
            "joão da silva runs graphrag labs",
            Some("João da Silva runs GraphRAG Labs."),
        );
        check(
            "\"He met Ann‑Marie O’Neil in 2019.\"",
            Some("He met Ann-Marie O'Neil in 2019."),
        );
        check("João … runs GraphRAG Labs", Some("runs GraphRAG Labs."));
        check("João founded GraphRAG Labs", None);
        check("", None);
    }

    #[test]
    fn without_a_quote_the_sentence_with_both_names_serves() {
        let grounding = Grounding::new(TEXT);
        let of = |source: &str, target: &str| {
            let (source, target) = (grounding.places(source), grounding.places(target));
            grounding
                .sentences_with(&source, &target)
                .map(|at| &TEXT[at])
        };
        assert_eq!(
            of("João da Silva", "GraphRAG Labs"),
            Some("João da Silva runs GraphRAG Labs.")
        );
        assert_eq!(
            of("João da Silva", "2019"),
            Some("João da Silva runs GraphRAG Labs. He met Ann-Marie O'Neil in 2019.")
        );
        assert_eq!(of("João da Silva", "Pedro"), None);
    }
}
