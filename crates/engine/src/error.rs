use std::path::PathBuf;

/// What can go wrong in the engine. The variant says who acts: the user, us, or another process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user asked for something that is not there (an entity, a document, a path).
    #[error("{kind} not found: {name}")]
    NotFound { kind: &'static str, name: String },
    /// An argument or a setting is not usable; the message says what to do.
    #[error("{0}")]
    Usage(String),
    /// Another process holds the writer lease.
    #[error("the store is being written by {holder}; try again when it has finished")]
    Busy { holder: String },
    /// The store cannot be opened: missing, of a newer format, on a network file system, damaged.
    #[error("store {path}: {reason}")]
    Store { path: PathBuf, reason: String },
    /// A file or folder could not be read or written.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A line of an import file is not usable.
    #[error("{path}:{line}: {reason}")]
    Import {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    /// A query in openCypher has no answer; says where and why.
    #[error("{0}")]
    Cypher(crate::types::CypherError),
    /// A model gave no usable answer.
    #[error(transparent)]
    Model(#[from] crate::language_model::ModelError),
    /// The limit of spending leaves no room for another call of a model; what was done is kept.
    #[error("the budget is used up: {reason}")]
    BudgetReached { reason: String },
    /// `SQLite` refused a statement.
    #[error("database: {0}")]
    Database(#[source] rusqlite::Error),
    /// The run was interrupted by the user; what was done is kept.
    #[error("interrupted")]
    Interrupted,
}

impl From<rusqlite::Error> for Error {
    /// A lock that outlasted the busy timeout is [`Error::Busy`]: users never see `SQLite`'s own words.
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Self::Busy {
                    holder: "another program".to_owned(),
                }
            }
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self::Interrupted,
            _ => Self::Database(error),
        }
    }
}

/// Result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
