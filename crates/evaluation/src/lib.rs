//! Data sets, metrics and intervals: how well retrieval does, measured the same way every time; and made-up
//! vaults and graphs to measure how fast.

mod boosting;
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
mod mini_vault;
mod predictions;
mod recalled;
mod recursive_cte;
mod rng;
mod routing;
mod runner;
mod temporal;
mod training;
mod triples;
mod variant;
mod vector_cache;

pub use boosting::Boosting;
pub use bootstrap::{Interval, RESAMPLES};
pub use clusters::{ClusterReport, Clusters, evaluate_clusters};
pub use comparison::{Comparison, Figure, Figures, ModeRun};
pub use dataset::{
    BrokenRow, Exclusion, Half, Passage, PassageFields, PassageTurn, Question, QuestionFields,
    QuestionSet, read_ids, read_passages, read_questions, restrict,
};
pub use error::{Error, Result};
pub use evidence::{EvidenceOptions, EvidenceReport, evaluate_evidence};
pub use held_out::{HeldOut, hold_out, rank_held_out};
pub use links::{FieldScore, LinkDifference, LinkReport, evaluate_links};
pub use metrics::Metrics;
pub use mini_vault::{MiniVaultParts, mini_vault_questions, rank_mini_vault, write_mini_vault};
pub use predictions::write_predictions;
pub use recalled::{RecallFigures, RecallReport, evaluate_recall};
pub use recursive_cte::RecursiveCte;
pub use rng::Rng;
pub use routing::{Misrouted, RouterReport, evaluate_router};
pub use runner::{RunLog, run_modes};
pub use temporal::{TemporalReport, evaluate_temporal};
pub use training::{JudgedSet, train_without};
pub use triples::{Score, TripleReport, TripleScore, evaluate_triples};
pub use variant::Variant;
pub use vector_cache::CachedEmbedder;
