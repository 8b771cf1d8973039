//! The vectors of a space in memory.

use super::code::{Codes, Question, product};
use super::file::ExactVectors;
use super::neighbours::Neighbours;
use super::scan::{PIECE, highest_scores, slack};

/// Rows whose full vector is looked at, at most: so many for each one wanted, and at least. Only where thousands of
/// vectors are almost alike are there more that could be among the nearest.
const MOST_RESCORED_FACTOR: usize = 4;
const MOST_RESCORED_LEAST: usize = 4096;

/// A neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// What the vector belongs to.
    pub owner: i64,
    /// Cosine, rounded to four digits, so that other processors give the same order.
    pub score: f64,
}

/// Vectors of length 1 with their owners. What takes space is half a byte a dimension; full vectors stay in the
/// cache file where there is one.
#[derive(Debug)]
pub struct VectorIndex {
    pub(super) dimensions: usize,
    /// Ascending.
    pub(super) owners: Vec<i64>,
    pub(super) codes: Codes,
    pub(super) exact: ExactVectors,
    /// Shows the way where there are so many vectors that looking at each takes too long.
    pub(super) neighbours: Option<Neighbours>,
}

impl VectorIndex {
    /// From vectors in ascending order of their owners. Those of another number of dimensions, and those that hold
    /// anything but numbers, are left out.
    pub fn new(dimensions: usize, vectors: impl IntoIterator<Item = (i64, Vec<f32>)>) -> Self {
        let mut index = Self {
            dimensions,
            owners: Vec::new(),
            codes: Codes::new(dimensions),
            exact: ExactVectors::Memory(Vec::new()),
            neighbours: None,
        };
        for (owner, vector) in vectors {
            index.push(owner, &vector);
        }
        index
    }

    /// Adds the vector of an owner above all others, if it is one.
    pub(crate) fn push(&mut self, owner: i64, vector: &[f32]) {
        if self.takes(vector)
            && let ExactVectors::Memory(exact) = &mut self.exact
        {
            exact.extend_from_slice(vector);
            self.push_codes(owner, vector);
        }
    }

    /// The same without the full vector: such an index can only be saved.
    pub(crate) fn push_codes(&mut self, owner: i64, vector: &[f32]) {
        if self.takes(vector) {
            self.owners.push(owner);
            self.codes.push(vector);
        }
    }

    /// Whether it is a vector of this index.
    pub(crate) fn takes(&self, vector: &[f32]) -> bool {
        vector.len() == self.dimensions && vector.iter().all(|value| value.is_finite())
    }

    /// Vectors held.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Bytes that are in memory for every search: owners, codes, scales.
    pub fn code_bytes(&self) -> usize {
        8 * self.len() + self.codes.bytes().len() + 4 * self.codes.scales.len()
    }

    /// The `limit` nearest vectors whose owners are admitted, nearest first, ties by owner.
    ///
    /// # Errors
    /// When the cache file that holds the full vectors can no longer be read.
    pub fn search(
        &self,
        question: &[f32],
        limit: usize,
        admits: impl Fn(i64) -> bool,
    ) -> std::io::Result<Vec<VectorHit>> {
        if question.len() != self.dimensions || limit == 0 {
            return Ok(Vec::new());
        }
        let asked = Question::new(question);
        let through_neighbours = self.neighbours.as_ref().and_then(|neighbours| {
            let admits = |row: usize| admits(self.owners[row]);
            neighbours.candidates(&self.codes, &asked, limit, admits)
        });
        let rows = through_neighbours.unwrap_or_else(|| self.candidates(&asked, limit, admits));
        let mut hits = self.exact_hits(question, &rows)?;
        hits.truncate(limit);
        Ok(hits)
    }

