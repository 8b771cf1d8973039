use std::path::PathBuf;

/// What can go wrong while data is read or an evaluation runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The request cannot be evaluated as it stands; the message says what to change.
    #[error("{0}")]
    Usage(String),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] malha_engine::Error),
}

/// Result of an evaluation step.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
