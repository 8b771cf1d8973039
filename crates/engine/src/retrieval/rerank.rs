//! The last word on the order of the best results: a model that reads question and passage together.

use super::Reader;
use super::assemble::Found;
use crate::Result;
use crate::language_model::{ModelError, Reranker};
use crate::storage;

/// Results that are read again, at least.
const POOL: usize = 40;

/// Gives the reranker when there is something to order.
pub(crate) type RerankerSource<'a> = &'a dyn Fn() -> Result<&'a dyn Reranker, ModelError>;

/// How reranking went: how many results were put in order, or why none.
pub(super) type Reranked = Result<usize, String>;

/// Orders the first results by the model's scores; the rest follows in its order. Whatever goes wrong leaves the
/// order as it was.
pub(super) fn rerank(
    reader: &Reader<'_>,
    source: RerankerSource<'_>,
    question: &str,
    limit: usize,
    found: &mut [Found],
) -> Result<Reranked> {
    let pool = found.len().min(limit.max(POOL));
    if pool == 0 {
        return Ok(Ok(0));
    }
    let reranker = match source() {
        Ok(reranker) => reranker,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut passages = Vec::with_capacity(pool);
    for found in &found[..pool] {
        let passage = storage::evidence_chunk(reader.connection, found.chunk)?;
        passages.push(passage.map_or_else(String::new, |chunk| {
            format!("{}\n{}", chunk.title, chunk.text)
        }));
    }
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    reader.cancel.go_on()?;
    let scores = match reranker.rerank(question, &passages) {
        Ok(scores) => scores,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if scores.len() != pool || !scores.iter().all(|score| score.is_finite()) {
        let name = reranker.name();
        return Ok(Err(format!(
            "{name}: {} usable scores came back for {pool} passages",
            scores.iter().filter(|score| score.is_finite()).count()
        )));
    }
    for (found, score) in found.iter_mut().zip(&scores) {
        found.score = f64::from(*score);
    }
    // Stable: equal scores keep the order of the lanes.
    found[..pool].sort_by(|a, b| b.score.total_cmp(&a.score));
    let lowest = found[pool - 1].score;
    for (position, found) in found[pool..].iter_mut().enumerate() {
        found.score = lowest - 1.0 - position as f64;
    }
    Ok(Ok(pool))
}
