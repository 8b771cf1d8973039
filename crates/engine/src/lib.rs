//! malha: documents, vaults and conversations in; a dated knowledge graph in one `SQLite` file; evidence out.

pub mod answer;
pub mod chunking;
pub mod communities;
pub mod cypher;
mod engine;
mod error;
pub mod exchange;
pub mod extraction;
pub mod gate;
pub mod graph;
pub mod language_model;
pub mod ledger;
mod loading;
mod memory;
mod pipeline;
pub mod ranker;
pub mod replies;
pub mod resolution;
pub mod retrieval;
pub mod router;
pub mod sources;
pub mod storage;
pub mod text;
pub mod text_to_cypher;
pub mod types;
pub mod vectors;

pub use engine::{
    AnswerRun, Candidate, EmbedderSource, Engine, ExtractionRun, ModelSource, QueryWriter,
    RerankerSource, parse_moment, parse_times,
};
pub use error::{Error, Result};
pub use types::{DocumentInput, EngineConfig, Progress, SourceSpec, Stage};
