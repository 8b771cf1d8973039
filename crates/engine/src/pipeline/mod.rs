//! The indexing stages as a list: scan, read, save, resolve, name, match, relate, snapshot.
//!
//! One list for the first run and for every update. A small update is one transaction. A large one
//! saves its files in batches under a flag, and then derives everything anew in one last transaction
//! that takes the flag away; a run that finds the flag finishes that work first.

mod aliases;
mod changes;
mod chunk_settings;
mod embedding;
pub(crate) mod extract;
mod links;
mod moved_files;
mod names;
mod place;
mod prepare;
mod run_plan;
mod save;
mod scan;
mod synonyms;
mod title;

use std::sync::mpsc::sync_channel;

use rayon::prelude::*;
use rusqlite::Connection;

pub(crate) use self::changes::Changes;
pub(crate) use self::embedding::{embed, mixed_spaces};
use self::moved_files::MovedFiles;
use self::prepare::{Candidate, Content, Outcome, Prepared, prepare};
use self::run_plan::Plan;
pub(crate) use self::scan::{count_stale, known_sources};
use crate::chunking::ChunkOptions;
use crate::graph::GraphDelta;
use crate::loading;
use crate::storage::{self, Store, WriteLease};
use crate::types::{
    Clock, DocumentId, DocumentInput, EngineConfig, IngestReport, LinkConvention, Namespace,
    Progress, SourceSpec, Stage, Timestamp, ValidDate,
};
use crate::{Error, Result};

/// Changes what a run makes of the same files: part of the settings that force a full run.
const PIPELINE_VERSION: u32 = 1;
/// Files and bytes that are read at a time.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: u64 = 4 << 20;
/// Bytes of files that a large run makes durable at a time. Full text costs half as much when it is written in
/// large pieces, and a run that is stopped loses no more than a few seconds.
const COMMIT_BYTES: u64 = 32 << 20;
/// A run that touches more files than this, and more than [`LARGE_SHARE`] of them, is a large one.
const LARGE_FILES: usize = 64;
const LARGE_SHARE: f64 = 0.05;
/// So does a run of more bytes than this, and more than are known already.
const LARGE_BYTES: u64 = 1 << 20;

/// What a run works with.
pub(crate) struct Job<'a> {
    pub store: &'a Store,
    pub config: &'a EngineConfig,
    pub namespace: &'a Namespace,
    pub clock: &'a dyn Clock,
    pub progress: &'a dyn Progress,
}

/// What the stages of one transaction see.
pub(crate) struct Scope<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
    pub namespace_name: &'a str,
    pub now: Timestamp,
    /// Label and convention of each source, longest label first.
    pub conventions: &'a [(String, LinkConvention)],
}

impl Scope<'_> {
    /// Link syntax of the source that a document belongs to.
    fn convention_of(&self, uri: &str) -> LinkConvention {
        self.conventions
            .iter()
            .find(|(label, _)| {
                label.is_empty()
                    || uri
                        .strip_prefix(label)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .map_or(LinkConvention::default(), |(_, convention)| *convention)
    }
}

/// Brings the store up to date with folders and files; with none given, with every known source.
pub(crate) fn index_sources(job: &Job<'_>, specs: &[SourceSpec]) -> Result<Indexed> {
    let lease = take_lease(job)?;
    job.progress.stage(Stage::Walk, 0);
    let plan = scan::scan_sources(job, &lease, specs)?;
    run(job, &lease, &plan, &mut |_, _| Ok(()))
}

/// Makes the source `label` hold exactly these documents.
pub(crate) fn index_documents(
    job: &Job<'_>,
    label: &str,
    documents: &[DocumentInput],
) -> Result<Indexed> {
    let lease = take_lease(job)?;
    let plan = scan::scan_documents(job, &lease, label, documents)?;
    run(job, &lease, &plan, &mut |_, _| Ok(()))
}

/// Episodes that come to a source of episodes or go from it.
#[derive(Debug, Default)]
pub(crate) struct Amendment<'a> {
    pub label: &'a str,
    pub added: Vec<Addition>,
    /// Paths.
    pub removed: Vec<String>,
}

