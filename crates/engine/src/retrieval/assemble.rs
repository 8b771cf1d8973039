//! Ranked chunks into evidence.

use super::Reader;
use super::quote::best_quote;
use crate::Result;
use crate::ranker::Features;
use crate::storage::{self, EvidenceChunk};
use crate::text::{QueryTerm, Tokenizer};
use crate::types::{ChunkId, Connection, Evidence, Lane};

/// A chunk that a recipe found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub chunk: ChunkId,
    pub score: f64,
    pub lanes: Vec<(Lane, usize)>,
    pub connections: Vec<Connection>,
    /// What a ranker judged it by.
    pub features: Option<Features>,
}

impl Found {
    pub(super) const fn new(chunk: ChunkId, score: f64) -> Self {
        Self {
            chunk,
            score,
            lanes: Vec::new(),
            connections: Vec::new(),
            features: None,
        }
    }
}

/// The first `limit` chunks with their text, place and best quote.
pub(super) fn assemble(
    reader: &Reader<'_>,
    terms: &[QueryTerm],
    found: Vec<Found>,
    limit: usize,
) -> Result<Vec<Evidence>> {
    let mut tokenizer = Tokenizer::default();
    let mut results = Vec::new();
    for found in found {
        if results.len() == limit {
            break;
        }
        // A chunk that went between ranking and reading is left out.
        let Some(chunk) = storage::evidence_chunk(reader.connection, found.chunk)? else {
            continue;
        };
        results.push(evidence(
            results.len() + 1,
            found,
            chunk,
            terms,
            &mut tokenizer,
        ));
    }
    Ok(results)
}

fn evidence(
    rank: usize,
    found: Found,
    chunk: EvidenceChunk,
    terms: &[QueryTerm],
    tokenizer: &mut Tokenizer,
) -> Evidence {
    let quote = best_quote(&chunk.text, chunk.language, terms, tokenizer);
    let lines_before = chunk.text[..quote.start]
        .bytes()
        .filter(|&byte| byte == b'\n')
        .count();
    Evidence {
        rank,
        score: found.score,
        chunk: found.chunk,
        document: chunk.document,
        uri: chunk.uri,
        title: chunk.title,
        heading_path: chunk.heading_path,
        line: chunk.line,
        start: chunk.start,
        end: chunk.end,
        quote: chunk.text[quote.clone()].to_owned(),
        quote_start: chunk.start + quote.start,
        quote_line: chunk.line + lines_before,
        text: chunk.text,
        lanes: found.lanes,
        connections: found.connections,
    }
}
