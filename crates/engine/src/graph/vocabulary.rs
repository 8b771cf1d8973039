//! Known names, and where a text says them: longest match over folded words.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::text::{Language, WordKind, for_each_word, is_stop_word_here, words};

/// Longest name that is looked for in texts, in words (characters where a script has no spaces).
pub const LONGEST_NAME: usize = 16;

/// A known name at a place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameMatch {
    /// Bytes in the text; [`crate::text::fold`] of `text[start..end]` is the name.
    pub start: usize,
    pub end: usize,
    /// Position of the name in the list the vocabulary was made from.
    pub name: u32,
}

/// All known names, ready to be found in any number of texts.
///
/// A trie over words: every word of the names has a number, an edge is (node, number of the word, whether
/// it stands apart from the one before). A text's word that no name contains ends every match at once.
#[derive(Debug, Default)]
pub struct Vocabulary {
    numbers: FxHashMap<Box<str>, u32>,
    /// By word number: the node of the names that start with it, or [`NOTHING`].
    first: Vec<u32>,
    edges: FxHashMap<(u32, u32), u32>,
    /// By node: the name that ends there, or [`NOTHING`].
    names: Vec<u32>,
}

const NOTHING: u32 = u32::MAX;

impl Vocabulary {
    /// From folded names; empty ones and those over [`LONGEST_NAME`] are never found. Of equal names the
    /// first counts.
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut vocabulary = Self::default();
        for (name, number) in names.into_iter().zip(0..) {
            vocabulary.insert(name.as_ref(), number);
        }
        vocabulary
    }

    fn insert(&mut self, folded: &str, name: u32) {
        let words = words(folded);
        if words.is_empty() || words.len() > LONGEST_NAME {
            return;
        }
        let mut node = NOTHING;
        for (position, word) in words.iter().enumerate() {
            let number = self.number(&word.folded);
            let fresh = self.names.len() as u32;
            node = if position == 0 {
                let slot = &mut self.first[number as usize];
                if *slot == NOTHING {
                    *slot = fresh;
                }
                *slot
            } else {
                *self
                    .edges
                    .entry((node, label(number, word.separated)))
                    .or_insert(fresh)
            };
            if node == fresh {
                self.names.push(NOTHING);
            }
        }
        let slot = &mut self.names[node as usize];
        if *slot == NOTHING {
            *slot = name;
        }
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.first.len() as u32;
        self.numbers.insert(word.into(), number);
        self.first.push(NOTHING);
        number
    }

    /// The names in `text`, leftmost longest, without overlaps, in order. A single word counts only when it
    /// can stand alone (see [`stands_alone`]).
    pub fn matches(&self, text: &str, language: Language) -> Vec<NameMatch> {
        struct Token {
            start: usize,
            end: usize,
            number: u32,
            separated: bool,
            kind: WordKind,
        }
        let mut tokens = Vec::with_capacity(text.len() / 5 + 1);
        for_each_word(text, |word| {
            tokens.push(Token {
                start: word.start,
                end: word.end,
                number: self.numbers.get(word.folded).copied().unwrap_or(NOTHING),
                separated: word.separated,
                kind: word.kind,
            });
        });
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let mut best = None;
            let mut node = match tokens[at].number {
                NOTHING => NOTHING,
                number => self.first[number as usize],
            };
            let mut next = at;
            while node != NOTHING {
                next += 1;
                let name = self.names[node as usize];
                if name != NOTHING
                    && (next > at + 1 || {
                        let token = &tokens[at];
                        stands_alone(&text[token.start..token.end], token.kind, language)
                    })
                {
                    best = Some((next, name));
                }
                node = match tokens.get(next) {
                    Some(token) if token.number != NOTHING => *self
                        .edges
                        .get(&(node, label(token.number, token.separated)))
                        .unwrap_or(&NOTHING),
                    _ => NOTHING,
                };
            }
            match best {
                Some((end, name)) => {
                    found.push(NameMatch {
                        start: tokens[at].start,
                        end: tokens[end - 1].end,
                        name,
                    });
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }
}

fn label(number: u32, separated: bool) -> u32 {
    number << 1 | u32::from(separated)
}

/// Whether one word alone may be taken for a name when it equals one. Function words never; one character of
/// a script without spaces never; what is shorter than three characters only as written with a capital
/// (`Go`, `AI`), because as plain words such names are too common.
fn stands_alone(written: &str, kind: WordKind, language: Language) -> bool {
    if kind == WordKind::Cjk {
        return false;
    }
    if written.chars().nth(2).is_none() && !written.contains(char::is_uppercase) {
        return false;
    }
    let folded = crate::text::fold(written);
    !is_stop_word_here(&folded, language)
}

/// What a store of names says about the start of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// The text is a name.
    pub name: bool,
    /// Names may exist that start with the text and go on. Saying yes without knowing costs time only.
    pub longer: bool,
}

/// Known names that are asked for one by one: for a few texts this is cheaper than loading all names.
pub trait NameLookup {
    /// Why the names could not be read.
    type Error;

    /// What is known about `prefix`, a folded text.
    fn lookup(&mut self, prefix: &str) -> Result<Known, Self::Error>;
}

