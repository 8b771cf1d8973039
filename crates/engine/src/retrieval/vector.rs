//! The vector lane, and its fusion with the keyword lane.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reader;
use super::assemble::Found;
use crate::types::{ChunkId, DocumentId, Lane, LaneStatus};
use crate::vectors::VectorIndex;

/// What the vector lane works with.
pub(crate) enum Vectors {
    Ready {
        index: Arc<VectorIndex>,
        question: Vec<f32>,
    },
    /// Nothing is embedded yet.
    NoneStored,
    /// The lane does not run, and why.
    Absent(LaneStatus, String),
}

/// Said when vectors were asked for and there are none.
pub(crate) const NONE_STORED: &str = "no vectors in this store; `malha embed` makes them";

/// Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const FUSION: f64 = 60.0;

/// The nearest chunks of the reader's time, nearest first; the reason when the lane does not run.
pub(super) fn nearest(
    reader: &Reader<'_>,
    vectors: &Vectors,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<(ChunkId, f64)>, (LaneStatus, String)> {
    let (index, question) = match vectors {
        Vectors::Ready { index, question } => (index, question),
        Vectors::NoneStored => return Err((LaneStatus::Skipped, NONE_STORED.to_owned())),
        Vectors::Absent(status, reason) => return Err((*status, reason.clone())),
    };
    let graph = &reader.graph.graph;
    let allowed: Option<FxHashSet<u32>> = documents.map(|ids| {
        ids.iter()
            .filter_map(|&id| graph.documents.get(id))
            .collect()
    });
    // The graph knows the chunks that are current: vectors of deleted ones are never seen.
    let admits = |chunk: i64| {
        graph.chunks.get(ChunkId(chunk)).is_some_and(|place| {
            allowed
                .as_ref()
                .is_none_or(|allowed| allowed.contains(&graph.chunk_document[place as usize]))
                && !reader.hidden.chunks.contains(&ChunkId(chunk))
        })
    };
    let hits = index
        .search(question, limit, admits)
        .map_err(|error| (LaneStatus::Failed, error.to_string()))?;
    Ok(hits
        .into_iter()
        .map(|hit| (ChunkId(hit.owner), hit.score))
        .collect())
}

/// Cosine of the passage nearest to a question; `None` where no vectors can tell.
pub(crate) fn nearest_score(
    reader: &Reader<'_>,
    question: &str,
    documents: Option<&[DocumentId]>,
) -> Option<f64> {
    let found = nearest(reader, &(reader.vectors)(question), documents, 1).ok()?;
    found.first().map(|(_, score)| *score)
}

/// The chunks of these documents by their nearness; nothing when the lane does not run.
pub(super) fn of_documents(
    reader: &Reader<'_>,
    vectors: &Vectors,
    documents: &[DocumentId],
) -> Vec<(ChunkId, f64)> {
    let graph = &reader.graph.graph;
    let chunks: Vec<ChunkId> = documents
        .iter()
        .filter_map(|&document| graph.documents.get(document))
        .flat_map(|document| graph.document_chunks.row(document))
        .map(|&chunk| graph.chunks.id(chunk))
        .filter(|chunk| !reader.hidden.chunks.contains(chunk))
        .collect();
    of_chunks(vectors, &chunks)
}

/// These chunks by their nearness, as far as they have vectors.
pub(super) fn of_chunks(vectors: &Vectors, chunks: &[ChunkId]) -> Vec<(ChunkId, f64)> {
    let Vectors::Ready { index, question } = vectors else {
        return Vec::new();
    };
    let chunks: Vec<i64> = chunks.iter().map(|chunk| chunk.0).collect();
    // A file that can no longer be read leaves them as if they had none.
    let hits = index.of_owners(question, &chunks).unwrap_or_default();
    hits.into_iter()
        .map(|hit| (ChunkId(hit.owner), hit.score))
        .collect()
}

/// Both lists as one, by reciprocal rank.
pub(super) fn fuse(keyword: &[(ChunkId, f64)], vector: &[(ChunkId, f64)]) -> Vec<Found> {
    let mut scores: FxHashMap<ChunkId, f64> = FxHashMap::default();
    for list in [keyword, vector] {
        for (rank, &(chunk, _)) in (1_u32..).zip(list) {
            *scores.entry(chunk).or_insert(0.0) += 1.0 / (FUSION + f64::from(rank));
        }
    }
    let mut found: Vec<Found> = scores
        .into_iter()
        .map(|(chunk, score)| Found::new(chunk, score))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    found
}

/// Says on each result which rank a lane gave it.
pub(super) fn mark(found: &mut [Found], lane: Lane, hits: &[(ChunkId, f64)]) {
    let rank: FxHashMap<ChunkId, usize> = hits
        .iter()
        .enumerate()
        .map(|(position, &(chunk, _))| (chunk, position + 1))
        .collect();
    for found in found {
        if let Some(&rank) = rank.get(&found.chunk) {
            found.lanes.insert(0, (lane, rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_hold_comes_first() {
        let list = |ids: &[i64]| -> Vec<(ChunkId, f64)> {
            ids.iter().map(|&id| (ChunkId(id), 1.0)).collect()
        };
        let order = |keyword: &[i64], vector: &[i64]| -> Vec<i64> {
            let fused = fuse(&list(keyword), &list(vector));
            fused.iter().map(|found| found.chunk.0).collect()
        };
        assert_eq!(order(&[1, 2], &[3, 2]), [2, 1, 3]);
        assert_eq!(order(&[], &[5, 4]), [5, 4]);
        assert_eq!(order(&[5, 4], &[]), [5, 4]);
    }
}