/// An episode.
#[derive(Debug)]
pub(crate) struct Addition {
    pub path: String,
    pub text: String,
    pub date: Option<ValidDate>,
}

/// What else a run does, in the transaction in which it derives names and relations, before it does.
pub(crate) type Also<'a> = &'a mut dyn FnMut(&Scope<'_>, &mut Changes) -> Result<()>;

/// Brings an amendment in, and whatever comes with it, in one transaction.
pub(crate) fn amend(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    amendment: &Amendment<'_>,
    also: Also<'_>,
) -> Result<Indexed> {
    let plan = scan::scan_amendment(job, lease, amendment)?;
    run(job, lease, &plan, also)
}

/// Closes these documents, those that are not current left out, as if their files were gone.
pub(crate) fn retire_documents(
    scope: &Scope<'_>,
    changes: &mut Changes,
    documents: &[DocumentId],
) -> Result<()> {
    for &id in documents {
        if let Some(row) = storage::current_document(scope.connection, id)? {
            save::retire_document(scope, changes, &row)?;
        }
    }
    Ok(())
}

/// Content hash of an episode, as its file row has it.
pub(crate) fn episode_hash(text: &str) -> Vec<u8> {
    prepare::hash_parts(&[b"", text.as_bytes()])
}

/// What the log of runs calls this.
const RUN: &str = "index";

fn take_lease<'a>(job: &Job<'a>) -> Result<WriteLease<'a>> {
    job.store.write_lease("malha index", job.config.lease_wait)
}

/// What a run did, and what a snapshot of the graph has to follow.
pub(crate) struct Indexed {
    pub report: IngestReport,
    pub graph: GraphChange,
}

/// How the graph differs from what it was before a run.
pub(crate) enum GraphChange {
    Nothing,
    Delta(Box<GraphDelta>),
    Everything,
}

fn run(job: &Job<'_>, lease: &WriteLease<'_>, plan: &Plan, also: Also<'_>) -> Result<Indexed> {
    let started = job.clock.now();
    let (size, overlap, unit) = plan.chunks;
    let chunking = ChunkOptions::new(size, overlap, unit)?;
    let touched = plan.candidates.len() + plan.removed.len();
    let bulk = plan.pending
        || (touched > LARGE_FILES && touched as f64 > LARGE_SHARE * plan.known_files as f64)
        || is_much_text(job.store.connection(), plan)?;
    let mut changes = Changes {
        bulk,
        recount: bulk && storage::count_chunks(job.store.connection(), plan.namespace)? > 0,
        report: plan.report.clone(),
        ..Changes::default()
    };
    changes.link_keys.extend(plan.link_keys.iter().cloned());
    let is_idle = touched == 0 && plan.is_settled && !plan.pending;
    let before = job.store.generation()?;
    let mut noted = None;
    if !is_idle {
        // Before the work, so that a run that is killed shows.
        let transaction = lease.transaction()?;
        let connection = transaction.connection();
        noted = Some(storage::begin_run(
            connection,
            plan.namespace,
            started,
            RUN,
        )?);
        transaction.commit_bookkeeping()?;
        job.progress.stage(Stage::Read, plan.candidates.len());
        if bulk {
            run_large(job, lease, plan, &chunking, &mut changes, also)?;
        } else {
            run_small(job, lease, plan, &chunking, &mut changes, also)?;
        }
    }
    let graph = graph_change(job.store, &changes, before)?;
    let mut report = changes.report;
    report.elapsed_ms = (job.clock.now().0 - started.0).max(0) as u64;
    let transaction = lease.transaction()?;
    let connection = transaction.connection();
    let noted = match noted {
        Some(id) => id,
        None => storage::begin_run(connection, plan.namespace, started, RUN)?,
    };
    storage::end_run(connection, noted, job.clock.now(), &report)?;
    transaction.commit_bookkeeping()?;
    Ok(Indexed { report, graph })
}

