//! The ledger: transcripts of agents in, turns out.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Engine;
use crate::ledger::{Context, read_turns};
use crate::storage::{self, NamespaceId, TranscriptRow, WriteTransaction};
use crate::text::{Language, query_terms};
use crate::types::{BrokenLine, LedgerReport, LedgerStats, TurnView};
use crate::{Error, Result};

/// Bytes at the beginning and before the end of what was read that tell a rewritten file.
const HEAD_BYTES: u64 = 4096;
const TAIL_BYTES: u64 = 1024;

impl Engine {
    /// Reads a transcript, or every `.jsonl` below a folder, from where the last time ended. Lines that
    /// cannot be read are in the report and cost none of the others.
    ///
    /// # Errors
    /// A file that cannot be read, a busy store.
    pub fn ledger_ingest(&self, path: &Path) -> Result<LedgerReport> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut paths = Vec::new();
        if path.is_dir() {
            collect(&path, &mut paths)?;
            paths.sort();
        } else {
            paths.push(path);
        }
        let mut report = LedgerReport::default();
        for path in paths {
            self.ledger_write(|transaction, namespace| {
                ingest_file(transaction, namespace, &path, &mut report)
            })?;
        }
        Ok(report)
    }

    /// Reads a transcript of which there is no file. Turns that are known already are not added again.
    ///
    /// # Errors
    /// Input that cannot be read, a busy store.
    pub fn ledger_read(&self, input: impl BufRead) -> Result<LedgerReport> {
        let mut report = LedgerReport::default();
        self.ledger_write(|transaction, namespace| {
            let name = Path::new("-");
            let row = storage::transcript(transaction.connection(), namespace, "-")?;
            let from = TranscriptRow::default();
            ingest(
                transaction,
                namespace,
                row.0,
                name,
                input,
                &from,
                &mut report,
            )?;
            Ok(())
        })?;
        Ok(report)
    }

    /// What an agent's hook says at the end of a turn: a JSON object that names its transcript.
    ///
    /// # Errors
    /// As [`Engine::ledger_ingest`]; [`Error::Usage`] for an event without a transcript.
    pub fn ledger_hook(&self, event: &str) -> Result<LedgerReport> {
        self.ledger_ingest(&transcript_of(event)?)
    }

    /// Notes that a hook failed.
    pub fn ledger_log(&self, reason: &str) -> Result<()> {
        let now = self.clock.now();
        self.ledger_write(|transaction, namespace| {
            storage::log_failure(transaction.connection(), namespace, now, reason)
        })
    }

    fn ledger_write(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>, NamespaceId) -> Result<()>,
    ) -> Result<()> {
        let store = self.store();
        let lease = store.write_lease("malha ledger", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?;
        write(&transaction, namespace)?;
        // No cache depends on the ledger.
        transaction.commit_bookkeeping()
    }

    /// The latest turns first, of one session if one is given.
    pub fn turns(&self, session: Option<&str>, limit: usize) -> Result<Vec<TurnView>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::latest_turns(store.connection(), namespace, session, limit),
            None => Ok(Vec::new()),
        }
    }

    /// One turn.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn turn(&self, id: i64) -> Result<TurnView> {
        let store = self.store();
        let found = match store.namespace(&self.namespace)? {
            Some(namespace) => storage::turn(store.connection(), namespace, id)?,
            None => None,
        };
        found.ok_or_else(|| Error::NotFound {
            kind: "turn",
            name: id.to_string(),
        })
    }

    /// Turns that say these words, and turns that touched documents which speak of what they name.
    pub fn search_turns(&self, query: &str, limit: usize) -> Result<Vec<TurnView>> {
        let store = self.store();
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(Vec::new());
        };
        let connection = store.connection();
        let terms = query_terms(query, &[Language::Other]);
        let by_words = storage::turns_with_words(connection, namespace, &terms, limit)?;
        let by_graph = storage::turns_about(connection, namespace, query, limit)?;
        let mut reasons: Vec<(i64, Vec<String>)> = by_words
            .into_iter()
            .map(|id| (id, vec!["its words".to_owned()]))
            .collect();
        for (id, uri) in by_graph {
            let reason = format!("touched {uri}");
            match reasons.iter_mut().find(|(known, _)| *known == id) {
                Some((_, reasons)) => reasons.push(reason),
                None => reasons.push((id, vec![reason])),
            }
        }
        let mut found = Vec::new();
        // Both reasons before one; otherwise in the order found.
        reasons.sort_by_key(|(_, reasons)| usize::from(reasons.len() < 2));
        for (id, found_by) in reasons.into_iter().take(limit) {
            if let Some(turn) = storage::turn(connection, namespace, id)? {
                found.push(TurnView { found_by, ..turn });
            }
        }
        Ok(found)
    }

    /// Counts of the ledger.
    pub fn ledger_stats(&self) -> Result<LedgerStats> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::ledger_stats(store.connection(), namespace),
            None => Ok(LedgerStats::default()),
        }
    }
}

