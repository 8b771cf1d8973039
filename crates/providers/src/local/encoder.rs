//! The transformer encoder of BERT and XLM-R: token ids in, one vector a token out.

use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;

use super::activation::{add_and_normalise, gelu, softmax};
use super::error::LoadError;
use super::kernel::{Linear, Panels};
use super::tensor_file::TensorFile;

/// The sizes of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    pub intermediate: usize,
    pub vocabulary: usize,
    pub positions: usize,
    pub token_types: usize,
    pub epsilon: f32,
    /// Position of the first token: 0 in BERT, one past the padding id in XLM-R.
    pub position_offset: usize,
}

/// The part of `config.json` that matters.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "one")]
    type_vocab_size: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    pad_token_id: usize,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default = "usual_positions")]
    position_embedding_type: String,
}

const fn one() -> usize {
    1
}

const fn usual_epsilon() -> f32 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".to_owned()
}

fn usual_positions() -> String {
    "absolute".to_owned()
}

impl Shape {
    /// From a `config.json`.
    pub(super) fn read(path: &Path) -> Result<Self, LoadError> {
        let text = std::fs::read(path).map_err(|error| LoadError::new(path, error.to_string()))?;
        let config: Config = serde_json::from_slice(&text)
            .map_err(|error| LoadError::new(path, error.to_string()))?;
        let position_offset = match config.model_type.as_str() {
            "bert" => 0,
            "xlm-roberta" | "roberta" => config.pad_token_id + 1,
            other => {
                return Err(LoadError::new(
                    path,
                    format!(
                        "models of type `{other}` are not supported; bert, roberta and xlm-roberta are"
                    ),
                ));
            }
        };
        if config.hidden_act != "gelu" || config.position_embedding_type != "absolute" {
            return Err(LoadError::new(
                path,
                format!(
                    "activation `{}` with {} positions is not supported; gelu with absolute positions is",
                    config.hidden_act, config.position_embedding_type
                ),
            ));
        }
        let shape = Self {
            hidden: config.hidden_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            vocabulary: config.vocab_size,
            positions: config.max_position_embeddings,
            token_types: config.type_vocab_size,
            epsilon: config.layer_norm_eps,
            position_offset,
        };
        shape.check(path)?;
        Ok(shape)
    }

    /// Refuses sizes that no model has, before anything is allocated.
    pub(super) fn check(&self, path: &Path) -> Result<(), LoadError> {
        let sides = [self.hidden, self.heads, self.intermediate, self.token_types];
        let is_possible = sides.iter().all(|&side| (1..=65_536).contains(&side))
            && (1..=1_000).contains(&self.layers)
            && self.hidden.is_multiple_of(self.heads)
            && self.vocabulary > 0
            && self.max_tokens() >= 8;
        if is_possible {
            Ok(())
        } else {
            Err(LoadError::new(
                path,
                format!("these sizes make no model: {self:?}"),
            ))
        }
    }

    /// Tokens of the longest sequence.
    pub(super) const fn max_tokens(&self) -> usize {
        self.positions.saturating_sub(self.position_offset)
    }
}

/// Token ids of a text, with the type of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    pub ids: Vec<u32>,
    /// Empty when all are 0.
    pub types: Vec<u8>,
}

