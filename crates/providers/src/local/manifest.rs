//! `model.json`: what a model in the models folder is, and the checksums of its files.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::LoadError;

/// File name of a manifest.
pub const MANIFEST: &str = "model.json";

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelUse {
    /// Texts to vectors.
    Embedder,
    /// Question and passage to a score.
    Reranker,
}

/// How token vectors become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean of all of them.
    #[default]
    Mean,
    /// The first one.
    Cls,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Description of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Its folder's name; stored with every vector.
    pub name: String,
    #[serde(rename = "use")]
    pub usage: ModelUse,
    /// Where it came from, for people.
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub licence: String,
    /// The file with the weights: safetensors (beside `config.json` and `tokenizer.json`) or an `E5S1` container.
    pub weights: String,
    #[serde(default)]
    pub query_prefix: String,
    #[serde(default)]
    pub passage_prefix: String,
    #[serde(default)]
    pub pooling: Pooling,
    /// Tokens of a window, where fewer than the model can take.
    #[serde(default)]
    pub max_tokens: Option<usize>,
    pub files: Vec<ModelFile>,
}

impl Manifest {
    /// Of the model in `folder`.
    pub fn read(folder: &Path) -> Result<Self, LoadError> {
        let path = folder.join(MANIFEST);
        let text =
            std::fs::read(&path).map_err(|error| LoadError::new(&path, error.to_string()))?;
        let manifest: Self = serde_json::from_slice(&text)
            .map_err(|error| LoadError::new(&path, error.to_string()))?;
        let names = manifest.files.iter().map(|file| &file.name);
        if let Some(name) = names
            .chain([&manifest.weights])
            .find(|name| !is_inside(name))
        {
            let reason = format!("the file name `{name}` leads out of the folder");
            return Err(LoadError::new(&path, reason));
        }
        Ok(manifest)
    }

    /// What is wrong with the files in `folder`; empty when all are as they should be.
    pub fn verify(&self, folder: &Path) -> Vec<LoadError> {
        self.files
            .iter()
            .filter_map(|file| {
                let path = folder.join(&file.name);
                let reason = match checksum(&path) {
                    Err(error) => error.to_string(),
                    Ok((bytes, _)) if bytes != file.bytes => {
                        format!("it has {bytes} bytes instead of {}", file.bytes)
                    }
                    Ok((_, sha256)) if sha256 != file.sha256 => {
                        "its checksum is not the one of the manifest".to_owned()
                    }
                    Ok(_) => return None,
                };
                Some(LoadError::new(&path, reason))
            })
            .collect()
    }
}

/// Whether a file name stays below the folder it is joined to.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Bytes and SHA-256 (in hexadecimal) of a file.
pub(crate) fn checksum(path: &Path) -> std::io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        hex.extend(
            [byte >> 4, byte & 15].map(|half| char::from_digit(u32::from(half), 16).unwrap_or('0')),
        );
    }
    Ok((bytes, hex))
}