fn transcript_of(event: &str) -> Result<PathBuf> {
    let event: Value = serde_json::from_str(event)
        .map_err(|error| Error::Usage(format!("the hook's event is no JSON: {error}")))?;
    let named = [
        "transcript_path",
        "transcriptPath",
        "rollout_path",
        "session_path",
        "path",
    ]
    .iter()
    .find_map(|name| event[*name].as_str());
    let named = named.ok_or_else(|| {
        Error::Usage("the hook's event names no transcript (transcript_path)".to_owned())
    })?;
    Ok(match (named.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(named),
    })
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let io_error = |source| Error::Io {
        path: folder.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(io_error)? {
        let entry = entry.map_err(io_error)?;
        // A link could lead in circles.
        let kind = entry.file_type().map_err(io_error)?;
        let path = entry.path();
        if kind.is_dir() {
            collect(&path, paths)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            paths.push(path);
        }
    }
    Ok(())
}

fn ingest_file(
    transaction: &WriteTransaction<'_>,
    namespace: NamespaceId,
    path: &Path,
    report: &mut LedgerReport,
) -> Result<()> {
    let io_error = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(io_error)?;
    let name = path.to_string_lossy();
    let connection = transaction.connection();
    let (id, mut state) = storage::transcript(connection, namespace, &name)?;
    if state.resume_at > 0
        && fingerprint(&mut file, state.resume_at).map_err(io_error)? != state.fingerprint
    {
        // Another file under an old name, or the same one written anew.
        storage::forget_places(connection, id)?;
        state = TranscriptRow::default();
    }
    file.seek(SeekFrom::Start(state.resume_at))
        .map_err(io_error)?;
    let input = BufReader::with_capacity(1 << 17, &file);
    let mut state = ingest(transaction, namespace, id, path, input, &state, report)?;
    state.fingerprint = fingerprint(&mut file, state.resume_at).map_err(io_error)?;
    storage::save_transcript(connection, id, &state)
}

/// Reads from where `state` ends, and returns where to go on.
fn ingest(
    transaction: &WriteTransaction<'_>,
    namespace: NamespaceId,
    transcript: i64,
    path: &Path,
    input: impl BufRead,
    state: &TranscriptRow,
    report: &mut LedgerReport,
) -> Result<TranscriptRow> {
    let context = Context {
        session: state.session.clone(),
        folder: state.folder.clone(),
    };
    let read = read_turns(path, input, state.resume_at, context, |turn| {
        if storage::save_turn(transaction.connection(), namespace, transcript, &turn)? {
            report.turns_added += 1;
        } else {
            report.turns_updated += 1;
        }
        Ok(())
    })?;
    report.transcripts += 1;
    report.bytes += read.end - state.resume_at;
    let name = path.to_string_lossy();
    report
        .broken
        .extend(read.broken.into_iter().map(|(offset, reason)| BrokenLine {
            path: name.clone().into_owned(),
            offset,
            reason,
        }));
    Ok(TranscriptRow {
        resume_at: read.resume_at,
        fingerprint: String::new(),
        session: read.context.session,
        folder: read.context.folder,
    })
}

/// Over the first bytes and the last ones before `end`; of a file that is shorter than it was, something
/// else.
fn fingerprint(file: &mut File, end: u64) -> std::io::Result<String> {
    if file.metadata()?.len() < end {
        return Ok("shorter".to_owned());
    }
    let mut hash = Sha256::new();
    for (start, length) in [
        (0, end.min(HEAD_BYTES)),
        (end.saturating_sub(TAIL_BYTES), end.min(TAIL_BYTES)),
    ] {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        hash.update(&bytes);
    }
    let mut half = [0; 16];
    half.copy_from_slice(&hash.finalize()[..16]);
    Ok(format!("{:032x}", u128::from_be_bytes(half)))
}
