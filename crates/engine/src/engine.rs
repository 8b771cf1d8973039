//! The front door: one store, its indexing runs and its questions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::types::{
    EntityView, IngestReport, LinkConvention, NeighborRequest, Neighborhood, OpenLink, PathView,
    SearchRequest, SearchResponse, Stats,
};
use crate::{Error, Result};

/// Checked settings of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    /// Namespace that every operation works in.
    pub namespace: String,
    /// Chunk size and overlap in characters.
    pub chunk_size: usize,
    pub chunk_overlap: usize,
    /// How long a writer waits for the lease of another one.
    pub lease_wait: Duration,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            chunk_size: 1200,
            chunk_overlap: 200,
            lease_wait: Duration::from_secs(10),
        }
    }
}

/// A folder or file to index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSpec {
    pub root: PathBuf,
    /// `None`: detected from marker files.
    pub convention: Option<LinkConvention>,
}

/// A document handed over in memory: a corpus row, a note of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentInput {
    /// Unique in the namespace; shown with the evidence.
    pub uri: String,
    /// May be empty.
    pub title: String,
    pub text: String,
}

/// A stage of an indexing run, as progress shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Walk,
    Read,
    Match,
    Relate,
    Snapshot,
}

/// Told how a run goes on; may ask it to stop.
pub trait Progress: Sync {
    /// A stage starts, with this many items (0 when unknown).
    fn stage(&self, _stage: Stage, _items: usize) {}
    /// So many more items of the stage are done.
    fn advance(&self, _items: usize) {}
    /// True when the user wants the run to stop; what is done is kept.
    fn interrupted(&self) -> bool {
        false
    }
}

impl Progress for () {}

/// A store with its caches: index it, ask it.
pub struct Engine {
    config: EngineConfig,
}

impl Engine {
    /// Opens the store at `path`, creating it if it is not there.
    pub fn create(path: &Path, config: EngineConfig) -> Result<Self> {
        let _ = path;
        Ok(Self { config })
    }

    /// Opens the existing store at `path`.
    pub fn open(path: &Path, config: EngineConfig) -> Result<Self> {
        let _ = path;
        Ok(Self { config })
    }

    /// Opens the existing store at `path` without ever writing to it.
    pub fn open_read_only(path: &Path, config: EngineConfig) -> Result<Self> {
        let _ = path;
        Ok(Self { config })
    }

    /// A store that lives in memory, for tests and evaluation.
    pub fn in_memory(config: EngineConfig) -> Result<Self> {
        Ok(Self { config })
    }

    /// The settings it was opened with.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Brings the store up to date with these sources; only what changed is read.
    /// With no sources given, every source indexed before is brought up to date.
    pub fn index(&self, sources: &[SourceSpec], progress: &dyn Progress) -> Result<IngestReport> {
        let _ = (sources, progress);
        Err(not_yet())
    }

    /// Replaces the documents of the in-memory source `label` by these.
    pub fn index_documents(
        &self,
        label: &str,
        documents: &[DocumentInput],
        progress: &dyn Progress,
    ) -> Result<IngestReport> {
        let _ = (label, documents, progress);
        Err(not_yet())
    }

    /// The sources indexed before: what `index` without sources brings up to date.
    pub fn sources(&self) -> Result<Vec<SourceSpec>> {
        Err(not_yet())
    }

    /// Number of files that changed since they were indexed, by size and mtime.
    pub fn stale(&self) -> Result<usize> {
        Err(not_yet())
    }

    /// Ranked evidence for a question.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let _ = request;
        Err(not_yet())
    }

    /// The entities a name, alias or public id stands for, best first; empty when none.
    pub fn entity(&self, name: &str) -> Result<Vec<EntityView>> {
        let _ = name;
        Err(not_yet())
    }

    /// The k-hop neighbourhood. [`Error::NotFound`] when a seed is unknown.
    pub fn neighbors(&self, request: &NeighborRequest) -> Result<Neighborhood> {
        let _ = request;
        Err(not_yet())
    }

    /// Up to `limit` shortest paths of at most `max_hops` relations between two entities.
    pub fn paths(
        &self,
        from: &str,
        to: &str,
        max_hops: u32,
        limit: usize,
    ) -> Result<Vec<PathView>> {
        let _ = (from, to, max_hops, limit);
        Err(not_yet())
    }

    /// The entities of highest degree.
    pub fn hubs(&self, limit: usize) -> Result<Vec<EntityView>> {
        let _ = limit;
        Err(not_yet())
    }

    /// Notes without any relation.
    pub fn orphans(&self) -> Result<Vec<EntityView>> {
        Err(not_yet())
    }

    /// Links that point to no note, or to several.
    pub fn open_links(&self) -> Result<Vec<OpenLink>> {
        Err(not_yet())
    }

    /// Counts of what is current.
    pub fn stats(&self) -> Result<Stats> {
        Err(not_yet())
    }

    /// One line that depends only on the current content.
    pub fn digest(&self) -> Result<String> {
        Err(not_yet())
    }
}

fn not_yet() -> Error {
    Error::Usage("not built yet".to_owned())
}
