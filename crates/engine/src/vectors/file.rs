//! The vectors of a space as a file beside the store: a cache, rebuilt from the store whenever it does not fit.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::code::{BLOCK, Codes};
use super::index::VectorIndex;

const MAGIC: &[u8; 8] = b"malhavec";
const VERSION: u64 = 2;
/// Magic, version, space, generation, dimensions, rows.
const HEADER: usize = 48;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VectorFileError {
    /// It is not there, or of another state of the store.
    #[error("the vector cache shows another state of the store")]
    Stale,
    /// Its bytes are not what was written.
    #[error("the vector cache is damaged")]
    Damaged,
    #[error("the vector cache cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Where the full vectors are.
#[derive(Debug)]
pub(super) enum ExactVectors {
    Memory(Vec<f32>),
    File {
        file: Mutex<File>,
        /// First byte of the first vector.
        offset: u64,
    },
}

impl ExactVectors {
    /// Hands over the vectors of these rows, which ascend.
    pub(super) fn each(
        &self,
        dimensions: usize,
        rows: &[usize],
        mut each: impl FnMut(usize, &[f32]),
    ) -> io::Result<()> {
        match self {
            Self::Memory(vectors) => {
                for &row in rows {
                    each(row, &vectors[row * dimensions..(row + 1) * dimensions]);
                }
            }
            Self::File { file, offset } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut bytes = vec![0; 4 * dimensions];
                let mut vector = vec![0.0; dimensions];
                for &row in rows {
                    file.seek(SeekFrom::Start(offset + (row * bytes.len()) as u64))?;
                    file.read_exact(&mut bytes)?;
                    read_floats(&bytes, &mut vector);
                    each(row, &vector);
                }
            }
        }
        Ok(())
    }
}

/// The cache of one space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorFile {
    path: PathBuf,
    space: i64,
}

impl VectorFile {
    /// `malha.db` has the vectors of space 3 in `malha.3.vectors`.
    pub fn beside(store: &Path, space: i64) -> Self {
        Self {
            path: store.with_extension(format!("{space}.vectors")),
            space,
        }
    }

    /// Replaces the file. A reader at the same time sees the old one or the new one. `vectors` hands over the full
    /// vectors of the index's rows, in their order, so that they need not be in memory.
    pub fn save(
        &self,
        index: &VectorIndex,
        generation: u64,
        vectors: impl FnOnce(&mut dyn FnMut(&[f32]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<(), VectorFileError> {
        self.replace(&self.path, |out| {
            out.write_all(MAGIC)?;
            let numbers = [
                VERSION,
                self.space as u64,
                generation,
                index.dimensions as u64,
                index.owners.len() as u64,
            ];
            for number in numbers {
                out.write_all(&number.to_le_bytes())?;
            }
            for owner in &index.owners {
                out.write_all(&owner.to_le_bytes())?;
            }
            for scale in &index.codes.scales {
                out.write_all(&scale.to_le_bytes())?;
            }
            out.write_all(index.codes.bytes())?;
            vectors(&mut |vector| {
                let mut values = vector.iter();
                values.try_for_each(|value| out.write_all(&value.to_le_bytes()))
            })
        })
    }

    /// Where a graph of neighbours is kept.
    pub(super) fn neighbours_path(&self) -> PathBuf {
        self.path.with_extension("neighbours")
    }

    /// Writes a file and then puts it in the place of `path`.
    pub(super) fn replace(
        &self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), VectorFileError> {
        let temporary = self
            .path
            .with_extension(format!("vectors-{}", std::process::id()));
        let written = File::create(&temporary).and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            write(&mut out)?;
            out.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .sync_data()
        });
        let replaced = written.and_then(|()| std::fs::rename(&temporary, path));
        if replaced.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        Ok(replaced?)
    }

    /// Reads codes and scales; full vectors are read when a search asks for them.
    pub fn load(&self, generation: u64, dimensions: usize) -> Result<VectorIndex, VectorFileError> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(VectorFileError::Stale);
            }
            other => other?,
        };
        let length = file.metadata()?.len();
        let mut header = [0; HEADER];
        read_exact(&mut file, &mut header)?;
        let (magic, numbers) = header.split_at(8);
        let numbers: Vec<u64> = numbers
            .as_chunks::<8>()
            .0
            .iter()
            .map(|&bytes| u64::from_le_bytes(bytes))
            .collect();
        let expected = [VERSION, self.space as u64, generation, dimensions as u64];
        if magic != MAGIC || numbers[..4] != expected {
            return Err(VectorFileError::Stale);
        }
        let rows = numbers[4];
        let width = Codes::width(dimensions);
        let row_bytes = (8 + 4 + BLOCK * width + 4 * dimensions) as u64;
        if rows
            .checked_mul(row_bytes)
            .and_then(|bytes| bytes.checked_add(HEADER as u64))
            != Some(length)
        {
            return Err(VectorFileError::Damaged);
        }
        let rows = rows as usize;
        let mut bytes = vec![0; 8 * rows];
        read_exact(&mut file, &mut bytes)?;
        let owners: Vec<i64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|&bytes| i64::from_le_bytes(bytes))
            .collect();
        if !owners.is_sorted() {
            return Err(VectorFileError::Damaged);
        }
        bytes.truncate(4 * rows);
        read_exact(&mut file, &mut bytes)?;
        let mut scales = vec![0.0; rows];
        read_floats(&bytes, &mut scales);
        let mut blocks = vec![[0_u8; BLOCK]; rows * width];
        read_exact(&mut file, blocks.as_flattened_mut())?;
        Ok(VectorIndex {
            dimensions,
            owners,
            codes: Codes {
                width,
                blocks,
                scales,
            },
            exact: ExactVectors::File {
                file: Mutex::new(file),
                offset: HEADER as u64 + rows as u64 * (row_bytes - 4 * dimensions as u64),
            },
            neighbours: None,
        })
    }

    /// Deletes the file, if it is there, and the graph of neighbours.
    pub fn remove(&self) -> io::Result<()> {
        for path in [&self.path, &self.neighbours_path()] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn read_exact(file: &mut File, bytes: &mut [u8]) -> Result<(), VectorFileError> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => VectorFileError::Damaged,
        _ => error.into(),
    })
}

