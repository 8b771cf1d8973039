//! One file a command; `graph`, `eval` and `bench` have a file for each of theirs. A command reads its
//! arguments, calls the engine and shows the result; whatever it can do, the library can do without it.

pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod correct;
pub(crate) mod cypher;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod embed;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod ledger;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod quarantine;
pub(crate) mod recall;
pub(crate) mod remember;
pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod spending;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod timeline;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod verify;
