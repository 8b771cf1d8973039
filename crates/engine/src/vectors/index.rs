//! The vectors of a space in memory.

use super::code::{encode, product, scan};
use super::file::ExactVectors;

/// Rows whose full vector is looked at, for each one wanted, and at least. On 100,000 vectors of 384 dimensions
/// the first ten are then those of a full scan.
const RESCORED_FACTOR: usize = 4;
const RESCORED_LEAST: usize = 100;

/// A neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// What the vector belongs to.
    pub owner: i64,
    /// Cosine, rounded to four digits, so that other processors give the same order.
    pub score: f64,
}

/// Vectors of length 1 with their owners. What takes space is one byte a dimension; full vectors stay in the cache
/// file where there is one.
#[derive(Debug)]
pub struct VectorIndex {
    pub(super) dimensions: usize,
    /// Ascending.
    pub(super) owners: Vec<i64>,
    pub(super) codes: Vec<i8>,
    pub(super) scales: Vec<f32>,
    pub(super) exact: ExactVectors,
}

impl VectorIndex {
    /// From vectors in ascending order of their owners. Those of another number of dimensions, and those that hold
    /// anything but numbers, are left out.
    pub fn new(dimensions: usize, vectors: impl IntoIterator<Item = (i64, Vec<f32>)>) -> Self {
        let mut index = Self {
            dimensions,
            owners: Vec::new(),
            codes: Vec::new(),
            scales: Vec::new(),
            exact: ExactVectors::Memory(Vec::new()),
        };
        let mut exact = Vec::new();
        for (owner, vector) in vectors {
            if vector.len() == dimensions && vector.iter().all(|value| value.is_finite()) {
                index.owners.push(owner);
                index.scales.push(encode(&vector, &mut index.codes));
                exact.extend(vector);
            }
        }
        index.exact = ExactVectors::Memory(exact);
        index
    }

    /// Vectors held.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
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
        let mut codes = Vec::with_capacity(self.dimensions);
        encode(question, &mut codes);
        let mut best = Best::new((limit * RESCORED_FACTOR).max(RESCORED_LEAST));
        scan(&codes, &self.codes, &self.scales, &mut |row, score| {
            if score > best.least && admits(self.owners[row]) {
                best.push(row, score);
            }
        });
        let mut rows = best.into_rows();
        rows.sort_unstable();
        let mut hits = self.exact_hits(question, &rows)?;
        hits.truncate(limit);
        Ok(hits)
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

/// The best so many rows of a scan. Keeps up to twice as many and halves them when it is full, which costs less
/// than a heap.
struct Best {
    wanted: usize,
    rows: Vec<(f32, usize)>,
    /// Rows of at most this score cannot get in.
    least: f32,
}

impl Best {
    fn new(wanted: usize) -> Self {
        Self {
            wanted,
            rows: Vec::with_capacity(2 * wanted),
            least: f32::NEG_INFINITY,
        }
    }

    fn push(&mut self, row: usize, score: f32) {
        self.rows.push((score, row));
        if self.rows.len() == 2 * self.wanted {
            self.halve();
        }
    }

    #[cold]
    fn halve(&mut self) {
        if self.rows.len() > self.wanted {
            let order =
                |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            self.rows.select_nth_unstable_by(self.wanted, order);
            self.rows.truncate(self.wanted);
            self.least = self
                .rows
                .iter()
                .fold(f32::INFINITY, |least, row| least.min(row.0));
        }
    }

    fn into_rows(mut self) -> Vec<usize> {
        self.halve();
        self.rows.into_iter().map(|row| row.1).collect()
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
