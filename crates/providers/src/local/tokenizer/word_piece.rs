//! `WordPiece` tokens (BERT): the longest known beginning of a word, then of its rest.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What is done to a text before it is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::local) struct Cleaning {
    pub is_lower_case: bool,
    pub strips_accents: bool,
}

/// A vocabulary of word beginnings and `##` continuations.
#[derive(Debug)]
pub(in crate::local) struct WordPiece {
    pieces: FxHashMap<String, u32>,
    unknown: u32,
    cleaning: Cleaning,
}

/// Longer words are unknown.
const MAX_CHARACTERS: usize = 100;

impl WordPiece {
    pub(in crate::local) const fn new(
        pieces: FxHashMap<String, u32>,
        unknown: u32,
        cleaning: Cleaning,
    ) -> Self {
        Self {
            pieces,
            unknown,
            cleaning,
        }
    }

    pub(in crate::local) fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        let cleaned = self.clean(text);
        for word in cleaned.split(' ').filter(|word| !word.is_empty()) {
            self.split(word, &mut tokens);
        }
        tokens
    }

    /// Words, and each punctuation mark and Chinese character, with blanks between them.
    fn clean(&self, text: &str) -> String {
        let mut cleaned = String::with_capacity(text.len() + text.len() / 4);
        let mut push = |character: char| {
            if is_single(character) {
                cleaned.extend([' ', character, ' ']);
            } else {
                cleaned.push(character);
            }
        };
        let kept = text.chars().filter_map(|character| match character {
            '\t' | '\n' | '\r' => Some(' '),
            '\0' | '\u{fffd}' => None,
            _ if character.is_whitespace() => Some(' '),
            _ if character.general_category_group() == GeneralCategoryGroup::Other => None,
            _ => Some(character),
        });
        let lower = |character: char| {
            let lower = self.cleaning.is_lower_case;
            let as_is = (!lower).then_some(character);
            let lowered = lower
                .then(|| character.to_lowercase())
                .into_iter()
                .flatten();
            as_is.into_iter().chain(lowered)
        };
        if self.cleaning.strips_accents {
            kept.nfd()
                .filter(|mark| mark.general_category() != GeneralCategory::NonspacingMark)
                .flat_map(lower)
                .for_each(&mut push);
        } else {
            kept.flat_map(lower).for_each(&mut push);
        }
        cleaned
    }

    fn split(&self, word: &str, tokens: &mut Vec<u32>) {
        let begin = tokens.len();
        if word.chars().count() > MAX_CHARACTERS {
            tokens.push(self.unknown);
            return;
        }
        let mut rest = word;
        let mut key = String::new();
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let longest = ends.into_iter().find_map(|end| {
                key.clear();
                if rest.len() < word.len() {
                    key.push_str("##");
                }
                key.push_str(&rest[..end]);
                Some((*self.pieces.get(&key)?, end))
            });
            let Some((id, end)) = longest else {
                // One unknown part makes the whole word unknown.
                tokens.truncate(begin);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(id);
            rest = &rest[end..];
        }
    }
}

/// Punctuation and Chinese characters are words of their own.
fn is_single(character: char) -> bool {
    character.is_ascii_punctuation()
        || (!character.is_ascii()
            && (character.general_category_group() == GeneralCategoryGroup::Punctuation
                || is_chinese(character)))
}

/// The blocks that BERT takes for Chinese.
fn is_chinese(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b820}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_from_their_longest_beginning() {
        let pieces = [
            "[UNK]", "uma", "un", "##aff", "##able", "!", "中", "国", "acao",
        ];
        let pieces = (0..)
            .zip(pieces)
            .map(|(id, piece)| (piece.to_owned(), id))
            .collect();
        let cleaning = Cleaning {
            is_lower_case: true,
            strips_accents: true,
        };
        let word_piece = WordPiece::new(pieces, 0, cleaning);
        let check = |text: &str, expected: &[u32]| {
            assert_eq!(word_piece.tokens(text), expected, "{text}");
        };
        check("unaffable", &[2, 3, 4]);
        check("UNAFFABLE!!", &[2, 3, 4, 5, 5]);
        check("uma Ação", &[1, 8]);
        check("中国x", &[6, 7, 0]);
        check("un\u{0}aff\u{200d}able", &[2, 3, 4]);
        check("unaffx", &[0]);
        check(&"a".repeat(101), &[0]);
        check(" \n\t", &[]);
    }
}
