//! Question and passage read together: the score of a sequence classifier with one output.

use std::path::Path;

use malha_engine::language_model::{ModelError, Reranker};
use rayon::prelude::*;

use super::encoder::{Encoder, Sequence};
use super::error::LoadError;
use super::kernel::Linear;
use super::loading::{LoadedModel, load};
use super::manifest::{Manifest, ModelUse};
use super::tokenizer::Tokenizer;

/// A BERT or XLM-R cross-encoder.
#[derive(Debug)]
pub struct LocalReranker {
    name: String,
    tokenizer: Tokenizer,
    encoder: Encoder,
    /// The layer before the last one, followed by the hyperbolic tangent.
    dense: Linear,
    output: Linear,
    max_tokens: usize,
}

/// Pairs that go through the network together.
const BATCH_PAIRS: usize = 4;

impl LocalReranker {
    /// Loads the model in `folder`.
    pub fn open(folder: &Path) -> Result<Self, LoadError> {
        let manifest = Manifest::read(folder)?;
        if manifest.usage != ModelUse::Reranker {
            return Err(LoadError::new(folder, "this model is no reranker"));
        }
        let LoadedModel { tokenizer, encoder } = load(folder, &manifest)?;
        let hidden = encoder.shape.hidden;
        let head = |names: [&str; 3], outputs| {
            for name in names {
                if let Some(layer) = encoder.head(name, outputs)? {
                    return Ok(layer);
                }
            }
            let reason = format!("there is no tensor `{}.weight`", names[0]);
            Err(LoadError::new(&folder.join(&manifest.weights), reason))
        };
        let dense = head(
            ["classifier.dense", "bert.pooler.dense", "pooler.dense"],
            hidden,
        )?;
        let output = head(["classifier.out_proj", "classifier", "score"], 1)?;
        let max_tokens = manifest
            .max_tokens
            .unwrap_or(usize::MAX)
            .clamp(8, encoder.shape.max_tokens());
        Ok(Self {
            name: manifest.name,
            tokenizer,
            encoder,
            dense,
            output,
            max_tokens,
        })
    }

    fn score(&self, pairs: &[Sequence]) -> Result<Vec<f32>, LoadError> {
        let hidden = self.encoder.shape.hidden;
        let states = self.encoder.run(pairs)?;
        let mut first = Vec::with_capacity(pairs.len() * hidden);
        let mut token = 0;
        for pair in pairs {
            first.extend(&states[token * hidden..(token + 1) * hidden]);
            token += pair.ids.len();
        }
        let mut pooled = self.dense.apply(&first);
        for value in &mut pooled {
            *value = value.tanh();
        }
        Ok(self.output.apply(&pooled))
    }
}

impl Reranker for LocalReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, ModelError> {
        let question = self.tokenizer.tokens(question);
        let mut pairs: Vec<(usize, Sequence)> = passages
            .par_iter()
            .map(|passage| self.tokenizer.tokens(passage))
            .map(|passage| {
                self.tokenizer
                    .wrap_pair(&question, &passage, self.max_tokens)
            })
            .enumerate()
            .collect();
        pairs.sort_by_key(|(place, pair)| (std::cmp::Reverse(pair.ids.len()), *place));
        let places: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
        let sequences: Vec<Sequence> = pairs.into_iter().map(|pair| pair.1).collect();
        let scored: Vec<Vec<f32>> = sequences
            .par_chunks(BATCH_PAIRS)
            .map(|batch| self.score(batch))
            .collect::<Result<_, _>>()?;
        let mut scores = vec![0.0; passages.len()];
        for (place, score) in places.into_iter().zip(scored.into_iter().flatten()) {
            scores[place] = score;
        }
        Ok(scores)
    }
}
