use serde::{Deserialize, Serialize};

use super::ItemFailure;
use crate::language_model::EmbeddingSpace;

/// What an embedding run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedReport {
    /// The model whose vectors these are.
    pub model: String,
    pub dimensions: usize,
    /// Vectors made.
    pub embedded: usize,
    /// Chunks that still have none: the run was interrupted, or the model failed on them.
    pub missing: usize,
    /// The new space took the place of another one.
    pub switched: bool,
    /// Chunks that the model gave no usable vector for. They stay searchable by text; the next run tries again.
    pub failed: Vec<ItemFailure>,
    pub elapsed_ms: u64,
}

/// The vectors of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingState {
    pub space: EmbeddingSpace,
    pub vectors: usize,
    /// Current chunks without a vector.
    pub missing: usize,
    /// Those of them that the model failed on.
    pub failed: usize,
    /// A space that is being filled to take this one's place: its model, and chunks it still lacks.
    pub building: Option<(String, usize)>,
}
