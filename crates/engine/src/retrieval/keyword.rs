//! The keyword lane.

use crate::Result;
use crate::retrieval::Reader;
use crate::storage::full_text;
use crate::text::QueryTerm;
use crate::types::{ChunkId, DocumentId};

/// Chunks by BM25, best first, ties by row id.
pub(super) fn keyword(
    reader: &Reader<'_>,
    terms: &[QueryTerm],
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<(ChunkId, f64)>> {
    full_text::search(reader.connection, reader.namespace, terms, documents, limit)
}
