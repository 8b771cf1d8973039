//! What a run has to look at: files and documents that are new, touched or gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::Connection;

use super::chunk_settings::{chunk_sizes, settings};
use super::links::keys_of_uri;
use super::place::{Part, place_spec};
use super::prepare::{Candidate, Content};
use super::run_plan::{Plan, Removed};
use super::{Amendment, Job, LARGE_BYTES};
use crate::sources::{ReadOptions, SourceFile, Walk, WalkOptions, detect_convention, walk};
use crate::storage::{self, FileRow, FileStatus, SourceRow, WriteLease, join_uri};
use crate::types::{
    DocumentInput, DocumentKind, IngestReport, ItemFailure, LinkConvention, Skipped, SourceSpec,
};
use crate::{Error, Result};

/// Root of a source whose documents are handed over in memory.
pub(super) const IN_MEMORY: &str = "memory:";

/// What is said of a source that is not there.
const GONE: &str = "the folder or file is gone; its documents stay as they were until it is back";

/// Walks folders and files and compares them with what the store knows.
pub(super) fn scan_sources(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    specs: &[SourceSpec],
) -> Result<Plan> {
    let transaction = lease.transaction()?;
    let connection = transaction.connection();
    let namespace = transaction.namespace(job.namespace)?.0;
    let mut parts: Vec<Part> = Vec::new();
    // New settings hold for every source at once.
    let (_, reread) = chunk_sizes(job, connection, namespace)?;
    if specs.is_empty() || reread {
        for source in storage::sources(connection, namespace)? {
            if source.root != IN_MEMORY {
                parts.push(Part {
                    source,
                    under: None,
                    convention: None,
                });
            }
        }
        if parts.is_empty() && specs.is_empty() {
            return Err(Error::Usage(
                "nothing was indexed in this store yet; name a folder or a file".to_owned(),
            ));
        }
    }
    for spec in specs {
        let part = place_spec(job, connection, namespace, spec)?;
        match parts
            .iter()
            .position(|known| known.source.id == part.source.id)
        {
            // The same source twice: look at all of it.
            Some(at) => {
                parts[at].under = None;
                parts[at].convention = parts[at].convention.or(part.convention);
            }
            None => parts.push(part),
        }
    }
    transaction.commit_bookkeeping()?;
    let mut plan = start_plan(job, lease, namespace)?;
    for part in parts {
        scan_part(&mut plan, lease, part)?;
    }
    finish_plan(lease, plan)
}

/// Compares handed-over documents with what the store knows of this source.
pub(super) fn scan_documents(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    label: &str,
    documents: &[DocumentInput],
) -> Result<Plan> {
    let transaction = lease.transaction()?;
    let connection = transaction.connection();
    let namespace = transaction.namespace(job.namespace)?.0;
    let source = storage::upsert_source(
        connection,
        namespace,
        label,
        IN_MEMORY,
        LinkConvention::default(),
    )?;
    transaction.commit_bookkeeping()?;
    let mut plan = start_plan(job, lease, namespace)?;
    plan.reading.insert(source, ReadOptions::default());
    let known = known_files(&mut plan, lease.store().connection(), source)?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for document in documents {
        if !seen.insert(&document.uri) {
            return Err(Error::Usage(format!(
                "two documents have the uri {:?}",
                document.uri
            )));
        }
        let old = known.get(&document.uri);
        plan.candidates.push(Candidate {
            source,
            path: document.uri.clone(),
            uri: join_uri(label, &document.uri),
            size: document.text.len() as u64,
            mtime_ns: 0,
            is_new: old.is_none(),
            known_hash: old
                .filter(|_| !plan.reread)
                .map(|row| row.content_hash.clone())
                .unwrap_or_default(),
            content: Content::Given {
                title: document.title.clone(),
                text: document.text.clone(),
                kind: DocumentKind::Row,
                date: None,
            },
        });
    }
    plan.report.seen = documents.len();
    note_removed(&mut plan, source, known, |path| seen.contains(path));
    finish_plan(lease, plan)
}

