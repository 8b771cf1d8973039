//! Vectors: made, replaced, and brought to a search.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::lazy_model::{EmbedderSource, LazyModel};
use super::{Engine, lock};
use crate::language_model::TextRole;
use crate::pipeline::{self, Job};
use crate::retrieval::{Vectors, nearest_score};
use crate::storage::{self, SpaceState, Store, StoredSpace};
use crate::text::sentences;
use crate::types::{DocumentId, EmbedReport, EmbeddingState, LaneStatus, Progress, Stage};
use crate::vectors::{VectorFile, VectorFileError, VectorIndex, product};
use crate::{Error, Result};

/// The vectors of a space at one of its generations.
pub(super) struct LoadedVectors {
    space: i64,
    generation: u64,
    index: Arc<VectorIndex>,
    /// The last question: one command may search for it several times.
    question: Option<(String, Vec<f32>)>,
}

impl Engine {
    /// The same engine with a model for vectors.
    #[must_use]
    pub fn with_embedder(mut self, source: EmbedderSource) -> Self {
        self.embedder = Some(Arc::new(LazyModel::new(source)));
        self.vectors = Arc::default();
        self
    }

    /// Gives a vector to every current chunk that has none. What is done is kept when the run is stopped, and the
    /// next one goes on from there. The writer lease is held only while a batch is stored.
    ///
    /// # Errors
    /// No model; a model other than the one of the store's vectors ([`Error::Usage`], naming both); a model that
    /// answers nothing at all. Single texts that a model fails on are in the report.
    pub fn embed(&self, progress: &dyn Progress) -> Result<EmbedReport> {
        self.run_embedding(progress, false)
    }

    /// Replaces the vectors of another model: the new ones are made beside the old, which are searched until all
    /// are there.
    ///
    /// # Errors
    /// As [`Engine::embed`], except that another model is welcome.
    pub fn reembed(&self, progress: &dyn Progress) -> Result<EmbedReport> {
        self.run_embedding(progress, true)
    }

    fn run_embedding(&self, progress: &dyn Progress, replace: bool) -> Result<EmbedReport> {
        let embedder = self
            .embedder
            .as_ref()
            .ok_or_else(|| Error::Usage("no embedding model is configured".to_owned()))?;
        let store = self.store();
        let job = Job {
            store: &store,
            config: &self.config,
            namespace: &self.namespace,
            clock: &*self.clock,
            progress,
        };
        let old = self.active_space(&store)?;
        let report = pipeline::embed(&job, embedder.get()?, replace)?;
        if self.config.use_synonyms {
            // What it holds of synonyms is out of date.
            *lock(&self.graph) = None;
        }
        if let Some(space) = self.active_space(&store)? {
            let index = self.vector_index(&store, &space)?;
            if index.wants_neighbours()
                && let Some(path) = store.path()
            {
                progress.stage(Stage::Neighbours, 0);
                if let Err(error) = index.store_neighbours(&VectorFile::beside(path, space.id)) {
                    tracing::warn!(%error, "the graph of neighbours could not be written");
                }
                *lock(&self.vectors) = None;
            }
            // A cache that cannot be deleted only takes space.
            if let (Some(old), Some(path)) = (old, store.path())
                && old.id != space.id
            {
                let _ = VectorFile::beside(path, old.id).remove();
            }
        }
        Ok(report)
    }