/// Whether more is new than is known: then all names are found anew faster than name by name.
fn is_much_text(connection: &Connection, plan: &Plan) -> Result<bool> {
    let bytes: u64 = plan.candidates.iter().map(|file| file.size).sum();
    Ok(bytes > plan.small_bytes && bytes > storage::known_bytes(connection, plan.namespace)?)
}

/// How the graph differs from what it was at generation `before`.
fn graph_change(store: &Store, changes: &Changes, before: u64) -> Result<GraphChange> {
    let after = store.generation()?;
    Ok(if before == after {
        GraphChange::Nothing
    } else if changes.bulk {
        GraphChange::Everything
    } else {
        let delta = graph_delta(store.connection(), changes, before, after)?;
        GraphChange::Delta(Box::new(delta))
    })
}

fn graph_delta(
    connection: &Connection,
    changes: &Changes,
    from: u64,
    to: u64,
) -> Result<GraphDelta> {
    let mut chunks = changes.chunks.clone();
    chunks.extend(&changes.retired_chunks);
    for &document in &changes.documents {
        let rows = storage::chunks_of_document(connection, document)?;
        chunks.extend(rows.iter().map(|row| row.id));
    }
    let mut delta = GraphDelta {
        from,
        to,
        ..GraphDelta::default()
    };
    let documents = changes.documents.union(&changes.moved_documents).copied();
    loading::fill_delta(
        connection,
        &mut delta,
        changes.touched_entities.iter().copied(),
        documents,
        chunks.into_iter(),
        changes.touched_relations.iter().copied(),
    )?;
    Ok(delta)
}

/// Reads and prepares on every core, in the order given.
fn prepare_all(plan: &Plan, candidates: &[Candidate], chunking: &ChunkOptions) -> Vec<Prepared> {
    candidates
        .par_iter()
        .map(|candidate| prepare(candidate, chunking, plan.reading_of(candidate.source)))
        .collect()
}

/// Reads first, then saves and derives in one transaction.
fn run_small(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    plan: &Plan,
    chunking: &ChunkOptions,
    changes: &mut Changes,
    also: Also<'_>,
) -> Result<()> {
    let prepared = tracing::info_span!("read", files = plan.candidates.len())
        .in_scope(|| prepare_all(plan, &plan.candidates, chunking));
    if job.progress.interrupted() {
        return Err(Error::Interrupted);
    }
    let transaction = lease.transaction()?;
    let scope = plan.scope(transaction.connection());
    let mut removed = MovedFiles::new(&plan.removed);
    plan.save_settings(&scope)?;
    let mut content_changed = !plan.removed.is_empty() || !plan.is_settled;
    for file in prepared {
        content_changed |= !matches!(file.outcome, Outcome::Unchanged);
        save_one(&scope, plan, changes, &mut removed, file)?;
        job.progress.advance(1);
    }
    remove_rest(&scope, changes, removed)?;
    if !content_changed {
        return transaction.commit_bookkeeping();
    }
    also(&scope, changes)?;
    aliases::refresh_entities(&scope, changes)?;
    aliases::refresh_tags(&scope, changes)?;
    tracing::info_span!("resolve links").in_scope(|| links::resolve(&scope, changes))?;
    job.progress.stage(Stage::Match, 0);
    tracing::info_span!("match names").in_scope(|| names::update(&scope, changes))?;
    job.progress.stage(Stage::Relate, 0);
    tracing::info_span!("relate").in_scope(|| links::relate(&scope, changes))?;
    storage::save_languages(scope.connection, scope.namespace)?;
    storage::set_unfollowed(scope.connection, scope.namespace, true)?;
    transaction.commit()
}

