//! `tokenizer.json` of the Hugging Face tokenizers.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use super::charsmap::CharacterMap;
use super::unigram::{Normaliser, Unigram};
use super::word_piece::{Cleaning, WordPiece};
use super::{Tokenizer, Wrapping};
use crate::local::error::LoadError;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    normalizer: Option<Value>,
    model: Model,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Model {
    Unigram {
        unk_id: u32,
        vocab: Vec<(String, f32)>,
    },
    WordPiece {
        unk_token: String,
        vocab: FxHashMap<String, u32>,
    },
}

/// Reads a `tokenizer.json` with a Unigram or a `WordPiece` model.
pub(in crate::local) fn read(path: &Path) -> Result<Tokenizer, LoadError> {
    let fail = |reason: String| LoadError::new(path, reason);
    let text = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let file: File = serde_json::from_slice(&text).map_err(|error| fail(error.to_string()))?;
    let normalizer = file.normalizer.unwrap_or_default();
    match file.model {
        Model::Unigram { unk_id, vocab } => {
            let id = |name: &str| {
                vocab
                    .iter()
                    .position(|entry| entry.0 == name)
                    .map(|id| id as u32)
                    .ok_or_else(|| fail(format!("there is no token `{name}`")))
            };
            let wrapping = Wrapping {
                begin: id("<s>")?,
                end: id("</s>")?,
                is_end_doubled_between: true,
            };
            let mut offsets = Vec::with_capacity(vocab.len() + 1);
            let mut scores = Vec::with_capacity(vocab.len());
            let mut blob = Vec::new();
            offsets.push(0);
            for (piece, score) in &vocab {
                blob.extend(piece.bytes());
                offsets.push(blob.len() as u32);
                scores.push(*score);
            }
            let map = compiled_map(&normalizer)
                .ok_or_else(|| fail("its normalizer is not understood".to_owned()))?;
            let unigram = Unigram::new(offsets, scores, blob, unk_id, map).map_err(fail)?;
            Ok(Tokenizer::unigram(unigram, wrapping))
        }
        Model::WordPiece { unk_token, vocab } => {
            let id = |name: &str| {
                vocab
                    .get(name)
                    .copied()
                    .ok_or_else(|| fail(format!("there is no token `{name}`")))
            };
            let wrapping = Wrapping {
                begin: id("[CLS]")?,
                end: id("[SEP]")?,
                is_end_doubled_between: false,
            };
            let unknown = id(&unk_token)?;
            let is_lower_case = normalizer["lowercase"].as_bool().unwrap_or(true);
            let cleaning = Cleaning {
                is_lower_case,
                strips_accents: normalizer["strip_accents"]
                    .as_bool()
                    .unwrap_or(is_lower_case),
            };
            Ok(Tokenizer::word_piece(
                WordPiece::new(vocab, unknown, cleaning),
                wrapping,
            ))
        }
    }
}

/// The compiled map anywhere in the normalizer; nothing to do when there is no normalizer.
fn compiled_map(normalizer: &Value) -> Option<Normaliser> {
    let parts = match normalizer["normalizers"].as_array() {
        Some(parts) => parts.as_slice(),
        None => std::slice::from_ref(normalizer),
    };
    let map = parts
        .iter()
        .find(|part| part["type"] == "Precompiled")
        .map(|part| part["precompiled_charsmap"].as_str());
    match map {
        None => Some(Normaliser::CharacterMap(Vec::new())),
        Some(encoded) => CharacterMap::parse(&decode_base64(encoded?)?).map(Normaliser::Compiled),
    }
}

/// Standard base64 with padding.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        let check = |text, expected: Option<&[u8]>| {
            assert_eq!(decode_base64(text).as_deref(), expected, "{text}");
        };
        check("", Some(b""));
        check("TWFu", Some(b"Man"));
        check("TWE=", Some(b"Ma"));
        check("TQ==", Some(b"M"));
        check("/+8=", Some(&[0xff, 0xef]));
        check("a b", None);
    }
}
