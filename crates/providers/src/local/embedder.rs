//! Texts to vectors by a model on this machine.

use std::path::Path;

use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use rayon::prelude::*;

use super::encoder::{Encoder, Sequence};
use super::error::LoadError;
use super::loading::{LoadedModel, load};
use super::manifest::{Manifest, ModelUse, Pooling};
use super::tokenizer::Tokenizer;

/// Tokens that go through the network together: enough to use each weight many times, few enough that what is
/// computed stays in the cache.
const BATCH_TOKENS: usize = 768;

/// A BERT or XLM-R model that turns texts into vectors of length 1.
#[derive(Debug)]
pub struct LocalEmbedder {
    tokenizer: Tokenizer,
    encoder: Encoder,
    space: EmbeddingSpace,
    pooling: Pooling,
    /// Tokens of a window, with those around it.
    window: usize,
}

/// Part of a text that fits into the model.
struct Window {
    text: usize,
    sequence: Sequence,
    /// Tokens of the text in it: its share in the text's vector.
    weight: f32,
}

impl LocalEmbedder {
    /// Loads the model in `folder`.
    pub fn open(folder: &Path) -> Result<Self, LoadError> {
        let manifest = Manifest::read(folder)?;
        if manifest.usage != ModelUse::Embedder {
            return Err(LoadError::new(folder, "this model is no embedder"));
        }
        let LoadedModel { tokenizer, encoder } = load(folder, &manifest)?;
        let window = manifest
            .max_tokens
            .unwrap_or(usize::MAX)
            .clamp(8, encoder.shape.max_tokens());
        let space = EmbeddingSpace {
            model: manifest.name,
            dimensions: encoder.shape.hidden,
            query_prefix: manifest.query_prefix,
            passage_prefix: manifest.passage_prefix,
            pooling: match manifest.pooling {
                Pooling::Mean => "mean",
                Pooling::Cls => "cls",
            }
            .to_owned(),
            is_normalized: true,
        };
        Ok(Self {
            tokenizer,
            encoder,
            space,
            pooling: manifest.pooling,
            window,
        })
    }

    /// Windows of the texts, longest first, so that those of a batch are alike.
    fn windows(&self, texts: &[&str], prefix: &str) -> Vec<Window> {
        let room = self.window - 2;
        let tokens: Vec<Vec<u32>> = texts
            .par_iter()
            .map(|text| self.tokenizer.tokens(&format!("{prefix}{text}")))
            .collect();
        let mut windows = Vec::new();
        for (text, tokens) in tokens.iter().enumerate() {
            let mut add = |part: &[u32]| {
                windows.push(Window {
                    text,
                    sequence: self.tokenizer.wrap(part),
                    weight: part.len().max(1) as f32,
                });
            };
            if tokens.is_empty() {
                add(&[]);
            }
            tokens.chunks(room).for_each(&mut add);
        }
        windows.sort_by_key(|window| std::cmp::Reverse(window.sequence.ids.len()));
        windows
    }

    /// One vector a window.
    fn encode(&self, windows: &[Window]) -> Result<Vec<Vec<f32>>, LoadError> {
        let sequences: Vec<Sequence> = windows.iter().map(|w| w.sequence.clone()).collect();
        let hidden = self.encoder.shape.hidden;
        let states = self.encoder.run(&sequences)?;
        let mut rows = states.chunks_exact(hidden);
        let pooled = sequences.iter().map(|sequence| {
            let count = sequence.ids.len();
            let mut pooled = vec![0.0; hidden];
            let used = match self.pooling {
                Pooling::Mean => count,
                Pooling::Cls => 1,
            };
            for (place, row) in rows.by_ref().take(count).enumerate() {
                if place < used {
                    for (sum, value) in pooled.iter_mut().zip(row) {
                        *sum += value / used as f32;
                    }
                }
            }
            pooled
        });
        Ok(pooled.collect())
    }
}

impl Embedder for LocalEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let prefix = match role {
            TextRole::Query => &self.space.query_prefix,
            TextRole::Passage => &self.space.passage_prefix,
        };
        let windows = self.windows(texts, prefix);
        let batches = batches(&windows);
        let encoded: Vec<Vec<Vec<f32>>> = batches
            .into_par_iter()
            .map(|batch| self.encode(batch))
            .collect::<Result<_, _>>()?;
        let mut vectors = vec![vec![0.0; self.space.dimensions]; texts.len()];
        for (window, pooled) in windows.iter().zip(encoded.iter().flatten()) {
            for (sum, value) in vectors[window.text].iter_mut().zip(pooled) {
                *sum += window.weight * value;
            }
        }
        for vector in &mut vectors {
            normalise(vector);
        }
        Ok(vectors)
    }
}

/// Neighbours of the list that together have at most [`BATCH_TOKENS`] tokens, at least one each.
fn batches(windows: &[Window]) -> Vec<&[Window]> {
    let mut batches = Vec::new();
    let (mut begin, mut tokens) = (0, 0);
    for (place, window) in windows.iter().enumerate() {
        let length = window.sequence.ids.len();
        if place > begin && tokens + length > BATCH_TOKENS {
            batches.push(&windows[begin..place]);
            (begin, tokens) = (place, 0);
        }
        tokens += length;
    }
    if begin < windows.len() {
        batches.push(&windows[begin..]);
    }
    batches
}

/// To length 1; a vector of zeros stays as it is.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}
