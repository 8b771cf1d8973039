//! Vectors kept in a file between evaluation runs: the same corpus is embedded once, not with every change of a
//! recipe.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use malha_engine::language_model::{
    Embedder, EmbeddingSpace, ModelError, ModelErrorKind, TextRole,
};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

type Key = [u8; 32];

/// An embedder that remembers. Entries are a key (SHA-256 of space, role and text) and the vector's numbers, one
/// after the other.
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    path: PathBuf,
    known: Mutex<FxHashMap<Key, Vec<f32>>>,
}

impl CachedEmbedder {
    /// Reads the file, which need not be there; an entry that was cut off is left out.
    pub fn open(inner: Arc<dyn Embedder>, path: &Path) -> Result<Self> {
        let dimensions = inner.space().dimensions;
        let mut known = FxHashMap::default();
        if path.is_file() {
            let file = File::open(path).map_err(Error::io(path))?;
            let mut reader = BufReader::new(file);
            let mut entry = vec![0; 32 + 4 * dimensions];
            while reader.read_exact(&mut entry).is_ok() {
                let (key, numbers) = entry.split_at(32);
                let vector = numbers
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .map(|&bytes| f32::from_le_bytes(bytes))
                    .collect();
                let mut owned = [0; 32];
                owned.copy_from_slice(key);
                known.insert(owned, vector);
            }
        }
        Ok(Self {
            inner,
            path: path.to_owned(),
            known: Mutex::new(known),
        })
    }

    fn key(&self, text: &str, role: TextRole) -> Key {
        let space = self.inner.space();
        let (role, prefix) = match role {
            TextRole::Query => ("query", &space.query_prefix),
            TextRole::Passage => ("passage", &space.passage_prefix),
        };
        let dimensions = space.dimensions.to_string();
        let mut hasher = Sha256::new();
        for part in [
            &space.model,
            &space.pooling,
            &dimensions,
            role,
            prefix,
            text,
        ] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().into()
    }

    fn append(&self, entries: &[(Key, Vec<f32>)]) -> std::io::Result<()> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path)?;
        let mut out = BufWriter::new(file);
        for (key, vector) in entries {
            out.write_all(key)?;
            for value in vector {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        out.flush()
    }
}

impl Embedder for CachedEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<Key> = texts.iter().map(|text| self.key(text, role)).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<usize> = (0..texts.len())
            .filter(|&n| !known.contains_key(&keys[n]))
            .collect();
        if !missing.is_empty() {
            let asked: Vec<&str> = missing.iter().map(|&n| texts[n]).collect();
            let vectors = self.inner.embed(&asked, role)?;
            let entries: Vec<(Key, Vec<f32>)> = missing
                .iter()
                .zip(vectors)
                .filter(|(_, vector)| vector.len() == self.inner.space().dimensions)
                .map(|(&n, vector)| (keys[n], vector))
                .collect();
            self.append(&entries).map_err(|error| {
                ModelError::new(
                    ModelErrorKind::Permanent,
                    self.path.display().to_string(),
                    error.to_string(),
                )
            })?;
            known.extend(entries);
        }
        Ok(keys
            .iter()
            .map(|key| known.get(key).cloned().unwrap_or_default())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counting {
        space: EmbeddingSpace,
        texts: AtomicUsize,
    }

    impl Embedder for Counting {
        fn space(&self) -> &EmbeddingSpace {
            &self.space
        }

        fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
            self.texts.fetch_add(texts.len(), Ordering::Relaxed);
            let vectors = texts.iter().map(|text| vec![text.len() as f32, 1.0]);
            Ok(vectors.collect())
        }
    }

    #[test]
    fn a_text_is_embedded_once_a_role_even_by_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let inner = Arc::new(Counting {
            space: EmbeddingSpace {
                model: "stub".to_owned(),
                dimensions: 2,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                pooling: "mean".to_owned(),
                is_normalized: false,
            },
            texts: AtomicUsize::new(0),
        });
        for (texts, role, calls) in [
            (["a", "bb"], TextRole::Passage, 2),
            (["bb", "ccc"], TextRole::Passage, 3),
            (["a", "bb"], TextRole::Query, 5),
        ] {
            let cached = CachedEmbedder::open(inner.clone(), &path).unwrap();
            let vectors = cached.embed(&texts, role).unwrap();
            assert_eq!(vectors[1], [texts[1].len() as f32, 1.0]);
            assert_eq!(inner.texts.load(Ordering::Relaxed), calls);
        }
    }
}
