//! Phrases that repeat within one text: names where nothing is capitalised.

use rustc_hash::FxHashMap;

use crate::text::{Language, Word, WordKind, is_stop_word, is_stop_word_here};

/// Lengths of a phrase in words, and in characters of a script without spaces.
const WORDS: std::ops::RangeInclusive<usize> = 2..=4;
const CHARACTERS: std::ops::RangeInclusive<usize> = 2..=8;

/// Characters of Chinese and Japanese that hardly ever belong to a name: function characters beyond the stop
/// words, and units of time and number.
const UNLIKELY: &str = "一二三四五六七八九十年月日时来到要能可很更最已将让使";

/// Calls `found` with the word range of every place of every phrase without function words and numbers that
/// stands at least twice in the text and in no longer phrase as often.
pub(super) fn repeated_phrases(
    text: &str,
    words: &[Word],
    language: Language,
    mut found: impl FnMut(usize, usize),
) {
    let runs = runs(text, words, language);
    let numbers = numbers_of(words);
    // A phrase repeats only where its first two words do, and few pairs of words stand twice in one text.
    let pair = |start: usize| (numbers[start], numbers[start + 1]);
    let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for &(from, to) in &runs {
        for start in from..to - 1 {
            *pairs.entry(pair(start)).or_default() += 1;
        }
    }
    let mut places: FxHashMap<&[u32], Vec<usize>> = FxHashMap::default();
    for &(from, to) in &runs {
        for start in (from..to - 1).filter(|&start| pairs[&pair(start)] > 1) {
            let longest = (to - start).min(*lengths(&words[start]).end());
            for length in *lengths(&words[start]).start()..=longest {
                let phrase = &numbers[start..start + length];
                places.entry(phrase).or_default().push(start);
            }
        }
    }
    let count = |from: usize, to: usize| places.get(&numbers[from..to]).map_or(0, Vec::len);
    for (phrase, starts) in &places {
        let length = phrase.len();
        if starts.len() < 2 {
            continue;
        }
        // Every place lies in the same longer phrase when that phrase is as frequent.
        let first = starts[0];
        let wider = first > 0 && count(first - 1, first + length) >= starts.len()
            || first + length < words.len() && count(first, first + length + 1) >= starts.len();
        if !wider {
            for &start in starts {
                found(start, start + length);
            }
        }
    }
}

/// A number for every word, the same for words with the same folded form.
fn numbers_of(words: &[Word]) -> Vec<u32> {
    let mut known: FxHashMap<&str, u32> = FxHashMap::default();
    known.reserve(words.len());
    words
        .iter()
        .zip(0..)
        .map(|(word, fresh)| *known.entry(&word.folded).or_insert(fresh))
        .collect()
}

fn lengths(word: &Word) -> std::ops::RangeInclusive<usize> {
    match word.kind {
        WordKind::Cjk => CHARACTERS,
        _ => WORDS,
    }
}

/// Runs of words that a phrase may consist of, all of one script and joined by nothing but a space or hyphen
/// (nothing at all where the script has no spaces).
fn runs(text: &str, words: &[Word], language: Language) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !may_belong(word, language) {
            continue;
        }
        let goes_on = runs.last().is_some_and(|&(_, to)| {
            to == at && {
                let before = &words[at - 1];
                let gap = &text[before.end..word.start];
                (before.kind == WordKind::Cjk) == (word.kind == WordKind::Cjk)
                    && match word.kind {
                        WordKind::Cjk => gap.is_empty(),
                        _ => matches!(gap, " " | "-" | "\u{a0}"),
                    }
            }
        });
        match runs.last_mut() {
            Some(run) if goes_on => run.1 = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

fn may_belong(word: &Word, language: Language) -> bool {
    match word.kind {
        WordKind::Number => false,
        WordKind::Cjk => {
            let language = match language {
                Language::Japanese | Language::Korean => language,
                _ => Language::Chinese,
            };
            !is_stop_word(&word.folded, language) && !word.folded.contains(|c| UNLIKELY.contains(c))
        }
        WordKind::Word => {
            word.folded.chars().nth(1).is_some() && !is_stop_word_here(&word.folded, language)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    fn phrases(text: &str, language: Language) -> Vec<String> {
        let words = words(text);
        let mut found = Vec::new();
        repeated_phrases(text, &words, language, |from, to| {
            found.push(text[words[from].start..words[to - 1].end].to_owned());
        });
        found.sort();
        found
    }

    #[test]
    fn what_repeats_is_a_phrase() {
        #[track_caller]
        fn check(text: &str, language: Language, expected: &[&str]) {
            assert_eq!(phrases(text, language), expected, "{text}");
        }
        use Language::{Chinese, English, Portuguese};
        check("", English, &[]);
        check("machine learning", English, &[]);
        check(
            "machine learning and Machine Learning",
            English,
            &["Machine Learning", "machine learning"],
        );
        // The longest phrase stands for its parts.
        check(
            "deep sea drill, deep sea drill",
            English,
            &["deep sea drill"; 2],
        );
        // Unless a part is more frequent.
        check(
            "deep sea drill; deep sea drill; deep sea",
            English,
            &[
                "deep sea",
                "deep sea",
                "deep sea",
                "deep sea drill",
                "deep sea drill",
            ],
        );
        check("água de lastro e água de lastro", Portuguese, &[]);
        check("marés vivas; marés vivas", Portuguese, &["marés vivas"; 2]);
        check("海上风电，海上风电。", Chinese, &["海上风电"; 2]);
        check("是的，是的", Chinese, &[]);
        check("a. b; a. b", English, &[]);
    }
}
