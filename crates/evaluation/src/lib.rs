//! Data sets, metrics and intervals: how well retrieval does, measured the same way every time; and made-up
//! vaults and graphs to measure how fast.

mod bootstrap;
mod clusters;
mod comparison;
mod dataset;
mod error;
mod evidence;
pub mod generate;
mod held_out;
mod links;
mod metrics;
mod predictions;
mod recursive_cte;
mod rng;
mod routing;
mod runner;
mod temporal;
mod triples;
mod vector_cache;

pub use bootstrap::{Interval, RESAMPLES};
pub use clusters::{ClusterReport, Clusters, evaluate_clusters};
pub use comparison::{Comparison, Figure, Figures, ModeRun};
pub use dataset::{
    BrokenRow, Exclusion, Half, Passage, PassageFields, PassageTurn, Question, QuestionFields,
    QuestionSet, read_ids, read_passages, read_questions, restrict,
};
pub use error::{Error, Result};
pub use evidence::{EvidenceReport, evaluate_evidence};
pub use held_out::{HeldOut, hold_out, rank_held_out};
pub use links::{FieldScore, LinkDifference, LinkReport, evaluate_links};
pub use metrics::Metrics;
pub use predictions::write_predictions;
pub use recursive_cte::RecursiveCte;
pub use rng::Rng;
pub use routing::{Misrouted, RouterReport, evaluate_router};
pub use runner::{RunLog, run_modes};
pub use temporal::{TemporalReport, evaluate_temporal};
pub use triples::{Score, TripleReport, TripleScore, evaluate_triples};
pub use vector_cache::CachedEmbedder;
