//! The store on `SQLite`: schema, migrations, the writer lease, the search index and the row files.
//! All SQL of the engine is here.
//!
//! One [`Store`] is one connection. Any number of processes and threads may read at once, each with
//! its own [`Store`]; one at a time writes, holding the [`WriteLease`].

mod backup;
mod condition;
mod digest;
mod file_system;
mod lease;
mod migration;
mod namespace;
mod sql;
mod store;
mod transaction;
mod verify;

pub use condition::Condition;
pub use lease::WriteLease;
pub use migration::FORMAT_VERSION;
pub use namespace::NamespaceId;
pub use sql::{SqlLimits, SqlOutcome};
pub use store::{Store, StoreOptions};
pub use transaction::{ReadTransaction, WriteTransaction};
pub use verify::{Verification, Violation};
