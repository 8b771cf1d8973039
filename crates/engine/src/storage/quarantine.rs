//! Passages whose reply could not be used, and items that were not stored.

use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use crate::Result;
use crate::types::{ChunkId, DocumentId, QuarantineItem, Timestamp};

/// Something to be put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aside {
    pub document: DocumentId,
    pub uri: String,
    pub chunk: ChunkId,
    /// First bytes of the passage in the document: what tells it from others.
    pub start: usize,
    pub kind: &'static str,
    pub item: String,
    pub reason: String,
}

impl Aside {
    fn hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&self.uri, &self.start.to_string(), self.kind, &self.item] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into()
    }
}

/// Makes the quarantine hold exactly these; what the user said of one that stays is kept.
pub(crate) fn save_quarantine(
    connection: &Connection,
    namespace: i64,
    items: &[Aside],
    now: Timestamp,
) -> Result<()> {
    let mut wanted = FxHashSet::default();
    for item in items {
        let hash = item.hash();
        if !wanted.insert(hash) {
            continue;
        }
        connection
            .prepare_cached(
                "INSERT INTO quarantine (namespace, hash, document, chunk, kind, item, reason, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (namespace, hash) DO UPDATE SET
                     document = excluded.document, chunk = excluded.chunk, reason = excluded.reason
                 WHERE (document, chunk, reason) <> (excluded.document, excluded.chunk, excluded.reason)",
            )?
            .execute(params![
                namespace,
                hash.as_slice(),
                item.document.0,
                item.chunk.0,
                item.kind,
                item.item,
                item.reason,
                now.0,
            ])?;
    }
    let mut statement =
        connection.prepare_cached("SELECT id, hash FROM quarantine WHERE namespace = ?1")?;
    let known: Vec<(i64, Vec<u8>)> = statement
        .query_map([namespace], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut delete = connection.prepare_cached("DELETE FROM quarantine WHERE id = ?1")?;
    for (id, hash) in known {
        let is_wanted = <[u8; 32]>::try_from(hash).is_ok_and(|hash| wanted.contains(&hash));
        if !is_wanted {
            delete.execute([id])?;
        }
    }
    Ok(())
}

/// What is put aside, passages first.
pub(crate) fn quarantine(connection: &Connection, namespace: i64) -> Result<Vec<QuarantineItem>> {
    let mut statement = connection.prepare_cached(
        "SELECT q.id, q.kind, d.uri, c.line, q.reason, q.item, q.dropped, c.start FROM quarantine q
         JOIN document d ON d.id = q.document JOIN chunk c ON c.id = q.chunk
         WHERE q.namespace = ?1 ORDER BY q.kind <> 'passage', d.uri, c.line, q.id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok(QuarantineItem {
            id: row.get(0)?,
            kind: row.get(1)?,
            uri: row.get(2)?,
            line: row.get::<_, i64>(3)? as usize,
            reason: row.get(4)?,
            item: row.get(5)?,
            dropped: row.get(6)?,
            start: row.get::<_, i64>(7)? as usize,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The passages, by document and first byte, that the user wants no more of: their chunks.
pub(crate) fn dropped_passages(
    connection: &Connection,
    namespace: i64,
) -> Result<FxHashSet<ChunkId>> {
    let mut statement = connection.prepare_cached(
        "SELECT chunk FROM quarantine WHERE namespace = ?1 AND kind = 'passage' AND dropped = 1",
    )?;
    let rows = statement.query_map([namespace], |row| row.get(0).map(ChunkId))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Says whether the user wants no more of an item. False when there is no such item.
pub(crate) fn set_dropped(
    connection: &Connection,
    namespace: i64,
    id: i64,
    dropped: bool,
) -> Result<bool> {
    let found: Option<i64> = connection
        .prepare_cached(
            "UPDATE quarantine SET dropped = ?3 WHERE namespace = ?1 AND id = ?2 RETURNING id",
        )?
        .query_row(params![namespace, id, dropped], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}