fn read_floats(bytes: &[u8], numbers: &mut [f32]) {
    for (number, &bytes) in numbers.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *number = f32::from_le_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(file: &VectorFile, index: &VectorIndex, generation: u64) {
        let rows: Vec<usize> = (0..index.len()).collect();
        let vectors = |write: &mut dyn FnMut(&[f32]) -> io::Result<()>| {
            let mut written = Ok(());
            index.exact.each(index.dimensions, &rows, |_, vector| {
                if written.is_ok() {
                    written = write(vector);
                }
            })?;
            written
        };
        file.save(index, generation, vectors).unwrap();
    }

    #[test]
    fn a_file_of_the_same_state_gives_the_same_hits() {
        let folder = tempfile::tempdir().unwrap();
        let file = VectorFile::beside(&folder.path().join("malha.db"), 3);
        assert!(matches!(file.load(7, 4), Err(VectorFileError::Stale)));
        let vectors = (0..50).map(|n| (n, vec![n as f32, 50.0 - n as f32, 1.0, -0.5]));
        let index = VectorIndex::new(4, vectors);
        save(&file, &index, 7);
        let loaded = file.load(7, 4).unwrap();
        let question = [0.3, 0.7, 0.0, 0.1];
        let expected = index.search(&question, 9, |owner| owner % 2 == 0).unwrap();
        assert_eq!(
            loaded.search(&question, 9, |owner| owner % 2 == 0).unwrap(),
            expected
        );
        assert_eq!(
            loaded.of_owners(&question, &[5, 3]).unwrap(),
            index.of_owners(&question, &[5, 3]).unwrap()
        );
        for (generation, dimensions) in [(8, 4), (7, 5)] {
            let other = file.load(generation, dimensions);
            assert!(matches!(other, Err(VectorFileError::Stale)));
        }
        file.remove().unwrap();
        file.remove().unwrap();
    }

    #[test]
    fn damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("malha.db");
        let file = VectorFile::beside(&store, 1);
        let index = VectorIndex::new(2, [(1, vec![1.0, 0.0]), (2, vec![0.0, 1.0])]);
        save(&file, &index, 1);
        let path = store.with_extension("1.vectors");
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 20, HEADER, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(
                matches!(file.load(1, 2), Err(VectorFileError::Damaged)),
                "{length}"
            );
        }
        std::fs::write(&path, vec![b'x'; 100]).unwrap();
        assert!(matches!(file.load(1, 2), Err(VectorFileError::Stale)));
    }
}
