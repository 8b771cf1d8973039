//! Conversations: what answers a question is often said next to the words of the question, by the one it is
//! about. So neighbouring turns of a session share their scores, and a turn of somebody whom the question
//! names counts more.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::storage::Turn;
use crate::types::{ChunkId, EntityId};

/// Share of a turn's score that its neighbours get, by distance. Found on the development questions of
/// `LoCoMo`; between 0.3 and 0.5 for the first the recall hardly changes.
const SHARES: [f64; 3] = [0.4, 0.2, 0.1];
/// What a turn gains whose speaker the question names, as a share of its score.
const SPEAKER: f64 = 0.5;
/// Keyword hits that share their scores.
pub(super) const POOL: usize = 1_000;

/// The turns of all sessions, by passage and by place.
#[derive(Debug, Default)]
pub(super) struct Turns {
    by_chunk: FxHashMap<ChunkId, Turn>,
    /// First passage of each turn.
    by_place: FxHashMap<(i64, i64), ChunkId>,
}

impl Turns {
    pub(super) fn new(turns: Vec<(ChunkId, Turn)>) -> Self {
        let mut by_place = FxHashMap::default();
        for &(chunk, turn) in &turns {
            by_place
                .entry((turn.session, turn.ordinal))
                .or_insert(chunk);
        }
        Self {
            by_chunk: turns.into_iter().collect(),
            by_place,
        }
    }

    /// Whether most of the first `count` hits are turns.
    pub(super) fn prevail(&self, hits: &[(ChunkId, f64)], count: usize) -> bool {
        let first = &hits[..hits.len().min(count)];
        let turns = first
            .iter()
            .filter(|(chunk, _)| self.by_chunk.contains_key(chunk))
            .count();
        2 * turns > first.len()
    }

    /// The hits with what they share, best first; passages that are no turns keep their scores.
    pub(super) fn share(
        &self,
        hits: &[(ChunkId, f64)],
        named: &FxHashSet<EntityId>,
        admits: impl Fn(ChunkId) -> bool,
    ) -> Vec<(ChunkId, f64)> {
        let mut scores: FxHashMap<ChunkId, f64> = FxHashMap::default();
        // In the order of the hits, so that sums are the same everywhere.
        for &(chunk, score) in hits {
            *scores.entry(chunk).or_default() += score;
            let Some(turn) = self.by_chunk.get(&chunk) else {
                continue;
            };
            for (distance, share) in (1..).zip(SHARES) {
                for place in [turn.ordinal - distance, turn.ordinal + distance] {
                    if let Some(&neighbor) = self.by_place.get(&(turn.session, place)) {
                        *scores.entry(neighbor).or_default() += share * score;
                    }
                }
            }
        }
        let mut shared: Vec<(ChunkId, f64)> = scores
            .into_iter()
            .filter(|&(chunk, _)| admits(chunk))
            .map(|(chunk, score)| {
                let speaker = self.by_chunk.get(&chunk).and_then(|turn| turn.speaker);
                let is_named = speaker.is_some_and(|speaker| named.contains(&speaker));
                (
                    chunk,
                    if is_named {
                        score * (1.0 + SPEAKER)
                    } else {
                        score
                    },
                )
            })
            .collect();
        shared.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns() -> Turns {
        let turn = |session, ordinal, speaker| Turn {
            session,
            ordinal,
            speaker: Some(EntityId(speaker)),
        };
        Turns::new(vec![
            (ChunkId(1), turn(1, 1, 7)),
            (ChunkId(2), turn(1, 2, 8)),
            (ChunkId(3), turn(1, 3, 7)),
            (ChunkId(4), turn(2, 4, 8)),
        ])
    }

    #[test]
    fn neighbours_share_and_the_named_speaker_gains() {
        let check = |hits: &[(i64, f64)], named: &[i64], expected: &[(i64, f64)]| {
            let hits: Vec<_> = hits.iter().map(|&(id, s)| (ChunkId(id), s)).collect();
            let named = named.iter().map(|&id| EntityId(id)).collect();
            let found: Vec<_> = turns()
                .share(&hits, &named, |chunk| chunk != ChunkId(3))
                .into_iter()
                .map(|(chunk, score)| (chunk.0, score))
                .collect();
            assert_eq!(found, expected);
        };
        // The third is not admitted, the fourth is of another session, the ninth is no turn.
        check(&[(1, 10.0)], &[], &[(1, 10.0), (2, 4.0)]);
        check(&[(1, 10.0)], &[8], &[(1, 10.0), (2, 6.0)]);
        check(&[(4, 10.0), (9, 3.0)], &[8], &[(4, 15.0), (9, 3.0)]);
    }

    #[test]
    fn turns_prevail_when_they_are_most_of_the_best() {
        let hits = [(ChunkId(1), 3.0), (ChunkId(9), 2.0), (ChunkId(2), 1.0)];
        assert!(turns().prevail(&hits, 3));
        assert!(!turns().prevail(&hits, 2));
        assert!(!turns().prevail(&[], 3));
        assert!(!Turns::default().prevail(&hits, 3));
    }
}