/// Documents that are added to what their source holds, or replace those of their path there, and paths that
/// are taken out of it.
pub(super) fn scan_amendment(
    job: &Job<'_>,
    lease: &WriteLease<'_>,
    amendment: &Amendment<'_>,
) -> Result<Plan> {
    let transaction = lease.transaction()?;
    let connection = transaction.connection();
    let namespace = transaction.namespace(job.namespace)?.0;
    let source = storage::upsert_source(
        connection,
        namespace,
        amendment.label,
        IN_MEMORY,
        LinkConvention::default(),
    )?;
    transaction.commit_bookkeeping()?;
    let mut plan = start_plan(job, lease, namespace)?;
    plan.reading.insert(source, ReadOptions::default());
    // What comes with it changes the store whatever the documents are.
    plan.is_settled = false;
    // Nor is it cut into several transactions because it is long.
    plan.small_bytes = u64::MAX;
    let connection = lease.store().connection();
    plan.known_files = storage::count_files(connection, source)?;
    for added in &amendment.added {
        let is_new = storage::file_hash(connection, source, &added.path)?.is_none();
        plan.candidates.push(Candidate {
            source,
            path: added.path.clone(),
            uri: join_uri(amendment.label, &added.path),
            size: added.text.len() as u64,
            mtime_ns: 0,
            is_new,
            known_hash: Vec::new(),
            content: Content::Given {
                title: String::new(),
                text: added.text.clone(),
                kind: DocumentKind::Episode,
                date: added.date.clone(),
            },
        });
    }
    for path in &amendment.removed {
        if let Some(hash) = storage::file_hash(connection, source, path)? {
            plan.removed.push(Removed {
                source,
                path: path.clone(),
                hash,
            });
        }
    }
    plan.report.seen = amendment.added.len();
    finish_plan(lease, plan)
}

fn start_plan(job: &Job<'_>, lease: &WriteLease<'_>, namespace: i64) -> Result<Plan> {
    let connection = lease.store().connection();
    let (chunks, reread) = chunk_sizes(job, connection, namespace)?;
    Ok(Plan {
        namespace,
        namespace_name: job.namespace.as_str().to_owned(),
        now: job.clock.now(),
        report: IngestReport::default(),
        candidates: Vec::new(),
        removed: Vec::new(),
        known_files: 0,
        pending: reread || storage::is_pending(connection, namespace)?,
        reread,
        small_bytes: LARGE_BYTES,
        missing_sources: 0,
        is_settled: true,
        link_keys: BTreeSet::new(),
        conventions: Vec::new(),
        reading: BTreeMap::new(),
        chunks,
        settings: settings(chunks),
        attachments: Vec::new(),
        gone_attachments: Vec::new(),
        walk_skips: Vec::new(),
    })
}

fn finish_plan(lease: &WriteLease<'_>, mut plan: Plan) -> Result<Plan> {
    let connection = lease.store().connection();
    plan.conventions = storage::sources(connection, plan.namespace)?
        .into_iter()
        .map(|source| (source.label, source.convention))
        .collect();
    plan.conventions
        .sort_by_key(|(label, _)| std::cmp::Reverse(label.len()));
    plan.candidates
        .sort_by(|a, b| (a.source, &a.path).cmp(&(b.source, &b.path)));
    plan.report.read = plan.candidates.len();
    plan.report.unchanged = plan.report.seen - plan.candidates.len();
    Ok(plan)
}

fn known_files(
    plan: &mut Plan,
    connection: &Connection,
    source: i64,
) -> Result<BTreeMap<String, FileRow>> {
    let files = storage::files(connection, source)?;
    plan.known_files += files.len();
    Ok(files
        .into_iter()
        .map(|row| (row.path.clone(), row))
        .collect())
}

/// Known files that `is_there` denies are gone.
fn note_removed(
    plan: &mut Plan,
    source: i64,
    known: BTreeMap<String, FileRow>,
    is_there: impl Fn(&str) -> bool,
) {
    for (path, row) in known {
        if is_there(&path) {
            continue;
        }
        if row.status == FileStatus::Attachment {
            plan.gone_attachments.push((source, path));
        } else {
            plan.removed.push(Removed {
                source,
                path,
                hash: row.content_hash,
            });
        }
    }
}

/// The files of a source; `None` when it is not there. A source that is one file has it at the empty path.
fn walk_source(root: &str) -> Result<Option<Walk>> {
    let root = Path::new(root);
    if !root.exists() {
        return Ok(None);
    }
    let mut walked = walk(root, &WalkOptions::default())?;
    if root.is_file() {
        for file in &mut walked.files {
            file.uri.clear();
        }
        for skip in &mut walked.skipped {
            skip.uri.clear();
        }
    }
    Ok(Some(walked))
}