/// The places that [`Vocabulary::matches`] would find with all names of `lookup`. The name at a place is
/// [`crate::text::fold`] of its text.
pub fn find_names<L: NameLookup>(
    text: &str,
    language: Language,
    lookup: &mut L,
) -> Result<Vec<Range<usize>>, L::Error> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    let mut prefix = String::new();
    while at < words.len() {
        prefix.clear();
        let mut best = None;
        for (position, word) in words.iter().enumerate().skip(at).take(LONGEST_NAME) {
            if position > at && word.separated {
                prefix.push(' ');
            }
            prefix.push_str(&word.folded);
            let known = lookup.lookup(&prefix)?;
            if known.name
                && (position > at || stands_alone(&text[word.start..word.end], word.kind, language))
            {
                best = Some(position);
            }
            if !known.longer {
                break;
            }
        }
        at = match best {
            Some(last) => {
                found.push(words[at].start..words[last].end);
                last + 1
            }
            None => at + 1,
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::text::fold;

    fn names_in(names: &[&str], text: &str, language: Language) -> Vec<String> {
        let folded: Vec<String> = names.iter().map(|name| fold(name)).collect();
        Vocabulary::new(&folded)
            .matches(text, language)
            .iter()
            .map(|found| text[found.start..found.end].to_owned())
            .collect()
    }

    #[test]
    fn the_longest_known_name_is_found() {
        #[track_caller]
        fn check(names: &[&str], text: &str, language: Language, expected: &[&str]) {
            assert_eq!(names_in(names, text, language), expected, "{text}");
        }
        use Language::{Chinese, English, Japanese, Portuguese};
        check(&[], "Ana Prado", English, &[]);
        check(
            &["ana", "ana prado"],
            "Ana Prado met Ana.",
            English,
            &["Ana Prado", "Ana"],
        );
        check(
            &["ana prado neto", "prado"],
            "Ana Prado",
            English,
            &["Prado"],
        );
        check(
            &["São João"],
            "festa de SAO JOAO!",
            Portuguese,
            &["SAO JOAO"],
        );
        check(
            &["rio", "rio de janeiro"],
            "o rio de Janeiro e o Rio",
            Portuguese,
            &["rio de Janeiro", "Rio"],
        );
        check(
            &["东京大学", "东京"],
            "他在东京大学，不在东京。",
            Chinese,
            &["东京大学", "东京"],
        );
        // A mark between characters separates names.
        check(&["东京"], "东，京", Chinese, &[]);
        check(
            &["東京タワー"],
            "昨日東京タワーへ",
            Japanese,
            &["東京タワー"],
        );
        // What could never stand alone.
        check(&["the", "go", "ai", "北"], "the go ai 北", English, &[]);
        check(&["the", "go", "ai"], "The Go AI", English, &["Go", "AI"]);
        check(&["as", "the who"], "as the Who", Portuguese, &["the Who"]);
        check(&["c++", "c#"], "from C++ to C#", English, &["C++", "C#"]);
    }

    #[test]
    fn equal_and_unusable_names_do_no_harm() {
        let long = "x ".repeat(LONGEST_NAME + 1);
        let vocabulary = Vocabulary::new(["ana", "", long.trim(), "ana", " "]);
        let text = format!("Ana {long}");
        let found = vocabulary.matches(&text, Language::English);
        assert_eq!(
            found,
            [NameMatch {
                start: 0,
                end: 3,
                name: 0
            }]
        );
    }

    struct Sorted(BTreeSet<String>);

    impl NameLookup for Sorted {
        type Error = Infallible;
        fn lookup(&mut self, prefix: &str) -> Result<Known, Infallible> {
            let mut from = self.0.range(prefix.to_owned()..);
            let name = from.clone().next().is_some_and(|first| first == prefix);
            let longer = from.any(|name| name.len() > prefix.len() && name.starts_with(prefix));
            Ok(Known { name, longer })
        }
    }

    /// Every start against every name.
    fn naive(names: &[String], text: &str, language: Language) -> Vec<(usize, usize)> {
        let words = words(text);
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let end = (at + 1..=words.len()).rev().find(|&end| {
                let span = &text[words[at].start..words[end - 1].end];
                names.contains(&fold(span))
                    && (end > at + 1 || stands_alone(span, words[at].kind, language))
            });
            match end {
                Some(end) => {
                    found.push((words[at].start, words[end - 1].end));
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    fn some_text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "Ana", "prado", "de", "Go", "the", "东", "京", "ã", "x1", "C++", " ", " ", " ", ", ",
            "-",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn every_way_of_matching_agrees(
            names in prop::collection::vec(some_text(), 0..12),
            text in some_text(),
        ) {
            let mut folded: Vec<String> = names
                .iter()
                .map(|name| fold(name))
                .filter(|name| !name.is_empty() && words(name).len() <= LONGEST_NAME)
                .collect();
            let spans = |folded: &[String]| -> Vec<(usize, usize)> {
                Vocabulary::new(folded)
                    .matches(&text, Language::English)
                    .iter()
                    .map(|found| {
                        assert_eq!(fold(&text[found.start..found.end]), folded[found.name as usize]);
                        (found.start, found.end)
                    })
                    .collect()
            };
            let expected = naive(&folded, &text, Language::English);
            prop_assert_eq!(&spans(&folded), &expected);
            folded.reverse();
            prop_assert_eq!(&spans(&folded), &expected);
            let mut lookup = Sorted(folded.into_iter().collect());
            let looked_up: Vec<_> = find_names(&text, Language::English, &mut lookup)
                .unwrap()
                .into_iter()
                .map(|place| (place.start, place.end))
                .collect();
            prop_assert_eq!(&looked_up, &expected);
        }
    }
}
