//! Which communities a question is about.

use rustc_hash::FxHashMap;

use super::Engine;
use super::explore::Explorer;
use crate::Result;
use crate::retrieval::{self, CHUNKS, coverage_of};
use crate::storage;
use crate::types::{AskRequest, CommunityLevel, CommunitySelection, Evidence, SearchRequest};

/// What it is worth that the title and summary of a report hold all words of the question, where all passages that
/// the question finds are worth 1.
const WORDS: f64 = 0.5;
/// Parts that hold this share of what fits in a community stand for it …
const MOST_OF_IT: f64 = 0.8;
/// … where they have no more than this share of its entities.
const SMALLER_HALF: f64 = 0.5;
/// Parts of a community that are looked at.
const PARTS: usize = 200;

impl Engine {
    /// At most `most` communities of more than one entity, those that fit a question best first, and how many there
    /// are to choose from. A community fits by its share of the passages that the question finds, and by the words
    /// of the question in the title and summary of its report, where one is written; where neither says anything,
    /// larger ones come first.
    pub(super) fn fitting_communities(
        &self,
        question: &str,
        request: &AskRequest,
        most: usize,
    ) -> Result<(Vec<i64>, usize)> {
        self.update_communities()?;
        let search = SearchRequest {
            limit: CHUNKS,
            documents: request.documents.clone(),
            ..SearchRequest::new(question)
        };
        let found = self
            .read(|reader| retrieval::search(reader, &search))?
            .results;
        let told = self.explore(|explorer| {
            storage::told_communities(explorer.connection, explorer.namespace)
        })?;
        let (ids, texts): (Vec<i64>, Vec<String>) = told.into_iter().unzip();
        let held = self.read(|reader| coverage_of(reader, question, &texts))?;
        let words: FxHashMap<i64, f64> = ids.into_iter().zip(held).collect();
        self.explore(|explorer| {
            let choice = Choice {
                passages: explorer.shares(&found)?,
                words,
                sizes: explorer.sizes()?,
            };
            match request.selection {
                CommunitySelection::Level(level) => {
                    let all = explorer.of_level(level)?;
                    let total = all.len();
                    let mut ids = choice.ranked(all);
                    ids.truncate(most);
                    Ok((ids, total))
                }
                CommunitySelection::Dynamic => {
                    let coarse = explorer.of_level(CommunityLevel::Coarse)?;
                    let ids = choice.descend(coarse, most, |id| {
                        storage::parts_of_community(explorer.connection, id, PARTS)
                    })?;
                    Ok((ids, choice.sizes.len()))
                }
            }
        })
    }
}

/// What speaks for each community.
struct Choice {
    /// Shares of the passages that the question finds.
    passages: FxHashMap<i64, f64>,
    /// Shares of the question that title and summary hold.
    words: FxHashMap<i64, f64>,
    sizes: FxHashMap<i64, usize>,
}

impl Choice {
    fn share(&self, id: i64) -> f64 {
        self.passages.get(&id).copied().unwrap_or(0.0)
    }

    fn fit(&self, id: i64) -> f64 {
        self.share(id) + WORDS * self.words.get(&id).copied().unwrap_or(0.0)
    }

    fn size(&self, id: i64) -> usize {
        self.sizes.get(&id).copied().unwrap_or(0)
    }

    /// Those of more than one entity, the best first.
    fn ranked(&self, mut ids: Vec<i64>) -> Vec<i64> {
        ids.retain(|&id| self.size(id) > 1);
        ids.sort_by(|&a, &b| {
            (self.fit(b).total_cmp(&self.fit(a)))
                .then(self.size(b).cmp(&self.size(a)))
                .then(a.cmp(&b))
        });
        ids
    }

    /// From the coarsest communities down to what the question is about.
    fn descend(
        &self,
        coarse: Vec<i64>,
        most: usize,
        parts_of: impl Fn(i64) -> Result<Vec<i64>>,
    ) -> Result<Vec<i64>> {
        let mut open = self.ranked(coarse);
        let mut chosen = Vec::new();
        while chosen.len() < most && !open.is_empty() {
            let best = open.remove(0);
            match self.parts_for(best, parts_of(best)?) {
                Some(parts) => {
                    open.extend(parts);
                    open = self.ranked(open);
                }
                None => chosen.push(best),
            }
        }
        Ok(chosen)
    }

