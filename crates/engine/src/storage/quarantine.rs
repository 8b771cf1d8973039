//! Passages whose reply could not be used, and items that were not stored.

use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

use crate::Result;
use crate::types::{ChunkId, DocumentId, QuarantineItem, Timestamp};

/// Something to be put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aside {
    pub document: DocumentId,
    pub chunk: ChunkId,
    /// Of the passage: what tells it from others of its document wherever it stands.
    pub passage: PassageHash,
    pub kind: &'static str,
    pub item: String,
    pub reason: String,
}

/// What a passage is known by, whatever stands before it.
pub(crate) type PassageHash = [u8; 32];

/// The hash of a passage of a document.
pub(crate) fn passage_hash(uri: &str, text: &str) -> PassageHash {
    hash_of(&[uri.as_bytes(), text.as_bytes()])
}

fn hash_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl Aside {
    /// A passage is one row whatever is said about it; an item is one with its words.
    fn hash(&self) -> [u8; 32] {
        if self.kind == PASSAGE {
            return self.passage;
        }
        hash_of(&[&self.passage, self.kind.as_bytes(), self.item.as_bytes()])
    }
}

/// The kind of a passage put aside as a whole.
pub(crate) const PASSAGE: &str = "passage";

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
                     document = excluded.document, chunk = excluded.chunk, item = excluded.item,
                     reason = excluded.reason
                 WHERE (document, chunk, item, reason)
                     <> (excluded.document, excluded.chunk, excluded.item, excluded.reason)",
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

/// A passage that was put aside.
pub(crate) struct PassageAside {
    pub reason: String,
    /// What the model said.
    pub item: String,
    /// The user wants no more of it.
    pub dropped: bool,
}

/// The passages that were put aside, by their hash.
pub(crate) fn passages_aside(
    connection: &Connection,
    namespace: i64,
) -> Result<FxHashMap<PassageHash, PassageAside>> {
    let mut statement = connection.prepare_cached(
        "SELECT hash, reason, item, dropped FROM quarantine WHERE namespace = ?1 AND kind = ?2",
    )?;
    let rows = statement.query_map(params![namespace, PASSAGE], |row| {
        let aside = PassageAside {
            reason: row.get(1)?,
            item: row.get(2)?,
            dropped: row.get(3)?,
        };
        Ok((row.get(0)?, aside))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Says whether the user wants no more of an item. Returns its kind and what was said before; `None` when there is no
/// such item.
pub(crate) fn set_dropped(
    connection: &Connection,
    namespace: i64,
    id: i64,
    dropped: bool,
) -> Result<Option<(String, bool)>> {
    let before = connection
        .prepare_cached("SELECT kind, dropped FROM quarantine WHERE namespace = ?1 AND id = ?2")?
        .query_row(params![namespace, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    connection
        .prepare_cached("UPDATE quarantine SET dropped = ?3 WHERE namespace = ?1 AND id = ?2")?
        .execute(params![namespace, id, dropped])?;
    Ok(before)
}
