//! A graph of neighbours beside a large index: made once, kept in a file of its own, and good for the vectors that
//! came after it too, because those are looked at one by one.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};

use super::code::{Codes, Question};
use super::file::{VectorFile, VectorFileError};
use super::hnsw::{Hnsw, Near};
use super::index::VectorIndex;
use super::scan::highest_scores;

/// Vectors from which on the graph is made: a scan of fewer takes less than three milliseconds, and making the graph
/// takes minutes.
pub const NEIGHBOURS_FROM: usize = 300_000;

/// A graph that misses, or has too many, of more than one vector in so many is made anew.
const STALE: usize = 20;

/// Candidates of a search, at least, and for each one wanted.
const WIDTH_LEAST: usize = 128;
const WIDTH_FACTOR: usize = 3;

const MAGIC: &[u8; 8] = b"malhanbr";
/// A vector that is in the graph and no longer in the index.
const GONE: u32 = u32::MAX;

/// The graph, as it fits an index.
#[derive(Debug)]
pub(super) struct Neighbours {
    graph: Hnsw,
    /// By node: its row, or [`GONE`].
    rows: Vec<u32>,
    /// Rows that the graph does not have.
    rest: Vec<u32>,
}

impl Neighbours {
    /// `owners` of the graph's nodes ascend, as those of the index do.
    fn fit(graph: Hnsw, owners: &[i64], index: &VectorIndex) -> Self {
        let rows: Vec<u32> = owners
            .iter()
            .map(|owner| {
                let row = index.owners.binary_search(owner);
                row.map_or(GONE, |row| row as u32)
            })
            .collect();
        let rest = (0..).zip(&index.owners);
        let rest = rest.filter(|(_, owner)| owners.binary_search(owner).is_err());
        Self {
            graph,
            rest: rest.map(|entry| entry.0).collect(),
            rows,
        }
    }

    fn is_stale(&self) -> bool {
        let gone = self.rows.iter().filter(|&&row| row == GONE).count();
        (self.rest.len() + gone) * STALE > self.rows.len()
    }

    /// Rows, ascending, that are among the nearest; `None` when a scan costs less.
    pub(super) fn candidates(
        &self,
        codes: &Codes,
        question: &Question,
        limit: usize,
        admits: impl Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let score = |row: usize| {
            let mut score = [0.0];
            highest_scores(question, 0.0, codes, row, &mut score);
            score[0]
        };
        let of_node = |node: u32| match self.rows[node as usize] {
            GONE => f32::NEG_INFINITY,
            row => score(row as usize),
        };
        let is_admitted = |node: u32| match self.rows[node as usize] {
            GONE => false,
            row => admits(row as usize),
        };
        let width = (limit * WIDTH_FACTOR).max(WIDTH_LEAST);
        let mut found = self.graph.search(width, of_node, is_admitted)?;
        for near in &mut found {
            near.node = self.rows[near.node as usize];
        }
        let rest = self.rest.iter().filter(|&&row| admits(row as usize));
        found.extend(rest.map(|&row| Near {
            score: score(row as usize),
            node: row,
        }));
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(width);
        let mut rows: Vec<usize> = found.iter().map(|near| near.node as usize).collect();
        rows.sort_unstable();
        Some(rows)
    }
}

impl VectorIndex {
    /// The same index with a graph of neighbours, whatever its size.
    ///
    /// # Errors
    /// When the cache file that holds the full vectors can no longer be read.
    pub fn with_neighbours(mut self) -> io::Result<Self> {
        self.neighbours = Some(Neighbours::fit(self.graph()?, &self.owners, &self));
        Ok(self)
    }

    /// Bytes of the graph of neighbours.
    pub fn neighbours_bytes(&self) -> usize {
        self.neighbours.as_ref().map_or(0, |neighbours| {
            4 * (neighbours.graph.lists().len() + neighbours.rows.len())
                + 8 * (neighbours.graph.len() + 1)
        })
    }

    fn graph(&self) -> io::Result<Hnsw> {
        let mut vectors = Vec::with_capacity(self.len() * self.dimensions);
        let rows: Vec<usize> = (0..self.len()).collect();
        self.exact.each(self.dimensions, &rows, |_, vector| {
            vectors.extend_from_slice(vector);
        })?;
        Ok(Hnsw::build(self.dimensions, &vectors))
    }