fn scan_part(plan: &mut Plan, lease: &WriteLease<'_>, part: Part) -> Result<()> {
    let connection = lease.store().connection();
    let Part {
        source,
        under,
        convention,
    } = part;
    let Some(walked) = walk_source(&source.root)? else {
        // It may be a disk that is not mounted: nothing is closed, and the other sources go on.
        plan.missing_sources += 1;
        plan.report.failed.push(ItemFailure {
            uri: source.root.clone(),
            line: 0,
            reason: GONE.to_owned(),
        });
        return Ok(());
    };
    if let Some(convention) = convention {
        let transaction = lease.transaction()?;
        storage::state_convention(transaction.connection(), source.id, convention)?;
        transaction.commit_bookkeeping()?;
    }
    let stated = match convention {
        None => storage::stated_convention(connection, source.id)?,
        stated => stated,
    };
    let convention = stated
        .unwrap_or_else(|| detect_convention(walked.files.iter().map(|file| file.uri.as_str())));
    let is_new_convention = convention != source.convention;
    if is_new_convention {
        let transaction = lease.transaction()?;
        storage::upsert_source(
            transaction.connection(),
            plan.namespace,
            &source.label,
            &source.root,
            convention,
        )?;
        transaction.commit_bookkeeping()?;
    }
    plan.reading.insert(
        source.id,
        ReadOptions {
            convention,
            ..ReadOptions::default()
        },
    );
    let is_inside = |path: &str| {
        under.as_deref().is_none_or(|under| {
            path.strip_prefix(under)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || under.is_empty())
        })
    };
    let known = known_files(plan, connection, source.id)?;
    plan.is_settled &= !is_new_convention || known.is_empty();
    for file in walked.files.iter().filter(|file| is_inside(&file.uri)) {
        let old = known.get(&file.uri);
        let reread = plan.reread || is_new_convention;
        scan_file(plan, &source, file, old, reread);
    }
    let there: BTreeSet<&str> = walked.files.iter().map(|file| file.uri.as_str()).collect();
    let known = known
        .into_iter()
        .filter(|(path, _)| is_inside(path))
        .collect();
    let gone_before = plan.gone_attachments.len();
    note_removed(plan, source.id, known, |path| there.contains(path));
    for (_, path) in &plan.gone_attachments[gone_before..] {
        plan.link_keys
            .extend(keys_of_uri(&join_uri(&source.label, path)));
    }
    plan.is_settled &= plan.gone_attachments.len() == gone_before;
    if under.is_none() {
        let skipped = walked.skipped;
        if !storage::has_walk_skips(connection, source.id, &skipped)? {
            plan.is_settled = false;
            plan.walk_skips.push((source.id, skipped.clone()));
        }
        plan.report
            .skipped
            .extend(skipped.into_iter().map(|skip| Skipped {
                uri: join_uri(&source.label, &skip.uri),
                reason: skip.reason,
            }));
    }
    Ok(())
}

fn scan_file(
    plan: &mut Plan,
    source: &SourceRow,
    file: &SourceFile,
    old: Option<&FileRow>,
    reread: bool,
) {
    let Some(format) = file.format else {
        if old.is_none_or(|row| row.status != FileStatus::Attachment) {
            plan.is_settled = false;
            plan.link_keys
                .extend(keys_of_uri(&join_uri(&source.label, &file.uri)));
            let row = FileRow {
                path: file.uri.clone(),
                size: file.size,
                mtime_ns: file.mtime_ns,
                content_hash: Vec::new(),
                status: FileStatus::Attachment,
            };
            plan.attachments.push((source.id, row));
        }
        return;
    };
    plan.report.seen += 1;
    let is_touched = old.is_none_or(|row| {
        row.status == FileStatus::Attachment
            || (row.size, row.mtime_ns) != (file.size, file.mtime_ns)
    });
    if !is_touched && !reread {
        return;
    }
    plan.candidates.push(Candidate {
        source: source.id,
        path: file.uri.clone(),
        uri: join_uri(&source.label, &file.uri),
        size: file.size,
        mtime_ns: file.mtime_ns,
        is_new: old.is_none(),
        known_hash: match old {
            Some(row) if !reread => row.content_hash.clone(),
            _ => Vec::new(),
        },
        content: Content::File {
            path: file.path.clone(),
            format,
        },
    });
}

/// The folders and files indexed so far, by label.
pub(crate) fn known_sources(connection: &Connection, namespace: i64) -> Result<Vec<SourceSpec>> {
    let mut specs = Vec::new();
    for source in storage::sources(connection, namespace)? {
        if source.root != IN_MEMORY {
            specs.push(SourceSpec {
                convention: storage::stated_convention(connection, source.id)?,
                root: source.root.into(),
            });
        }
    }
    Ok(specs)
}

/// Number of files whose size or time differs from what the last run saw, counting new and gone ones.
pub(crate) fn count_stale(connection: &Connection, namespace: i64) -> Result<usize> {
    let mut stale = 0;
    for source in storage::sources(connection, namespace)? {
        if source.root == IN_MEMORY {
            continue;
        }
        let known: BTreeMap<String, FileRow> = storage::files(connection, source.id)?
            .into_iter()
            .map(|row| (row.path.clone(), row))
            .collect();
        let Some(walked) = walk_source(&source.root)? else {
            stale += known.len();
            continue;
        };
        let mut seen = 0;
        for file in walked.files {
            match known.get(&file.uri) {
                Some(row) => {
                    seen += 1;
                    stale += usize::from(
                        file.format.is_some()
                            && (row.size, row.mtime_ns) != (file.size, file.mtime_ns),
                    );
                }
                None => stale += 1,
            }
        }
        stale += known.len() - seen;
    }
    Ok(stale)
}
