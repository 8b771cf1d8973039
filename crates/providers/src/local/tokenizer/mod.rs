//! Text to token ids, as the two families of models want it.

mod charsmap;
mod json;
mod unigram;
mod word_piece;

pub(super) use json::read;
pub(super) use unigram::{Normaliser, Unigram};
pub(super) use word_piece::WordPiece;

use super::encoder::Sequence;

/// The tokens put around a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrapping {
    pub begin: u32,
    pub end: u32,
    /// Between two texts the end stands twice and both are of type 0 (XLM-R); otherwise once, and the second text
    /// is of type 1 (BERT).
    pub is_end_doubled_between: bool,
}

/// A model's tokenizer.
#[derive(Debug)]
pub(super) struct Tokenizer {
    algorithm: Algorithm,
    wrapping: Wrapping,
}

#[derive(Debug)]
enum Algorithm {
    Unigram(Unigram),
    WordPiece(WordPiece),
}

impl Tokenizer {
    pub(super) const fn unigram(unigram: Unigram, wrapping: Wrapping) -> Self {
        Self {
            algorithm: Algorithm::Unigram(unigram),
            wrapping,
        }
    }

    pub(super) const fn word_piece(word_piece: WordPiece, wrapping: Wrapping) -> Self {
        Self {
            algorithm: Algorithm::WordPiece(word_piece),
            wrapping,
        }
    }

    /// Tokens of the text alone.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        match &self.algorithm {
            Algorithm::Unigram(unigram) => unigram.tokens(text),
            Algorithm::WordPiece(word_piece) => word_piece.tokens(text),
        }
    }

    /// A model's input from tokens of one text.
    pub(super) fn wrap(&self, tokens: &[u32]) -> Sequence {
        let mut ids = Vec::with_capacity(tokens.len() + 2);
        ids.push(self.wrapping.begin);
        ids.extend(tokens);
        ids.push(self.wrapping.end);
        Sequence {
            ids,
            types: Vec::new(),
        }
    }

    /// A model's input from two texts, at most `limit` tokens: the longer one is cut at its end, token by token.
    pub(super) fn wrap_pair(&self, first: &[u32], second: &[u32], limit: usize) -> Sequence {
        let Wrapping {
            begin,
            end,
            is_end_doubled_between,
        } = self.wrapping;
        let room = limit.saturating_sub(if is_end_doubled_between { 4 } else { 3 });
        let (mut one, mut two) = (first.len(), second.len());
        while one + two > room {
            if one > two {
                one -= 1;
            } else {
                two -= 1;
            }
        }
        let mut ids = vec![begin];
        ids.extend(&first[..one]);
        ids.push(end);
        let begin_of_second = ids.len();
        if is_end_doubled_between {
            ids.push(end);
        }
        ids.extend(&second[..two]);
        ids.push(end);
        let types = if is_end_doubled_between {
            Vec::new()
        } else {
            (0..ids.len())
                .map(|place| u8::from(place >= begin_of_second))
                .collect()
        };
        Sequence { ids, types }
    }
}
