//! Sizes of texts, in characters or in tokens.

use super::ChunkUnit;

/// Letters of a Latin word to a token. Against the byte-pair vocabulary o200k the estimate is 2 % below to
/// 15 % above on prose in English, Portuguese, Spanish, German and Chinese, and 20 to 30 % above on
/// markdown full of marks and tables: limits in tokens are kept with room to spare.
const LETTERS_PER_TOKEN: usize = 6;
const DIGITS_PER_TOKEN: usize = 3;
/// Letters of other alphabets to a token.
const OTHER_LETTERS_PER_TOKEN: usize = 3;

/// Tokens of a text for a language model, estimated without its vocabulary: a Latin word is one token for
/// every started six letters, a number one for every three digits, a character of a script without spaces
/// one, another alphabet one for every three letters, a punctuation mark or a line break one.
pub fn estimate_tokens(text: &str) -> usize {
    let mut meter = TokenMeter::default();
    text.chars().map(|c| meter.add(c)).sum()
}

/// The end of the longest start of `text[start..end]` that measures at most `size`.
pub(super) fn reach(text: &str, start: usize, end: usize, size: usize, unit: ChunkUnit) -> usize {
    let text = &text[start..end];
    start
        + match unit {
            ChunkUnit::Characters => reach_characters(text, size),
            ChunkUnit::Tokens => reach_tokens(text, size),
        }
}

/// Size of a text.
pub(super) fn measure(text: &str, unit: ChunkUnit) -> usize {
    match unit {
        ChunkUnit::Characters => text.chars().count(),
        ChunkUnit::Tokens => estimate_tokens(text),
    }
}

fn reach_characters(text: &str, size: usize) -> usize {
    let mut at = 0;
    let mut left = size;
    // A character takes a byte or more, so `left` bytes are never too many.
    while left > 0 && at < text.len() {
        let block = text.floor_char_boundary(at.saturating_add(left));
        let block = if block > at {
            block
        } else {
            text.ceil_char_boundary(at + 1)
        };
        left -= text[at..block].chars().count();
        at = block;
    }
    at
}

fn reach_tokens(text: &str, size: usize) -> usize {
    let mut meter = TokenMeter::default();
    let mut left = size;
    for (at, c) in text.char_indices() {
        let cost = meter.add(c);
        if cost > left {
            return at;
        }
        left -= cost;
    }
    text.len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Space,
    Latin,
    Digit,
    Other,
    Line,
}

/// Counts tokens character by character.
struct TokenMeter {
    piece: Piece,
    length: usize,
}

impl Default for TokenMeter {
    fn default() -> Self {
        Self {
            piece: Piece::Space,
            length: 0,
        }
    }
}

impl TokenMeter {
    /// Tokens that begin with this character.
    fn add(&mut self, c: char) -> usize {
        let (piece, per_token) = match c {
            'a'..='z' | 'A'..='Z' => (Piece::Latin, LETTERS_PER_TOKEN),
            '0'..='9' => (Piece::Digit, DIGITS_PER_TOKEN),
            '\n' => (Piece::Line, usize::MAX),
            _ if c.is_whitespace() => (Piece::Space, usize::MAX),
            '\u{C0}'..='\u{24F}' => (Piece::Latin, LETTERS_PER_TOKEN),
            '\u{250}'..='\u{DFF}' => (Piece::Other, OTHER_LETTERS_PER_TOKEN),
            _ => {
                self.piece = Piece::Space;
                return 1;
            }
        };
        if piece == self.piece {
            self.length += 1;
        } else {
            self.piece = piece;
            self.length = 0;
        }
        usize::from(piece != Piece::Space && self.length.is_multiple_of(per_token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_tokens() {
        let check = |text: &str, expected| assert_eq!(estimate_tokens(text), expected, "{text:?}");
        check("", 0);
        check("   ", 0);
        check("the cat sat.", 4);
        check("internationally", 3);
        check("2024", 2);
        check("今天玩", 3);
        check("привет", 2);
        check("a\n\n\nb", 3);
    }

    #[test]
    fn reaches_as_far_as_the_size_allows() {
        let check = |text: &str, size, unit, expected| {
            let end = reach(text, 0, text.len(), size, unit);
            assert_eq!(&text[..end], expected, "{text:?} {size}");
        };
        check("abc", 2, ChunkUnit::Characters, "ab");
        check("abc", 5, ChunkUnit::Characters, "abc");
        check("日本語だ", 3, ChunkUnit::Characters, "日本語");
        check("aé日😀b", 4, ChunkUnit::Characters, "aé日😀");
        check("one two three", 2, ChunkUnit::Tokens, "one two ");
        check("日本語だ", 3, ChunkUnit::Tokens, "日本語");
        check("abc", usize::MAX, ChunkUnit::Characters, "abc");
    }
}
