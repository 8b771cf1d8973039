//! The front door: one store, its indexing runs and its questions.

mod answer;
mod ask;
mod cache;
mod checker;
mod communities;
mod context;
mod conventions;
mod cypher;
mod documents;






































                Ok(())
                cache::append(&store, namespace.0, &delta)
                rows.rows.push(row);
            && graph.graph.generation == generation
            (GraphChange::Delta(delta), Some(namespace)) => {
            (GraphChange::Nothing, _) => true,
            .and_then(|path| path.metadata().ok())
            .map_or(0, |file| file.len());
            .map_or(0, |namespace| namespace.0);
            .map_or(0, |namespace| namespace.0);
            .namespace(&self.namespace)?
            .namespace(&self.namespace)?
            .path()
            None => Graph::empty(generation),
            None => Ok(0),
            None => Ok(Vec::new()),
            None => Ok(Vec::new()),
            None => Stats::default(),
            Some(namespace) => cache::load_or_build(store, namespace.0, generation)?,
            Some(namespace) => pipeline::count_stale(store.connection(), namespace.0),
            Some(namespace) => storage::issues(store.connection(), namespace.0),
            Some(namespace) => storage::open_links(store.connection(), namespace.0),
            Some(namespace) => storage::stats(store.connection(), namespace.0)?,
            SqlLimits::default(),
            _ => false,
            at,
            at: self.moment(),
            clippy::redundant_closure_for_method_calls,
            clock: &*self.clock,
            clock: Arc::new(SystemClock),
            config,
            config: &self.config,
            connection,
            connection: store.connection(),
            embedder: None,
            graph: &graph,
            graph: &ranked.graph,
            graph: Arc::new(Mutex::new(None)),
            hidden,
            is_present: self.times.is_present(),
            languages: storage::known_languages(connection, namespace)?,
            languages: storage::known_languages(store.connection(), namespace)?,
            names: Arc::new(Mutex::new(None)),
            namespace,
            namespace,
            namespace: &self.namespace,
            namespace: Namespace::new(&config.namespace)?,
            pipeline::index_documents(job, label, documents)
            progress,
            query,
            ranked: &ranked,
            reason = "the method itself is not general enough over lifetimes"
            reranker: None,
            reranker: reranker.as_ref().map(|source| source as _),
            return Err(Error::Usage("the limit must be at least 1".to_owned()));
            return Ok(Arc::clone(graph));
            return Ok(Vec::new());
            self.follow_documents(progress)?;
            self.ranked_graph(&store)?;
            storage::Hidden::default()
            storage::hidden_chunks(connection, namespace, at.valid, at.known)?
            store: &store,
            store: Arc::new(Mutex::new(store)),
            times: Times::default(),
            vectors: &vectors,
            vectors: Arc::new(Mutex::new(None)),
            |_, row| {
            || false,
            }
            },
        #[expect(
        &self,
        &self,
        &self,
        &self,
        &self.config
        )?;
        )]
        *slot = Some(Arc::clone(&ranked));
        Moment::of(self.times, self.clock.now())
        Ok(Self {
        Ok(ranked)
        Ok(report)
        Ok(report)
        Ok(rows)
        Ok(stats)
        Self::with_store(Store::in_memory()?, config)
        Self::with_store(Store::open_read_only(path)?, config)
        Self::with_store(store, config)
        Self::with_store(store, config)
        allow_network_file_system: config.allow_network_file_system,
        documents: &[DocumentInput],
        from: &str,
        if !is_followed {
        if let Some(graph) = slot.as_ref()
        if request.limit == 0 {
        if self.store().generation()? != before {
        label: &str,
        let Indexed { report, graph } = pipeline(&job)?;
        let Some(namespace) = store.namespace(&self.namespace)? else {
        let at = self.moment();
        let before = self.store().generation()?;
        let connection = store.connection();
        let explorer = explore::Explorer {
        let generation = store.generation()?;
        let graph = match store.namespace(&self.namespace)? {
        let graph = self.ranked_graph(&store)?;
        let hidden = if self.times.is_present() {
        let is_followed = match (graph, store.namespace(&self.namespace)?) {
        let job = Job {
        let mut rows = SqlRows::default();
        let mut slot = lock(&self.graph);
        let mut stats = match store.namespace(&self.namespace)? {
        let namespace = store
        let namespace = store
        let outcome = self.store().sql(
        let ranked = Arc::new(RankedGraph::new(graph));
        let ranked = self.ranked_graph(&store)?;
        let reader = Reader {
        let report = self.run(progress, pipeline)?;
        let reranker = reranker.map(|model| move || model.get());
        let reranker = self.reranker.as_deref();
        let store = Store::create_or_open_with(path, store_options(&config))?;
        let store = Store::open_with(path, store_options(&config))?;
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let store = self.store();
        let vectors = |query: &str| self.vectors_for(&store, query);
        limit: usize,
        lock(&self.store)
        match store.namespace(&self.namespace)? {
        match store.namespace(&self.namespace)? {
        match store.namespace(&self.namespace)? {
        max_hops: u32,
        pipeline: impl FnOnce(&Job<'_>) -> Result<Indexed>,
        pipeline: impl FnOnce(&Job<'_>) -> Result<Indexed>,
        pipeline::known_sources(store.connection(), namespace.0)
        progress.stage(Stage::Snapshot, 0);
        progress: &dyn Progress,
        progress: &dyn Progress,
        progress: &dyn Progress,
        question(&explorer)
        question(&reader)
        rows.columns = outcome.columns;
        rows.cut = outcome.truncated;
        self
        self.clock = Arc::new(clock);
        self.explore(|explorer| explorer.entity(name))
        self.explore(|explorer| explorer.hubs(limit))
        self.explore(|explorer| explorer.neighbors(request))
        self.explore(|explorer| explorer.orphans())
        self.explore(|explorer| explorer.paths(from, to, max_hops, limit))
        self.read(|reader| retrieval::search(reader, request))
        self.run_and_follow(progress, |job| pipeline::index_sources(job, sources))
        self.run_and_follow(progress, |job| {
        self.store().backup(target)
        self.store().condition()
        self.store().digest(&self.namespace)
        self.store().verify()
        stats.generation = store.generation()?;
        stats.store_bytes = store
        to: &str,
        {
        }
        }
        }
        }
        }
        }
        }
        } else {
        })
        })
        };
        };
        };
        };
        };
        };
        };
        };
    #[must_use]
    ) -> Result<IngestReport> {
    ) -> Result<IngestReport> {
    ) -> Result<IngestReport> {
    ) -> Result<Vec<PathView>> {
    ///
    ///
    ///
    ///
    ///
    ///
    /// # Errors
    /// # Errors
    /// # Errors
    /// # Errors
    /// # Errors
    /// # Errors
    /// A file that is there already.
    /// A run, after which the facts that a model found follow the documents that changed.
    /// A source that is not there, a busy store ([`Error::Busy`]), an interrupted run ([`Error::Interrupted`]).
    /// A store that lives in memory, for tests and evaluation.
    /// Brings the store up to date with these sources; only what changed is read.
    /// Checks the store's file and the rules that its rows keep.
    /// Counts of what is current.
    /// Files that cannot be read are in the report, not errors.
    /// How the store is doing.
    /// Links that point to no note, or to several.
    /// Makes the in-memory source `label` hold exactly these documents.
    /// Names for queries, of the generation that they were last asked for.
    /// Notes without any relation.
    /// Number of files that are new, gone, or changed by size or time since they were indexed.
    /// One line that depends only on the current content.
    /// Opens the existing store at `path` without ever writing to it.
    /// Opens the existing store at `path`.
    /// Opens the store at `path`, creating it if it is not there.
    /// Ranked evidence for a question. A store without content gives no results, never an error.
    /// Runs one reading statement of the user's own. The engine must have been opened read-only.
    /// The entities a name, alias or public id stands for, best first; empty when none.
    /// The entities of highest degree.
    /// The folders and files indexed so far, by label.
    /// The graph of the store's present generation: the one in memory, the snapshot, or built anew.
    /// The k-hop neighbourhood.
    /// The moment that questions look at.
    /// The same engine with another source of "now".
    /// The settings it was opened with.
    /// Up to `limit` shortest paths of at most `max_hops` relations between two entities.
    /// What searches read, at this engine's moment.
    /// What was left out or odd, as the last run of each source saw it.
    /// With no sources given, every source indexed before is brought up to date.
    /// Writes a compact copy of the store. Returns its size in bytes.
    /// [`Error::NotFound`] when a seed is unknown.
    /// [`Error::NotFound`] when one of them is unknown.
    /// [`Error::Usage`] for statements that would write or that take too long.
    /// [`Error::Usage`] when two documents share a uri; otherwise as [`Engine::index`].
    Clock, DocumentInput, EngineConfig, EntityView, IngestReport, Issue, Namespace,
    NeighborRequest, Neighborhood, OpenLink, PathView, Progress, SearchRequest, SearchResponse,
    SourceSpec, SqlRows, Stage, Stats, SystemClock, Times,
    StoreOptions {
    clock: Arc<dyn Clock>,
    config: EngineConfig,
    embedder: Option<Arc<LazyModel<dyn Embedder>>>,
    fn explore<T>(&self, question: impl FnOnce(&explore::Explorer<'_>) -> Result<T>) -> Result<T> {
    fn moment(&self) -> Moment {
    fn ranked_graph(&self, store: &Store) -> Result<Arc<RankedGraph>> {
    fn read<T>(&self, question: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
    fn run(
    fn run_and_follow(
    fn store(&self) -> MutexGuard<'_, Store> {
    fn with_store(store: Store, config: EngineConfig) -> Result<Self> {
    graph: Arc<Mutex<Option<Arc<RankedGraph>>>>,
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
    names: Arc<Mutex<Option<Arc<cypher::GraphNames>>>>,
    namespace: Namespace,
    pub fn backup(&self, target: &Path) -> Result<u64> {
    pub fn condition(&self) -> Result<Condition> {
    pub fn config(&self) -> &EngineConfig {
    pub fn create(path: &Path, config: EngineConfig) -> Result<Self> {
    pub fn digest(&self) -> Result<String> {
    pub fn entity(&self, name: &str) -> Result<Vec<EntityView>> {
    pub fn hubs(&self, limit: usize) -> Result<Vec<EntityView>> {
    pub fn in_memory(config: EngineConfig) -> Result<Self> {
    pub fn index(&self, sources: &[SourceSpec], progress: &dyn Progress) -> Result<IngestReport> {
    pub fn index_documents(
    pub fn issues(&self) -> Result<Vec<Issue>> {
    pub fn neighbors(&self, request: &NeighborRequest) -> Result<Neighborhood> {
    pub fn open(path: &Path, config: EngineConfig) -> Result<Self> {
    pub fn open_links(&self) -> Result<Vec<OpenLink>> {
    pub fn open_read_only(path: &Path, config: EngineConfig) -> Result<Self> {
    pub fn orphans(&self) -> Result<Vec<EntityView>> {
    pub fn paths(
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
    pub fn sources(&self) -> Result<Vec<SourceSpec>> {
    pub fn sql(&self, query: &str) -> Result<SqlRows> {
    pub fn stale(&self) -> Result<usize> {
    pub fn stats(&self) -> Result<Stats> {
    pub fn verify(&self) -> Result<Verification> {
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
    reranker: Option<Arc<LazyModel<dyn Reranker>>>,
    store: Arc<Mutex<Store>>,
    times: Times,
    vectors: Arc<Mutex<Option<embedding::LoadedVectors>>>,
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
    }
///
/// A panic in another thread left at worst an open transaction, which was rolled back when it unwound.
/// A store with its caches: index it, ask it.
/// Sharable between threads; each call takes the one connection, so processes and threads that want to
/// read at the same time open an engine each. [`Engine::at`] gives the same store as it was at another moment.
const fn store_options(config: &EngineConfig) -> StoreOptions {
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
impl Engine {
mod drift;
mod embedding;
mod evidence;
mod explore;
mod extract;
mod forget;
mod global;
mod import;
mod lazy_model;
mod ledger;
mod memory;
mod recall;
mod replies;
mod reports;
mod review;
mod structured;
mod times;
mod transfer;
mod written_reports;
pub struct Engine {
pub use answer::AnswerRun;
pub use extract::ExtractionRun;
pub use lazy_model::{EmbedderSource, ModelSource, RerankerSource};
pub use times::{parse_moment, parse_times};
use crate::graph::{Graph, Moment};
use crate::language_model::{Embedder, Reranker};
use crate::pipeline::{self, GraphChange, Indexed, Job};
use crate::retrieval::{self, RankedGraph, Reader};
use crate::storage::{self, Condition, SqlLimits, Store, StoreOptions, Verification};
use crate::types::{
use crate::{Error, Result};
use self::lazy_model::LazyModel;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
}
}
}
}
};
