//! The front door: one store, its indexing runs and its questions.

mod answer;
mod ask;
mod cache;
mod chat_import;
mod checker;
mod claims;
mod communities;
mod context;
mod conventions;
mod conversation;
mod cypher;
mod describe;
mod documents;
mod drift;
mod embedding;
mod evidence;
mod explore;
mod extract;
mod filter;
mod forget;
mod global;
mod import;
mod lazy_model;
mod ledger;
mod memory;
mod query_log;
mod ranking;
mod recall;
mod replies;
mod reports;
mod review;
mod run_log;
mod selection;
mod structured;
mod times;
mod transfer;
mod until;
mod written_reports;

pub use answer::AnswerRun;
pub use cypher::QueryWriter;
pub use extract::ExtractionRun;
pub use lazy_model::{EmbedderSource, ModelSource, RerankerSource};
pub use ranking::Candidate;
pub use times::{parse_moment, parse_times};

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::lazy_model::LazyModel;
use crate::extraction::Schema;
use crate::graph::{Graph, Moment};
use crate::language_model::{Embedder, Reranker};
use crate::pipeline::{self, GraphChange, Indexed, Job};
use crate::ranker::Rankers;
use crate::retrieval::{self, RankedGraph, Reader};
use crate::storage::{self, Condition, SqlLimits, Store, StoreOptions, Verification};
use crate::types::{
    Cancel, Clock, DocumentInput, EngineConfig, EntityView, IngestReport, Issue, Namespace,
    NeighborRequest, Neighborhood, OpenLink, PathView, Progress, SearchRequest, SearchResponse,
    SourceSpec, SqlRows, Stage, Stats, SystemClock, Times,
};
use crate::{Error, Result};

/// A store with its caches: index it, ask it.
///
/// Sharable between threads; each call takes the one connection, so processes and threads that want to
/// read at the same time open an engine each. [`Engine::at`] gives the same store as it was at another moment.
pub struct Engine {
    config: EngineConfig,
    namespace: Namespace,
    clock: Arc<dyn Clock>,
    store: Arc<Mutex<Store>>,
    graph: Arc<Mutex<Option<Arc<RankedGraph>>>>,
    /// Names for queries, of the generation that they were last asked for.
    names: Arc<Mutex<Option<Arc<cypher::GraphNames>>>>,
    /// What queries may call types and properties, besides what the store says.
    schema: Option<Arc<Schema>>,
    /// What turns questions into queries; templates where there is none.
    query_writer: Option<Arc<QueryWriter>>,
    times: Times,
    /// Ends the questions of this engine.
    cancel: Cancel,
    embedder: Option<Arc<LazyModel<dyn Embedder>>>,
    reranker: Option<Arc<LazyModel<dyn Reranker>>>,
    vectors: Arc<Mutex<Option<embedding::LoadedVectors>>>,
    rankers: Option<Arc<Rankers>>,
}

impl Engine {
    /// Opens the store at `path`, creating it if it is not there.
    pub fn create(path: &Path, config: EngineConfig) -> Result<Self> {
        let store = Store::create_or_open_with(path, store_options(&config))?;
        Self::with_store(store, config)
    }

    /// Opens the existing store at `path`.
    pub fn open(path: &Path, config: EngineConfig) -> Result<Self> {
        let store = Store::open_with(path, store_options(&config))?;
        Self::with_store(store, config)
    }

    /// Opens the existing store at `path` without ever writing to it.
    pub fn open_read_only(path: &Path, config: EngineConfig) -> Result<Self> {
        Self::with_store(Store::open_read_only(path)?, config)
    }

    /// A store that lives in memory, for tests and evaluation.
    pub fn in_memory(config: EngineConfig) -> Result<Self> {
        Self::with_store(Store::in_memory()?, config)
    }

    fn with_store(store: Store, config: EngineConfig) -> Result<Self> {
        let rankers = config
            .use_ranker
            .then(|| Arc::new(Rankers::built_in().clone()));
        Ok(Self {
            namespace: Namespace::new(&config.namespace)?,
            config,
            clock: Arc::new(SystemClock),
            store: Arc::new(Mutex::new(store)),
            graph: Arc::new(Mutex::new(None)),
            names: Arc::new(Mutex::new(None)),
            schema: None,
            query_writer: None,
            times: Times::default(),
            cancel: Cancel::default(),
            embedder: None,
            reranker: None,
            vectors: Arc::new(Mutex::new(None)),
            rankers,
        })
    }

    /// The same engine with another source of "now".
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The settings it was opened with.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Brings the store up to date with these sources; only what changed is read.
    /// With no sources given, every source indexed before is brought up to date.
    ///
    /// # Errors
    /// A source that is not there, a busy store ([`Error::Busy`]), an interrupted run ([`Error::Interrupted`]).
    /// Files that cannot be read are in the report, not errors.
    pub fn index(&self, sources: &[SourceSpec], progress: &dyn Progress) -> Result<IngestReport> {
        self.run_and_follow(progress, |job| pipeline::index_sources(job, sources))
    }

