//! What a run has to do.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::Scope;
use super::chunk_settings::{ChunkSizes, settings_key};
use super::prepare::{Candidate, Prepared};
use crate::Result;
use crate::sources::ReadOptions;
use crate::storage::{self, FileRow};
use crate::types::{IngestReport, LinkConvention, Skipped, Timestamp};

/// A file that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Removed {
    pub source: i64,
    pub path: String,
    pub hash: Vec<u8>,
}

/// What a run has to do.
#[derive(Debug)]
pub(super) struct Plan {
    pub namespace: i64,
    pub namespace_name: String,
    pub now: Timestamp,
    pub report: IngestReport,
    /// By source and path.
    pub candidates: Vec<Candidate>,
    pub removed: Vec<Removed>,
    /// Files that the store knows of.
    pub known_files: usize,
    /// A large run was stopped before its end, or has to start anew.
    pub pending: bool,
    /// Every file is read, whatever the store knows of it.
    pub reread: bool,
    /// Bytes that a small run may read, whatever the store knows.
    pub small_bytes: u64,
    /// Sources that could not be looked at.
    pub missing_sources: usize,
    /// Nothing but the candidates and the removed files changed.
    pub is_settled: bool,
    /// Link keys of attachments that appeared or went.
    pub link_keys: BTreeSet<String>,
    /// How chunks are cut.
    pub chunks: ChunkSizes,
    pub conventions: Vec<(String, LinkConvention)>,
    pub reading: BTreeMap<i64, ReadOptions>,
    pub settings: String,
    pub attachments: Vec<(i64, FileRow)>,
    pub gone_attachments: Vec<(i64, String)>,
    pub walk_skips: Vec<(i64, Vec<Skipped>)>,
}

impl Plan {
    pub(super) fn scope<'a>(&'a self, connection: &'a Connection) -> Scope<'a> {
        Scope {
            connection,
            namespace: self.namespace,
            namespace_name: &self.namespace_name,
            now: self.now,
            conventions: &self.conventions,
        }
    }

    pub(super) fn reading_of(&self, source: i64) -> &ReadOptions {
        &self.reading[&source]
    }

    /// Whether the store knew no file at this path.
    pub(super) fn is_new(&self, file: &Prepared) -> bool {
        self.candidates
            .binary_search_by(|candidate| {
                (candidate.source, candidate.path.as_str()).cmp(&(file.source, file.path.as_str()))
            })
            .is_ok_and(|at| self.candidates[at].is_new)
    }

    /// Stores what the walk saw besides documents.
    pub(super) fn save_settings(&self, scope: &Scope<'_>) -> Result<()> {
        let connection = scope.connection;
        // A source that is away has still to be read with these settings.
        if self.missing_sources == 0 {
            storage::set_meta(connection, &settings_key(self.namespace), &self.settings)?;
        }
        for (source, row) in &self.attachments {
            storage::save_file(connection, *source, row)?;
        }
        for (source, path) in &self.gone_attachments {
            storage::remove_file(connection, *source, path)?;
        }
        for (source, skipped) in &self.walk_skips {
            storage::save_walk_skips(connection, *source, skipped)?;
        }
        Ok(())
    }
}
