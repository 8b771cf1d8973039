//! The store on `SQLite`: schema, migrations, the writer lease, the search index and the row files.
//! All SQL of the engine is here.
//!
//! One [`Store`] is one connection. Any number of processes and threads may read at once, each with
//! its own [`Store`]; one at a time writes, holding the [`WriteLease`].

mod backup;
mod chunk;
mod citation;
mod claim;
mod community;
mod condition;
mod conversation;
mod derivation;
mod digest;
mod document;
mod document_name;
mod embedding;
mod entity;
mod episode;
mod extracted;
mod fact;
mod file_system;
pub(crate) mod full_text;
pub(crate) mod graph_note;
pub(crate) mod graph_property;
mod graph_rows;
pub(crate) mod graph_table;
mod hex;
mod imported;
mod joining_fact;
mod lease;
mod link;
mod llm_call;
mod mention;
mod merge;
mod migration;
mod namespace;
mod operation;
mod presence;
mod purge;
mod quarantine;
mod query_log;
mod record;
mod record_writer;
mod relation;
mod run;
mod source;
mod sql;
mod store;
mod synonym;
mod time;
mod tombstone;
mod transaction;
mod turn;
mod verdict;
mod verify;
mod version;
mod view;

pub use condition::Condition;
pub use lease::WriteLease;
pub use migration::FORMAT_VERSION;
pub use namespace::NamespaceId;
pub use sql::{SqlLimits, SqlOutcome, Stoppable};
pub use store::{Store, StoreOptions};
pub use transaction::{ReadTransaction, WriteTransaction};
pub use verify::{Verification, Violation};

pub(crate) use chunk::*;
pub(crate) use citation::*;
pub(crate) use claim::*;
pub(crate) use community::*;
pub(crate) use conversation::*;
pub(crate) use derivation::*;
pub(crate) use document::*;
pub(crate) use document_name::*;
pub(crate) use embedding::{
    PassageRow, SpaceState, StoredSpace, activate_space, count_vectors, count_without_vector,
    delete_space, for_each_vector, insert_failure, insert_space, insert_vectors,
    passages_without_vector, space,
};
pub(crate) use entity::*;
pub(crate) use episode::*;
pub(crate) use extracted::*;
pub(crate) use fact::*;
pub(crate) use graph_rows::*;
pub(crate) use hex::hex;
pub(crate) use imported::*;
pub(crate) use joining_fact::*;
pub(crate) use link::*;
pub(crate) use llm_call::*;
pub(crate) use mention::*;
pub(crate) use merge::*;
pub(crate) use operation::*;
pub(crate) use presence::Presence;
pub(crate) use purge::*;
pub(crate) use quarantine::*;
pub(crate) use query_log::*;
pub(crate) use record::{for_each_record, for_each_text, has_content};
pub(crate) use record_writer::{RecordError, RecordWriter};
pub(crate) use relation::*;
pub(crate) use run::*;
pub(crate) use source::*;
pub(crate) use synonym::{
    insert_name_vectors, insert_synonyms, name_vectors, names_without_vector, near_names, synonyms,
};
pub(crate) use time::*;
pub(crate) use tombstone::*;
pub(crate) use turn::*;
pub(crate) use verdict::*;
pub(crate) use version::*;
pub(crate) use view::*;
