//! The normalisation that `SentencePiece` compiles into a model: a double-array trie and the replacing texts.

use unicode_segmentation::UnicodeSegmentation;

/// A compiled map of characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::local) struct CharacterMap {
    units: Vec<u32>,
    /// Texts that end with a zero byte.
    texts: Vec<u8>,
}

impl CharacterMap {
    /// From the bytes as `SentencePiece` writes them; `None` when they are cut off.
    pub(in crate::local) fn parse(bytes: &[u8]) -> Option<Self> {
        let (size, rest) = bytes.split_first_chunk::<4>()?;
        let (units, texts) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        Some(Self {
            units: units
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&bytes| u32::from_le_bytes(bytes))
                .collect(),
            texts: texts.to_vec(),
        })
    }

    /// The text with every grapheme, or else every character, replaced that the map knows.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        for grapheme in text.graphemes(true) {
            // Longer ones are no keys: SentencePiece's reference implementation has the same limit.
            if grapheme.len() < 6
                && let Some(replacement) = self.find(grapheme)
            {
                result.push_str(replacement);
                continue;
            }
            for (at, character) in grapheme.char_indices() {
                let character = &grapheme[at..at + character.len_utf8()];
                result.push_str(self.find(character).unwrap_or(character));
            }
        }
        result
    }

    /// The replacement of the shortest key that `text` begins with.
    fn find(&self, text: &str) -> Option<&str> {
        let mut node = offset(*self.units.first()?);
        for &byte in text.as_bytes() {
            if byte == 0 {
                return None;
            }
            node ^= usize::from(byte);
            let unit = *self.units.get(node)?;
            if unit & (1 << 31 | 0xff) != u32::from(byte) {
                return None;
            }
            node ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let start = (*self.units.get(node)? & !(1 << 31)) as usize;
                let text = self.texts.get(start..)?;
                let end = text.iter().position(|&byte| byte == 0)?;
                return std::str::from_utf8(&text[..end]).ok();
            }
        }
        None
    }
}

const fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}