/// Saves in batches, then derives everything anew.
fn run_large(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    plan: &Plan,
    chunking: &ChunkOptions,
    changes: &mut Changes,
    also: Also<'_>,
) -> Result<()> {
    let transaction = lease.transaction()?;
    storage::set_pending(transaction.connection(), plan.namespace, true)?;
    plan.save_settings(&plan.scope(transaction.connection()))?;
    transaction.commit()?;
    let mut removed = MovedFiles::new(&plan.removed);
    let batches = batches_of(&plan.candidates);
    let (sender, receiver) = sync_channel::<Vec<Prepared>>(2);
    std::thread::scope(|threads| -> Result<()> {
        threads.spawn(move || {
            for batch in batches {
                let prepared = prepare_all(plan, batch, chunking);
                // The receiver is gone when saving failed or was interrupted.
                if sender.send(prepared).is_err() {
                    break;
                }
            }
        });
        let mut batches = receiver.into_iter().peekable();
        while batches.peek().is_some() {
            let transaction = lease.transaction()?;
            let scope = plan.scope(transaction.connection());
            let mut bytes = 0;
            let mut interrupted = false;
            while bytes < COMMIT_BYTES
                && !interrupted
                && let Some(batch) = batches.next()
            {
                for file in batch {
                    bytes += file.size;
                    save_one(&scope, plan, changes, &mut removed, file)?;
                    job.progress.advance(1);
                }
                aliases::refresh_entities(&scope, changes)?;
                changes.entities.clear();
                changes.documents.clear();
                changes.tags.clear();
                interrupted = job.progress.interrupted();
            }
            transaction.commit()?;
            if interrupted {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    })?;

    let transaction = lease.transaction()?;
    let scope = plan.scope(transaction.connection());
    remove_rest(&scope, changes, removed)?;
    also(&scope, changes)?;
    aliases::refresh_entities(&scope, changes)?;
    aliases::refresh_tags(&scope, changes)?;
    tracing::info_span!("resolve links").in_scope(|| links::resolve(&scope, changes))?;
    job.progress.stage(
        Stage::Match,
        storage::count_chunks(scope.connection, scope.namespace)?,
    );
    tracing::info_span!("match names")
        .in_scope(|| names::rebuild(&scope, changes, job.progress))?;
    job.progress.stage(Stage::Relate, 0);
    tracing::info_span!("relate").in_scope(|| links::relate(&scope, changes))?;
    storage::save_languages(scope.connection, scope.namespace)?;
    storage::set_unfollowed(scope.connection, scope.namespace, true)?;
    storage::set_pending(scope.connection, scope.namespace, false)?;
    transaction.commit()
}

fn save_one(
    scope: &Scope<'_>,
    plan: &Plan,
    changes: &mut Changes,
    removed: &mut MovedFiles<'_>,
    file: Prepared,
) -> Result<()> {
    let is_new = plan.is_new(&file);
    let moved_from = if is_new {
        removed.take(file.source, &file.hash)
    } else {
        None
    };
    save::save_file(
        scope,
        changes,
        file,
        !is_new,
        moved_from.map(|file| file.path.as_str()),
    )
}

fn remove_rest(scope: &Scope<'_>, changes: &mut Changes, removed: MovedFiles<'_>) -> Result<()> {
    for file in removed.rest() {
        save::remove_file(scope, changes, file.source, &file.path)?;
    }
    Ok(())
}

fn batches_of(candidates: &[Candidate]) -> Vec<&[Candidate]> {
    let mut batches = Vec::new();
    let mut rest = candidates;
    while !rest.is_empty() {
        let mut bytes = 0;
        let full = rest.iter().position(|candidate| {
            bytes += match &candidate.content {
                Content::File { .. } => candidate.size,
                Content::Given { text, .. } => text.len() as u64,
            };
            bytes > BATCH_BYTES
        });
        let length = full.map_or(rest.len(), |at| at.max(1)).min(BATCH_FILES);
        let (batch, tail) = rest.split_at(length);
        batches.push(batch);
        rest = tail;
    }
    batches
}
