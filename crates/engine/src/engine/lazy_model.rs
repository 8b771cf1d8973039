//! Models that are loaded when they are needed: a search that does without should not pay for them.

use std::sync::{Arc, OnceLock};

use super::Engine;
use crate::language_model::{Embedder, ModelError, Reranker};

/// Gives a model, or the reason why it is not there.
pub type ModelSource<M> = Box<dyn Fn() -> Result<Arc<M>, ModelError> + Send + Sync>;

/// Gives the embedder.
pub type EmbedderSource = ModelSource<dyn Embedder>;

/// Gives the reranker.
pub type RerankerSource = ModelSource<dyn Reranker>;

/// A model that is loaded once.
pub(super) struct LazyModel<M: ?Sized> {
    source: ModelSource<M>,
    loaded: OnceLock<Result<Arc<M>, ModelError>>,
}

impl<M: ?Sized> LazyModel<M> {
    pub(super) fn new(source: ModelSource<M>) -> Self {
        Self {
            source,
            loaded: OnceLock::new(),
        }
    }

    pub(super) fn get(&self) -> Result<&M, ModelError> {
        match self.loaded.get_or_init(&self.source) {
            Ok(model) => Ok(&**model),
            Err(error) => Err(error.clone()),
        }
    }
}

impl Engine {
    /// The same engine with a model that puts the best results in order. Every search asks it; when it fails, the
    /// order of the lanes stays and the record says so.
    #[must_use]
    pub fn with_reranker(mut self, source: RerankerSource) -> Self {
        self.reranker = Some(Arc::new(LazyModel::new(source)));
        self
    }
}
