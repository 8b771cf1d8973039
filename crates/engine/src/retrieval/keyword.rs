//! The keyword lane.

use crate::Result;
use crate::retrieval::Reader;
use crate::storage::full_text;
use crate::text::QueryTerm;
use crate::types::{ChunkId, DocumentId};

/// Chunks of the reader's time by BM25, best first, ties by row id.
pub(super) fn keyword(
    reader: &Reader<'_>,
    terms: &[QueryTerm],
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<(ChunkId, f64)>> {
    let hidden = &reader.hidden.chunks;
    // As many more as may be hidden, so that the list is full without them.
    let wanted = limit + hidden.len();
    let mut hits = full_text::search(
        reader.connection,
        reader.namespace,
        terms,
        documents,
        wanted,
    )?;
    hits.retain(|(chunk, _)| !hidden.contains(chunk));
    hits.truncate(limit);
    Ok(hits)
}