    /// Rows, ascending, that may be among the nearest when the rounding of the codes is allowed for.
    fn candidates(
        &self,
        question: &Question,
        limit: usize,
        admits: impl Fn(i64) -> bool,
    ) -> Vec<usize> {
        let slack = slack(question);
        let score = |row: usize, highest: f32| highest - slack * self.codes.scales[row];
        let mut nearest = Nearest::new(limit);
        let mut kept: Vec<(f32, usize)> = Vec::new();
        let mut scores = vec![0.0; PIECE.min(self.len())];
        for first in (0..self.len()).step_by(PIECE) {
            let scores = &mut scores[..PIECE.min(self.len() - first)];
            highest_scores(question, slack, &self.codes, first, scores);
            for (row, &highest) in (first..).zip(scores.iter()) {
                if highest >= nearest.least && admits(self.owners[row]) {
                    nearest.push(score(row, highest));
                    kept.push((highest, row));
                }
            }
        }
        let least = nearest.last();
        kept.retain(|&(highest, _)| highest >= least);
        let most = (limit * MOST_RESCORED_FACTOR).max(MOST_RESCORED_LEAST);
        if kept.len() > most {
            let order =
                |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            kept.select_nth_unstable_by(most, order);
            kept.truncate(most);
        }
        let mut rows: Vec<usize> = kept.into_iter().map(|entry| entry.1).collect();
        rows.sort_unstable();
        rows
    }

    /// The vectors of these owners by their nearness; owners without a vector are left out.
    ///
    /// # Errors
    /// As [`VectorIndex::search`].
    pub fn of_owners(&self, question: &[f32], owners: &[i64]) -> std::io::Result<Vec<VectorHit>> {
        if question.len() != self.dimensions {
            return Ok(Vec::new());
        }
        let mut rows: Vec<usize> = owners
            .iter()
            .filter_map(|owner| self.owners.binary_search(owner).ok())
            .collect();
        rows.sort_unstable();
        rows.dedup();
        self.exact_hits(question, &rows)
    }

    fn exact_hits(&self, question: &[f32], rows: &[usize]) -> std::io::Result<Vec<VectorHit>> {
        let mut hits = Vec::with_capacity(rows.len());
        self.exact.each(self.dimensions, rows, |row, vector| {
            let score = f64::from(product(question, vector));
            hits.push(VectorHit {
                owner: self.owners[row],
                score: (score * 1e4).round() / 1e4,
            });
        })?;
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.owner.cmp(&b.owner)));
        Ok(hits)
    }
}

/// The best so many scores of a scan. Keeps up to twice as many and halves them when it is full, which costs less
/// than a heap.
struct Nearest {
    wanted: usize,
    scores: Vec<f32>,
    /// So many scores are at least this.
    least: f32,
}

impl Nearest {
    fn new(wanted: usize) -> Self {
        Self {
            wanted,
            scores: Vec::with_capacity(2 * wanted.min(PIECE)),
            least: f32::NEG_INFINITY,
        }
    }

    fn push(&mut self, score: f32) {
        self.scores.push(score);
        if self.scores.len() >= 2 * self.wanted {
            self.halve();
        }
    }

    #[cold]
    fn halve(&mut self) {
        self.scores
            .select_nth_unstable_by(self.wanted - 1, |a, b| b.total_cmp(a));
        self.scores.truncate(self.wanted);
        self.least = self.scores[self.wanted - 1];
    }

    /// The lowest of the best so many scores; of fewer, nothing is too low.
    fn last(mut self) -> f32 {
        if self.scores.len() >= self.wanted {
            self.halve();
        }
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of length 1, the same on every run.
    fn vectors(count: usize, dimensions: usize) -> Vec<(i64, Vec<f32>)> {
        let mut state = 1_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count)
            .map(|owner| {
                let mut vector: Vec<f32> = (0..dimensions).map(|_| number()).collect();
                let length = product(&vector, &vector).sqrt();
                for value in &mut vector {
                    *value /= length;
                }
                (owner as i64 * 3, vector)
            })
            .collect()
    }

