//! Question to evidence: lanes, fusion, expansion, and the record of what ran.

mod assemble;
mod bridge;
pub mod graph;
mod keyword;
mod notes;
mod quote;
mod recipe;
mod search;
mod turns;
mod walk;

pub(crate) use search::{RankedGraph, Reader, search};
