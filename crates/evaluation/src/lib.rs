//! Data sets, metrics and intervals: how well retrieval does, measured the same way every time.

mod bootstrap;
mod comparison;
mod dataset;
mod error;
mod metrics;
mod rng;

pub use bootstrap::{Interval, RESAMPLES};
pub use comparison::{Comparison, Figure, Figures, ModeRun};
pub use dataset::{
    BrokenRow, Exclusion, Half, Passage, PassageFields, Question, QuestionFields, QuestionSet,
    read_ids, read_passages, read_questions,
};
pub use error::{Error, Result};
pub use metrics::Metrics;