    /// The parts that stand for a community: few, and nearly all that fits in it.
    fn parts_for(&self, id: i64, parts: Vec<i64>) -> Option<Vec<i64>> {
        let wanted = self.share(id) * MOST_OF_IT;
        if wanted <= 0.0 {
            return None;
        }
        let (mut held, mut entities) = (0.0, 0);
        let mut taken = Vec::new();
        for part in self.ranked(parts) {
            held += self.share(part);
            entities += self.size(part);
            taken.push(part);
            if held >= wanted {
                let is_small = entities as f64 <= self.size(id) as f64 * SMALLER_HALF;
                return is_small.then_some(taken);
            }
        }
        None
    }
}

impl Explorer<'_> {
    fn of_level(&self, level: CommunityLevel) -> Result<Vec<i64>> {
        let all = storage::communities_of_level(self.connection, self.namespace, level.number())?;
        Ok(all.into_iter().map(|(id, _)| id).collect())
    }

    /// Entities of every community.
    fn sizes(&self) -> Result<FxHashMap<i64, usize>> {
        let mut sizes = FxHashMap::default();
        for level in CommunityLevel::ALL {
            sizes.extend(storage::communities_of_level(
                self.connection,
                self.namespace,
                level.number(),
            )?);
        }
        Ok(sizes)
    }

    /// The share that each community of every level has of these passages, better ones counting more.
    fn shares(&self, found: &[Evidence]) -> Result<FxHashMap<i64, f64>> {
        let mut shares: FxHashMap<i64, f64> = FxHashMap::default();
        let mut all = 0.0;
        for (place, evidence) in found.iter().enumerate() {
            let Some(chunk) = self.graph.chunks.get(evidence.chunk) else {
                continue;
            };
            let entities = self.graph.mentions.entities(chunk);
            let worth = 1.0 / (1.0 + place as f64 / 20.0);
            let share = worth / entities.len().max(1) as f64;
            all += worth;
            for &entity in entities {
                let id = self.graph.entities.id(entity);
                let mut ids: Vec<i64> = storage::communities_of_entity(self.connection, id)?
                    .into_iter()
                    .map(|(_, community)| community)
                    .collect();
                // One that is not split stands at several levels.
                ids.dedup();
                for community in ids {
                    *shares.entry(community).or_default() += share;
                }
            }
        }
        if all > 0.0 {
            for share in shares.values_mut() {
                *share /= all;
            }
        }
        Ok(shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coarse 1 (10 entities) has the parts 11 (3), 12 (3) and 13 (4); coarse 2 has 5 entities and no parts.
    fn chosen(passages: &[(i64, f64)], words: &[(i64, f64)], most: usize) -> Vec<i64> {
        let choice = Choice {
            passages: passages.iter().copied().collect(),
            words: words.iter().copied().collect(),
            sizes: [(1, 10), (2, 5), (3, 1), (11, 3), (12, 3), (13, 4)]
                .into_iter()
                .collect(),
        };
        let parts = |id: i64| Ok(if id == 1 { vec![11, 12, 13] } else { vec![] });
        choice.descend(vec![1, 2, 3], most, parts).unwrap()
    }

    #[test]
    fn a_community_gives_way_to_the_part_that_a_question_is_about() {
        let check = |passages: &[(i64, f64)], words: &[(i64, f64)], expected: &[i64]| {
            assert_eq!(chosen(passages, words, 8), expected);
        };
        check(&[(1, 0.6), (2, 0.4), (12, 0.55), (13, 0.05)], &[], &[12, 2]);
        check(
            &[(1, 0.6), (2, 0.4), (11, 0.2), (12, 0.2), (13, 0.2)],
            &[],
            &[1, 2],
        );
        check(&[], &[], &[1, 2]);
        check(&[(1, 0.3)], &[(2, 1.0)], &[2, 1]);
        assert_eq!(chosen(&[(1, 0.6), (12, 0.6)], &[], 1), [12]);
    }
}
