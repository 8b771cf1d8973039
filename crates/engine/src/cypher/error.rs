pub use crate::types::{CypherError, CypherErrorKind as ErrorKind, CypherPhase as Phase};

/// Result of what reads or runs a query.
pub type Result<T, E = CypherError> = std::result::Result<T, E>;