    /// A large index with the graph of its file, where there is one that fits.
    pub(crate) fn with_stored_neighbours(mut self, file: Option<&VectorFile>) -> Self {
        if self.len() >= NEIGHBOURS_FROM
            && let Some(Ok((graph, owners))) = file.map(read)
        {
            let neighbours = Neighbours::fit(graph, &owners, &self);
            // One that is out of date is still right, but a scan may be faster.
            self.neighbours = (!neighbours.is_stale()).then_some(neighbours);
        }
        self
    }

    /// Whether it is so large that it should have a graph, and has none that fits.
    pub(crate) fn wants_neighbours(&self) -> bool {
        self.len() >= NEIGHBOURS_FROM && self.neighbours.is_none()
    }

    /// Makes the graph and keeps it for the next ones to come.
    pub(crate) fn store_neighbours(&self, file: &VectorFile) -> Result<(), VectorFileError> {
        write(file, &self.graph()?, &self.owners)
    }
}

/// Replaces the file: number of nodes, their owners, the lists.
fn write(file: &VectorFile, graph: &Hnsw, owners: &[i64]) -> Result<(), VectorFileError> {
    file.replace(&file.neighbours_path(), |out: &mut BufWriter<File>| {
        out.write_all(MAGIC)?;
        out.write_all(&(owners.len() as u64).to_le_bytes())?;
        for owner in owners {
            out.write_all(&owner.to_le_bytes())?;
        }
        for number in graph.lists() {
            out.write_all(&number.to_le_bytes())?;
        }
        Ok(())
    })
}

fn read(file: &VectorFile) -> Result<(Hnsw, Vec<i64>), VectorFileError> {
    let mut bytes = Vec::new();
    File::open(file.neighbours_path())?.read_to_end(&mut bytes)?;
    let damaged = || VectorFileError::Damaged;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (count, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    let count = u64::from_le_bytes(*count) as usize;
    let (owners, lists) = count
        .checked_mul(8)
        .and_then(|bytes| rest.split_at_checked(bytes))
        .ok_or_else(damaged)?;
    let owners: Vec<i64> = owners
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&bytes| i64::from_le_bytes(bytes))
        .collect();
    let lists: Vec<u32> = lists
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| u32::from_le_bytes(bytes))
        .collect();
    let graph = Hnsw::from_lists(count, lists).ok_or_else(damaged)?;
    if owners.is_sorted() {
        Ok((graph, owners))
    } else {
        Err(damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(owners: impl Iterator<Item = i64>) -> Vec<(i64, Vec<f32>)> {
        let mut vectors = Vec::new();
        for owner in owners {
            let angle = owner as f32 * 0.37;
            let mut vector = vec![angle.sin(), angle.cos(), (angle * 1.7).sin(), 0.3];
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|value| *value /= length);
            vectors.push((owner, vector));
        }
        vectors
    }

    #[test]
    fn what_came_after_the_graph_is_found_and_what_went_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = VectorFile::beside(&folder.path().join("malha.db"), 1);
        let before = VectorIndex::new(4, vectors(0..500));
        before.store_neighbours(&file).unwrap();
        let (graph, owners) = read(&file).unwrap();
        assert_eq!(owners, before.owners);
        // Vector 100 is gone, 500 to 509 are new.
        let mut now = VectorIndex::new(4, vectors((0..510).filter(|&owner| owner != 100)));
        let exact = VectorIndex::new(4, vectors((0..510).filter(|&owner| owner != 100)));
        let neighbours = Neighbours::fit(graph.clone(), &owners, &now);
        assert_eq!(neighbours.rest, (499..509).collect::<Vec<u32>>());
        assert!(!neighbours.is_stale());
        now.neighbours = Some(neighbours);
        for owner in [100, 505, 7] {
            let question = &vectors(owner..owner + 1)[0].1;
            for admits in [|_: i64| true, |owner: i64| owner % 3 == 0] {
                assert_eq!(
                    now.search(question, 5, admits).unwrap(),
                    exact.search(question, 5, admits).unwrap(),
                    "{owner}"
                );
            }
        }
        let much_later = VectorIndex::new(4, vectors(0..600));
        assert!(Neighbours::fit(graph, &owners, &much_later).is_stale());
    }

    #[test]
    fn damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = VectorFile::beside(&folder.path().join("malha.db"), 1);
        assert!(read(&file).is_err());
        let index = VectorIndex::new(4, vectors(0..50));
        index.store_neighbours(&file).unwrap();
        let whole = std::fs::read(file.neighbours_path()).unwrap();
        for length in [0, 9, 100, whole.len() - 4] {
            std::fs::write(file.neighbours_path(), &whole[..length]).unwrap();
            assert!(read(&file).is_err(), "{length}");
        }
    }
}