    /// Makes the in-memory source `label` hold exactly these documents.
    ///
    /// # Errors
    /// [`Error::Usage`] when two documents share a uri; otherwise as [`Engine::index`].
    pub fn index_documents(
        &self,
        label: &str,
        documents: &[DocumentInput],
        progress: &dyn Progress,
    ) -> Result<IngestReport> {
        self.run_and_follow(progress, |job| {
            pipeline::index_documents(job, label, documents)
        })
    }

    /// A run, after which the facts that a model found follow the documents that changed.
    fn run_and_follow(
        &self,
        progress: &dyn Progress,
        pipeline: impl FnOnce(&Job<'_>) -> Result<Indexed>,
    ) -> Result<IngestReport> {
        let before = self.store().generation()?;
        let report = self.run(progress, pipeline)?;
        // A run that was killed may have left that to do.
        if self.store().generation()? != before || self.is_unfollowed()? {
            self.follow_documents(progress)?;
        }
        Ok(report)
    }

    fn is_unfollowed(&self) -> Result<bool> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(id) => storage::is_unfollowed(store.connection(), id.0),
            None => Ok(false),
        }
    }

    fn run(
        &self,
        progress: &dyn Progress,
        pipeline: impl FnOnce(&Job<'_>) -> Result<Indexed>,
    ) -> Result<IngestReport> {
        let store = self.store();
        let job = Job {
            store: &store,
            config: &self.config,
            namespace: &self.namespace,
            clock: &*self.clock,
            progress,
        };
        let span = tracing::info_span!(
            "index",
            seen = tracing::field::Empty,
            added = tracing::field::Empty,
            changed = tracing::field::Empty,
            removed = tracing::field::Empty,
            failed = tracing::field::Empty,
        );
        let _entered = span.enter();
        let Indexed { report, graph } = pipeline(&job)?;
        span.record("seen", report.seen);
        span.record("added", report.added);
        span.record("changed", report.changed);
        span.record("removed", report.removed);
        span.record("failed", report.failed.len());
        progress.stage(Stage::Snapshot, 0);
        tracing::info_span!("snapshot").in_scope(|| self.follow_graph(&store, graph))?;
        Ok(report)
    }

    /// Brings the snapshot in line with what a run changed.
    fn follow_graph(&self, store: &Store, graph: GraphChange) -> Result<()> {
        let is_followed = match (graph, store.namespace(&self.namespace)?) {
            (GraphChange::Delta(delta), Some(namespace)) => {
                cache::append(store, namespace.0, &delta)
            }
            (GraphChange::Nothing, _) => true,
            _ => false,
        };
        if !is_followed {
            self.ranked_graph(store)?;
        }
        Ok(())
    }

    /// The folders and files indexed so far, by label.
    pub fn sources(&self) -> Result<Vec<SourceSpec>> {
        let store = self.store();
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(Vec::new());
        };
        pipeline::known_sources(store.connection(), namespace.0)
    }

    /// What was left out or odd, as the last run of each source saw it.
    pub fn issues(&self) -> Result<Vec<Issue>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::issues(store.connection(), namespace.0),
            None => Ok(Vec::new()),
        }
    }

    /// Number of files that are new, gone, or changed by size or time since they were indexed.
    pub fn stale(&self) -> Result<usize> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => pipeline::count_stale(store.connection(), namespace.0),
            None => Ok(0),
        }
    }

    /// Ranked evidence for a question. A store without content gives no results, never an error.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        if request.limit == 0 {
            return Err(Error::Usage("the limit must be at least 1".to_owned()));
        }
        self.read(|reader| retrieval::search(reader, request))
    }

    /// What searches read, at this engine's moment.
    fn read<T>(&self, question: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let store = self.asked()?;
        let graph = self.ranked_graph(&store)?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let connection = store.connection();
        let at = self.moment();
        let hidden = if self.times.is_present() {
            storage::Hidden::default()
        } else {
            storage::hidden_chunks(connection, namespace, at.valid, at.known)?
        };
        let vectors = |query: &str| self.vectors_for(&store, query);
        let reranker = self.reranker.as_deref();
        let reranker = reranker.map(|model| move || model.get());
        let reader = Reader {
            connection,
            namespace,
            graph: &graph,
            languages: storage::known_languages(connection, namespace)?,
            at,
            hidden,
            vectors: &vectors,
            reranker: reranker.as_ref().map(|source| source as _),
            gate: &self.config.gate,
            rankers: self.rankers.as_deref(),
            synonym_space: self.synonym_space(&store)?,
            cancel: &self.cancel,
        };
        let answer = question(&reader)?;
        // A lane that was stopped only fails: the search goes on without it.
        self.cancel.go_on()?;
        Ok(answer)
    }

    /// The entities a name, alias or public id stands for, best first; empty when none.
    pub fn entity(&self, name: &str) -> Result<Vec<EntityView>> {
        self.explore(|explorer| explorer.entity(name))
    }

    /// The k-hop neighbourhood.
    ///
    /// # Errors
    /// [`Error::NotFound`] when a seed is unknown.
    pub fn neighbors(&self, request: &NeighborRequest) -> Result<Neighborhood> {
        self.explore(|explorer| explorer.neighbors(request))
    }

    /// Up to `limit` shortest paths of at most `max_hops` relations between two entities.
    ///
    /// # Errors
    /// [`Error::NotFound`] when one of them is unknown.
    pub fn paths(
        &self,
        from: &str,
        to: &str,
        max_hops: u32,
        limit: usize,
    ) -> Result<Vec<PathView>> {
        let stop = || self.cancel.is_cancelled();
        let found = self.explore(|explorer| explorer.paths(from, to, max_hops, limit, &stop))?;
        self.cancel.go_on()?;
        Ok(found)
    }

    /// The entities of highest degree.
    pub fn hubs(&self, limit: usize) -> Result<Vec<EntityView>> {
        self.explore(|explorer| explorer.hubs(limit))
    }

    /// What has a relation, and whatever else was given directly, those of highest degree first: `limit` of them after
    /// the first `from`.
    pub fn entities(&self, from: usize, limit: usize) -> Result<Vec<EntityView>> {
        self.explore(|explorer| explorer.entities(from, limit))
    }

    /// Notes without any relation.
    pub fn orphans(&self) -> Result<Vec<EntityView>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method itself is not general enough over lifetimes"
        )]
        self.explore(|explorer| explorer.orphans())
    }

    /// Links that point to no note, or to several.
    pub fn open_links(&self) -> Result<Vec<OpenLink>> {
        let store = self.asked()?;
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::open_links(store.connection(), namespace.0),
            None => Ok(Vec::new()),
        }
    }

    /// Counts of what is current.
    pub fn stats(&self) -> Result<Stats> {
        let store = self.asked()?;
        let mut stats = match store.namespace(&self.namespace)? {
            Some(namespace) => storage::stats(store.connection(), namespace.0)?,
            None => Stats::default(),
        };
        stats.generation = store.generation()?;
        stats.store_bytes = store
            .path()
            .and_then(|path| path.metadata().ok())
            .map_or(0, |file| file.len());
        Ok(stats)
    }

    /// One line that depends only on the current content.
    pub fn digest(&self) -> Result<String> {
        self.store().digest(&self.namespace)
    }

    /// Checks the store's file and the rules that its rows keep.
    pub fn verify(&self) -> Result<Verification> {
        self.store().verify()
    }

    /// How the store is doing.
    pub fn condition(&self) -> Result<Condition> {
        self.store().condition()
    }

    /// Writes a compact copy of the store. Returns its size in bytes.
    ///
    /// # Errors
    /// A file that is there already.
    pub fn backup(&self, target: &Path) -> Result<u64> {
        self.store().backup(target)
    }

    /// Runs one reading statement of the user's own. The engine must have been opened read-only.
    ///
    /// # Errors
    /// [`Error::Usage`] for statements that would write or that take too long.
    pub fn sql(&self, query: &str) -> Result<SqlRows> {
        let mut rows = SqlRows::default();
        let cancel = self.cancel.clone();
        let outcome = self.store().sql(
            query,
            SqlLimits::default(),
            move || cancel.is_cancelled(),
            |_, row| {
                rows.rows.push(row);
                Ok(())
            },
        )?;
        rows.columns = outcome.columns;
        rows.cut = outcome.truncated;
        Ok(rows)
    }

    fn explore<T>(&self, question: impl FnOnce(&explore::Explorer<'_>) -> Result<T>) -> Result<T> {
        let store = self.asked()?;
        let ranked = self.ranked_graph(&store)?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let explorer = explore::Explorer {
            connection: store.connection(),
            namespace,
            ranked: &ranked,
            graph: &ranked.graph,
            languages: storage::known_languages(store.connection(), namespace)?,
            at: self.moment(),
            is_present: self.times.is_present(),
        };
        question(&explorer)
    }

    /// The graph of the store's present generation: the one in memory, the snapshot, or built anew.
    fn ranked_graph(&self, store: &Store) -> Result<Arc<RankedGraph>> {
        let generation = store.generation()?;
        let mut slot = lock(&self.graph);
        if let Some(graph) = slot.as_ref()
            && graph.graph.generation == generation
        {
            return Ok(Arc::clone(graph));
        }
        let graph = match store.namespace(&self.namespace)? {
            Some(namespace) => cache::load_or_build(store, namespace.0, generation)?,
            None => Graph::empty(generation),
        };
        let ranked = Arc::new(RankedGraph::new(graph));
        *slot = Some(Arc::clone(&ranked));
        Ok(ranked)
    }

    /// The moment that questions look at.
    fn moment(&self) -> Moment {
        Moment::of(self.times, self.clock.now())
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }
}

/// A panic in another thread left at worst an open transaction, which was rolled back when it unwound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const fn store_options(config: &EngineConfig) -> StoreOptions {
    StoreOptions {
        allow_network_file_system: config.allow_network_file_system,
    }
}
