use std::path::{Path, PathBuf};

use malha_engine::language_model::{ModelError, ModelErrorKind};

/// Why a model's files cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct LoadError {
    pub path: PathBuf,
    /// What is wrong, and what to do where that is known.
    pub reason: String,
}

impl LoadError {
    pub(super) fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

impl From<LoadError> for ModelError {
    fn from(error: LoadError) -> Self {
        Self::new(
            ModelErrorKind::Permanent,
            error.path.display().to_string(),
            error.reason,
        )
    }
}
