//! A model's folder into tokenizer and weights.

use std::path::Path;

use super::encoder::{Encoder, Shape};
use super::error::LoadError;
use super::manifest::Manifest;
use super::tokenizer::{self, Tokenizer};
use super::{q4_container, safetensors};

/// A model, ready to run.
pub(super) struct LoadedModel {
    pub tokenizer: Tokenizer,
    pub encoder: Encoder,
}

/// Loads what the manifest describes.
pub(super) fn load(folder: &Path, manifest: &Manifest) -> Result<LoadedModel, LoadError> {
    let weights = folder.join(&manifest.weights);
    if q4_container::is_one(&weights) {
        let container = q4_container::open(&weights)?;
        container.shape.check(&weights)?;
        return Ok(LoadedModel {
            tokenizer: container.tokenizer,
            encoder: Encoder::new(container.shape, container.tensors)?,
        });
    }
    let shape = Shape::read(&folder.join("config.json"))?;
    let (tokenizer, encoder) = rayon::join(
        || tokenizer::read(&folder.join("tokenizer.json")),
        || Encoder::new(shape, safetensors::open(&weights)?),
    );
    Ok(LoadedModel {
        tokenizer: tokenizer?,
        encoder: encoder?,
    })
}
