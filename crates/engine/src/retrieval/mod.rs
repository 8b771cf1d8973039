//! Question to evidence: lanes, fusion, expansion, and the record of what ran.

mod assemble;
mod bridge;
mod budget;
mod by_document;
mod centrality;
pub mod graph;
mod judge;
mod keyword;
mod lanes;
mod notes;
mod pack;
mod passages;
mod quote;
mod recipe;
mod rerank;
mod search;
mod synonyms;
mod turns;
mod vector;
mod walk;

pub(crate) use by_document::document_sentences;
pub(crate) use centrality::central_sentences;
pub(crate) use pack::{Candidates, pack};
pub(crate) use passages::{CHUNKS, Sentences, coverage_of, score_sentences};
pub(crate) use search::{RankedGraph, Reader, judged, ranked_documents, search};
pub(crate) use vector::{NONE_STORED, Vectors, nearest_score};