/// The weights, ready to run.
#[derive(Debug)]
pub(super) struct Encoder {
    pub shape: Shape,
    tensors: TensorFile,
    /// `bert.`, `roberta.` or nothing: what the names of its tensors begin with.
    prefix: String,
    positions: Vec<f32>,
    types: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    /// Queries, keys and values side by side.
    attention_in: Linear,
    attention_out: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

const WORDS: &str = "embeddings.word_embeddings.weight";

impl Encoder {
    /// Reads all layers; the vocabulary stays in its file.
    pub(super) fn new(shape: Shape, tensors: TensorFile) -> Result<Self, LoadError> {
        let prefix = ["", "bert.", "roberta."]
            .into_iter()
            .find(|prefix| tensors.holds(&format!("{prefix}{WORDS}")))
            .ok_or_else(|| LoadError::new(tensors.path(), format!("there is no tensor `{WORDS}`")))?
            .to_owned();
        let reader = Reader {
            tensors: &tensors,
            prefix: &prefix,
        };
        let hidden = shape.hidden;
        let positions = reader.numbers(
            "embeddings.position_embeddings.weight",
            shape.positions * hidden,
        )?;
        let types = reader.numbers(
            "embeddings.token_type_embeddings.weight",
            shape.token_types * hidden,
        )?;
        let norm = reader.norm("embeddings.LayerNorm", hidden)?;
        let layers = (0..shape.layers)
            .into_par_iter()
            .map(|layer| reader.layer(layer, &shape))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            shape,
            tensors,
            prefix,
            positions,
            types,
            norm,
            layers,
        })
    }

    /// A layer on top of the encoder: a pooler, a classifier. `None` when the model has none of this name.
    pub(super) fn head(&self, name: &str, outputs: usize) -> Result<Option<Linear>, LoadError> {
        let reader = Reader {
            tensors: &self.tensors,
            prefix: "",
        };
        if !self.tensors.holds(&format!("{name}.weight")) {
            return Ok(None);
        }
        reader.linear(name, self.shape.hidden, outputs).map(Some)
    }

    /// One vector of [`Shape::hidden`] numbers a token, the sequences one after the other. A token's vector does
    /// not depend on what other sequences are there.
    pub(super) fn run(&self, sequences: &[Sequence]) -> Result<Vec<f32>, LoadError> {
        let mut x = self.embed(sequences)?;
        for layer in &self.layers {
            let projected = layer.attention_in.apply(&x);
            let mut context = vec![0.0; x.len()];
            let mut first = 0;
            for sequence in sequences {
                self.attend(&projected, first, sequence.ids.len(), &mut context);
                first += sequence.ids.len();
            }
            let attended = layer.attention_out.apply(&context);
            self.normalise(&mut x, &attended, &layer.attention_norm);
            let mut wide = layer.up.apply(&x);
            gelu(&mut wide);
            let narrow = layer.down.apply(&wide);
            self.normalise(&mut x, &narrow, &layer.norm);
        }
        Ok(x)
    }

    fn embed(&self, sequences: &[Sequence]) -> Result<Vec<f32>, LoadError> {
        let hidden = self.shape.hidden;
        let ids = sequences
            .iter()
            .flat_map(|sequence| sequence.ids.iter().copied());
        let words = format!("{}{WORDS}", self.prefix);
        let mut x = self.tensors.rows(&words, hidden, ids)?;
        let mut rows = x.chunks_exact_mut(hidden);
        for sequence in sequences {
            for (position, row) in rows.by_ref().take(sequence.ids.len()).enumerate() {
                let kind = sequence
                    .types
                    .get(position)
                    .map_or(0, |&kind| usize::from(kind));
                let place = (position + self.shape.position_offset) * hidden;
                let place = self.positions[place..].iter();
                let kind = self.types[kind * hidden..].iter();
                for ((value, place), kind) in row.iter_mut().zip(place).zip(kind) {
                    *value += place + kind;
                }
            }
        }
        self.normalise(&mut x, &[], &self.norm);
        Ok(x)
    }

    /// Scaled dot-product attention of one sequence, head by head.
    fn attend(&self, projected: &[f32], first: usize, tokens: usize, context: &mut [f32]) {
        let hidden = self.shape.hidden;
        let width = hidden / self.shape.heads;
        let stride = 3 * hidden;
        let mut weights = vec![0.0; tokens * tokens];
        for head in 0..self.shape.heads {
            let query = &projected[first * stride + head * width..];
            let key = &query[hidden..];
            let value = &query[2 * hidden..];
            Panels::new(width, tokens, |input, token| key[token * stride + input]).multiply(
                query,
                stride,
                tokens,
                &mut weights,
                tokens,
            );
            softmax(&mut weights, tokens, 1.0 / (width as f32).sqrt());
            Panels::new(tokens, width, |token, output| {
                value[token * stride + output]
            })
            .multiply(
                &weights,
                tokens,
                tokens,
                &mut context[first * hidden + head * width..],
                hidden,
            );
        }
    }

    fn normalise(&self, x: &mut [f32], added: &[f32], norm: &Norm) {
        add_and_normalise(x, added, &norm.scale, &norm.shift, self.shape.epsilon);
    }
}

/// Reads the parts of an encoder by their names.
struct Reader<'a> {
    tensors: &'a TensorFile,
    prefix: &'a str,
}

impl Reader<'_> {
    fn numbers(&self, name: &str, count: usize) -> Result<Vec<f32>, LoadError> {
        self.tensors
            .numbers(&format!("{}{name}", self.prefix), count)
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm, LoadError> {
        Ok(Norm {
            scale: self.numbers(&format!("{name}.weight"), width)?,
            shift: self.numbers(&format!("{name}.bias"), width)?,
        })
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, LoadError> {
        let weights = self.numbers(&format!("{name}.weight"), inputs * outputs)?;
        let bias = self.numbers(&format!("{name}.bias"), outputs)?;
        Ok(Linear::new(&weights, &bias, inputs))
    }

    fn layer(&self, layer: usize, shape: &Shape) -> Result<Layer, LoadError> {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let hidden = shape.hidden;
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let part = name(&format!("attention.self.{part}"));
            weights.extend(self.numbers(&format!("{part}.weight"), hidden * hidden)?);
            bias.extend(self.numbers(&format!("{part}.bias"), hidden)?);
        }
        Ok(Layer {
            attention_in: Linear::new(&weights, &bias, hidden),
            attention_out: self.linear(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"), hidden)?,
            up: self.linear(&name("intermediate.dense"), hidden, shape.intermediate)?,
            down: self.linear(&name("output.dense"), shape.intermediate, hidden)?,
            norm: self.norm(&name("output.LayerNorm"), hidden)?,
        })
    }
}