    fn by_full_scan(
        vectors: &[(i64, Vec<f32>)],
        question: &[f32],
        limit: usize,
        admits: impl Fn(i64) -> bool,
    ) -> Vec<i64> {
        let mut all: Vec<(f32, i64)> = vectors
            .iter()
            .filter(|entry| admits(entry.0))
            .map(|(owner, vector)| (product(question, vector), *owner))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().take(limit).map(|entry| entry.1).collect()
    }

    #[test]
    fn the_two_stages_find_what_a_full_scan_finds() {
        let vectors = vectors(3000, 64);
        let index = VectorIndex::new(64, vectors.clone());
        assert_eq!(index.len(), 3000);
        let mut found = 0;
        for question in vectors.iter().step_by(100) {
            let hits = index.search(&question.1, 10, |_| true).unwrap();
            assert_eq!(hits[0].owner, question.0);
            let expected = by_full_scan(&vectors, &question.1, 10, |_| true);
            found += hits
                .iter()
                .filter(|hit| expected.contains(&hit.owner))
                .count();
        }
        assert!(found >= 299, "{found} of 300");
    }

    #[test]
    fn vectors_that_are_almost_alike_are_told_apart() {
        // Thousands within the rounding error of each other, as notes of one template are.
        let mut vectors = vectors(3000, 32);
        for (_, vector) in &mut vectors {
            for (value, shared) in vector.iter_mut().zip([0.3, -0.2].iter().cycle()) {
                *value = 0.05 * *value + shared;
            }
            let length = product(vector, vector).sqrt();
            for value in vector {
                *value /= length;
            }
        }
        let index = VectorIndex::new(32, vectors.clone());
        for (owner, question) in vectors.iter().step_by(500) {
            let hits = index.search(question, 5, |_| true).unwrap();
            assert_eq!(hits[0].owner, *owner);
            let expected = by_full_scan(&vectors, question, 5, |_| true);
            let lowest = index.of_owners(question, &expected[4..]).unwrap()[0].score;
            assert!(hits[4].score >= lowest, "{hits:?}, {lowest}");
        }
    }

    #[test]
    fn more_may_be_wanted_than_there_are() {
        let index = VectorIndex::new(8, vectors(10, 8));
        let question = [0.5; 8];
        assert_eq!(index.search(&question, 500, |_| true).unwrap().len(), 10);
        assert_eq!(index.search(&question, 10, |_| true).unwrap().len(), 10);
        assert_eq!(index.search(&question, 5, |_| false).unwrap(), []);
        let none = VectorIndex::new(8, []);
        assert_eq!(none.search(&question, 5, |_| true).unwrap(), []);
    }

    #[test]
    fn filters_apply_inside_the_search() {
        let vectors = vectors(2000, 32);
        let index = VectorIndex::new(32, vectors.clone());
        // Only every hundredth is admitted: a filter after the search would leave almost nothing.
        let admits = |owner: i64| owner % 300 == 0;
        let hits = index.search(&vectors[7].1, 10, admits).unwrap();
        let owners: Vec<i64> = hits.iter().map(|hit| hit.owner).collect();
        assert_eq!(owners.len(), 10);
        assert_eq!(owners, by_full_scan(&vectors, &vectors[7].1, 10, admits));
    }

    #[test]
    fn what_is_no_vector_is_left_out() {
        let index = VectorIndex::new(
            2,
            [
                (1, vec![1.0, 0.0]),
                (2, vec![f32::NAN, 0.0]),
                (3, vec![1.0]),
                (4, vec![0.0, 0.0]),
            ],
        );
        let hits = index.search(&[1.0, 0.0], 9, |_| true).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.owner).collect::<Vec<_>>(), [1, 4]);
        assert!(hits.iter().all(|hit| hit.score.is_finite()));
        assert_eq!(index.search(&[1.0], 9, |_| true).unwrap(), []);
        assert_eq!(
            index.of_owners(&[1.0, 0.0], &[4, 1, 1, 9]).unwrap().len(),
            2
        );
    }
}