    /// The vectors of the store; `None` when there are none.
    pub fn embedding_state(&self) -> Result<Option<EmbeddingState>> {
        let store = self.store();
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(None);
        };
        let connection = store.connection();
        let Some(active) = storage::space(connection, namespace.0, SpaceState::Active)? else {
            return Ok(None);
        };
        let (vectors, failed) = storage::count_vectors(connection, active.id)?;
        let building = storage::space(connection, namespace.0, SpaceState::Building)?;
        let building = building
            .map(|space| {
                let missing = storage::count_without_vector(connection, namespace.0, space.id)?;
                Ok::<_, Error>((space.space.model, missing))
            })
            .transpose()?;
        Ok(Some(EmbeddingState {
            missing: storage::count_without_vector(connection, namespace.0, active.id)?,
            space: active.space,
            vectors,
            failed,
            building,
        }))
    }

    /// What the vector lane of a search works with. Whatever is wrong is a reason, never an error of the search.
    pub(super) fn vectors_for(&self, store: &Store, query: &str) -> Vectors {
        let skipped = |reason: &str| Vectors::Absent(LaneStatus::Skipped, reason.to_owned());
        let failed = |reason: String| Vectors::Absent(LaneStatus::Failed, reason);
        if let Err(error) = self.cancel.go_on() {
            return failed(error.to_string());
        }
        let space = match self.active_space(store) {
            Ok(Some(space)) => space,
            Ok(None) => return Vectors::NoneStored,
            Err(error) => return failed(error.to_string()),
        };
        let Some(embedder) = &self.embedder else {
            return skipped("no embedding model is configured");
        };
        let embedder = match embedder.get() {
            Ok(embedder) => embedder,
            Err(error) => return failed(error.to_string()),
        };
        if *embedder.space() != space.space {
            return failed(pipeline::mixed_spaces(&space.space, embedder.space()).to_string());
        }
        let index = match self.vector_index(store, &space) {
            Ok(index) => index,
            Err(error) => return failed(error.to_string()),
        };
        if let Some(question) = self.last_question(query) {
            return Vectors::Ready { index, question };
        }
        let question = match embedder.embed(&[query], TextRole::Query) {
            Ok(mut vectors) => vectors.pop().unwrap_or_default(),
            Err(error) => return failed(error.to_string()),
        };
        if question.len() != space.space.dimensions || !question.iter().all(|v| v.is_finite()) {
            return failed("the model gave no usable vector for the question".to_owned());
        }
        if let Some(loaded) = lock(&self.vectors).as_mut() {
            loaded.question = Some((query.to_owned(), question.clone()));
        }
        Vectors::Ready { index, question }
    }

    /// Whether a sentence of the quotes says what a sentence says, by their vectors in the space of the store.
    /// `None` where no vectors can tell: there are none, or the model is of another space or in trouble.
    pub(super) fn is_alike(&self, sentence: &str, quotes: &str) -> Result<Option<bool>> {
        /// Sentences that are compared, and the bytes that longer ones are cut to.
        const MOST: usize = 16;
        const LONGEST: usize = 1_200;
        let least = self.config.likeness.supported;
        let Some(embedder) = self.embedder.as_ref().filter(|_| least <= 1.0) else {
            return Ok(None);
        };
        let Some(space) = self.active_space(&self.store())? else {
            return Ok(None);
        };
        let Ok(embedder) = embedder.get() else {
            return Ok(None);
        };
        if *embedder.space() != space.space {
            return Ok(None);
        }
        let Ok(asked) = embedder.embed(&[sentence], TextRole::Query) else {
            return Ok(None);
        };
        let parts: Vec<&str> = sentences(quotes, LONGEST)
            .into_iter()
            .map(|range| &quotes[range])
            .take(MOST)
            .collect();
        let Ok(held) = embedder.embed(&parts, TextRole::Passage) else {
            return Ok(None);
        };
        let says = |part: &Vec<f32>| {
            asked.first().is_some_and(|sentence| {
                sentence.len() == part.len() && cosine(sentence, part) >= least
            })
        };
        Ok(Some(held.iter().any(says)))
    }

    /// Whether a passage of the store is as near to the question as what answers it, in these documents. False where
    /// no vectors can tell.
    pub(super) fn knows_by_meaning(
        &self,
        question: &str,
        documents: Option<&[DocumentId]>,
    ) -> Result<bool> {
        let least = self.config.likeness.known;
        if least > 1.0 {
            return Ok(false);
        }
        let nearest = self.read(|reader| Ok(nearest_score(reader, question, documents)))?;
        Ok(nearest.is_some_and(|score| score >= least))
    }

    fn last_question(&self, query: &str) -> Option<Vec<f32>> {
        let slot = lock(&self.vectors);
        let (asked, vector) = slot.as_ref()?.question.as_ref()?;
        (asked == query).then(|| vector.clone())
    }

    /// Deletes the caches beside the store; the next search makes them anew.
    pub(super) fn drop_vector_caches(&self, store: &Store) -> Result<()> {
        *lock(&self.vectors) = None;
        let (Some(namespace), Some(path)) = (store.namespace(&self.namespace)?, store.path())
        else {
            return Ok(());
        };
        for state in [SpaceState::Active, SpaceState::Building] {
            if let Some(space) = storage::space(store.connection(), namespace.0, state)? {
                let file = VectorFile::beside(path, space.id);
                file.remove().map_err(|source| Error::Io {
                    path: path.to_owned(),
                    source,
                })?;
            }
        }
        Ok(())
    }

    /// The space whose synonyms a search may follow, where that is wanted.
    pub(super) fn synonym_space(&self, store: &Store) -> Result<Option<i64>> {
        if !self.config.use_synonyms {
            return Ok(None);
        }
        Ok(self.active_space(store)?.map(|space| space.id))
    }

    fn active_space(&self, store: &Store) -> Result<Option<StoredSpace>> {
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::space(store.connection(), namespace.0, SpaceState::Active),
            None => Ok(None),
        }
    }

    /// The space's vectors: those in memory, the cache file, or read from the store.
    fn vector_index(&self, store: &Store, space: &StoredSpace) -> Result<Arc<VectorIndex>> {
        let mut slot = lock(&self.vectors);
        if let Some(loaded) = slot.as_ref()
            && (loaded.space, loaded.generation) == (space.id, space.generation)
        {
            return Ok(Arc::clone(&loaded.index));
        }
        let dimensions = space.space.dimensions;
        let file = store.path().map(|path| VectorFile::beside(path, space.id));
        let cached = file
            .as_ref()
            .and_then(|file| file.load(space.generation, dimensions).ok());
        let cached = match file.as_ref() {
            Some(file) if cached.is_none() && !store.is_read_only() => {
                match write_cache(file, store, space) {
                    Ok(index) => Some(index),
                    Err(error) => {
                        tracing::warn!(%error, "the vector cache could not be written");
                        None
                    }
                }
            }
            _ => cached,
        };
        let index = if let Some(index) = cached {
            index
        } else {
            let mut index = VectorIndex::new(dimensions, []);
            storage::for_each_vector(store.connection(), space.id, |chunk, vector| {
                index.push(chunk, &vector);
            })?;
            index
        };
        let index = Arc::new(index.with_stored_neighbours(file.as_ref()));
        *slot = Some(LoadedVectors {
            space: space.id,
            generation: space.generation,
            index: Arc::clone(&index),
            question: None,
        });
        Ok(index)
    }
}

/// Models need not give vectors of length 1.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let lengths = f64::from(product(a, a)) * f64::from(product(b, b));
    f64::from(product(a, b)) / lengths.sqrt()
}

/// Writes the cache file from the store, and reads it: full vectors are never in memory together.
fn write_cache(file: &VectorFile, store: &Store, space: &StoredSpace) -> Result<VectorIndex> {
    let one_state = store.read()?;
    let connection = store.connection();
    let dimensions = space.space.dimensions;
    let mut index = VectorIndex::new(dimensions, []);
    storage::for_each_vector(connection, space.id, |chunk, vector| {
        index.push_codes(chunk, &vector);
    })?;
    let unwritten = |error: VectorFileError| Error::Store {
        path: store.path().map(Path::to_owned).unwrap_or_default(),
        reason: error.to_string(),
    };
    file.save(&index, space.generation, |write| {
        let mut written = Ok(());
        storage::for_each_vector(connection, space.id, |_, vector| {
            if written.is_ok() && index.takes(&vector) {
                written = write(&vector);
            }
        })
        .map_err(io::Error::other)?;
        written
    })
    .map_err(unwritten)?;
    drop(one_state);
    file.load(space.generation, dimensions).map_err(unwritten)
}
