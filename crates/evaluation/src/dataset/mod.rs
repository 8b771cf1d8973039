//! Retrieval data sets: passages and questions in JSONL files, plain or gzip.

mod ids;
mod passage;
mod question;
pub(crate) mod rows;

pub use ids::{read_ids, restrict};
pub use passage::{Passage, PassageFields, PassageTurn, read_passages};
pub(crate) use question::halves;
pub use question::{Exclusion, Half, Question, QuestionFields, QuestionSet, read_questions};
pub use rows::BrokenRow;
