//! Chunks.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::text::Language;
use crate::types::{ChunkDraft, ChunkId, Citation, DocumentId, Timestamp};

/// A current chunk as runs compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    pub id: ChunkId,
    pub hash: Vec<u8>,
    pub ordinal: usize,
    pub start: usize,
    pub end: usize,
    pub line: usize,
}

/// A chunk's text with the language of its document: what discovery and matching read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkText {
    pub id: ChunkId,
    pub language: Language,
    pub text: String,
}

/// The current chunks of a document, in order.
pub(crate) fn chunks_of_document(
    connection: &Connection,
    document: DocumentId,
) -> Result<Vec<ChunkRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, hash, ordinal, start, end, line FROM chunk
         WHERE document = ?1 AND retracted_at IS NULL ORDER BY ordinal",
    )?;
    let rows = statement.query_map([document.0], |row| {
        Ok(ChunkRow {
            id: ChunkId(row.get(0)?),
            hash: row.get(1)?,
            ordinal: row.get::<_, i64>(2)? as usize,
            start: row.get::<_, i64>(3)? as usize,
            end: row.get::<_, i64>(4)? as usize,
            line: row.get::<_, i64>(5)? as usize,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Inserts a chunk.
pub(crate) fn insert_chunk(
    connection: &Connection,
    document: DocumentId,
    ordinal: usize,
    draft: &ChunkDraft,
    text: &str,
    hash: &[u8],
    now: Timestamp,
) -> Result<ChunkId> {
    let heading_path = serde_json::Value::from(draft.heading_path.clone()).to_string();
    connection
        .prepare_cached(
            "INSERT INTO chunk (document, ordinal, start, end, line, heading_path, text, tokens, hash, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            document.0,
            ordinal as i64,
            draft.start as i64,
            draft.end as i64,
            draft.line as i64,
            heading_path,
            text,
            draft.tokens as i64,
            hash,
            now.0,
        ])?;
    Ok(ChunkId(connection.last_insert_rowid()))
}

/// Moves a kept chunk to its place in the edited document.
pub(crate) fn move_chunk(
    connection: &Connection,
    id: ChunkId,
    ordinal: usize,
    draft: &ChunkDraft,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE chunk SET ordinal = ?2, start = ?3, end = ?4, line = ?5 WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            ordinal as i64,
            draft.start as i64,
            draft.end as i64,
            draft.line as i64
        ])?;
    Ok(())
}

/// Closes a chunk that is gone, with its mentions. Its text is kept for the evidence of closed relations.
pub(crate) fn retire_chunk(connection: &Connection, id: ChunkId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached("UPDATE chunk SET retracted_at = ?2 WHERE id = ?1")?
        .execute(params![id.0, now.0])?;
    connection
        .prepare_cached("DELETE FROM mention WHERE chunk = ?1")?
        .execute([id.0])?;
    super::embedding::delete_vectors(connection, id)
}

/// Text and language of one chunk.
pub(crate) fn chunk_text(connection: &Connection, id: ChunkId) -> Result<ChunkText> {
    Ok(connection
        .prepare_cached(
            "SELECT c.id, d.language, c.text FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = ?1",
        )?
        .query_row([id.0], read_text)?)
}

/// Start, line and text of the current chunks of a document, in order.
pub(crate) fn passages_of_document(
    connection: &Connection,
    document: DocumentId,
) -> Result<Vec<(usize, usize, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT start, line, text FROM chunk WHERE document = ?1 AND retracted_at IS NULL ORDER BY ordinal",
    )?;
    let rows = statement.query_map([document.0], |row| {
        let (start, line): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok((start as usize, line as usize, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Up to `limit` current chunks of a namespace with row ids above `after`, by row id.
pub(crate) fn chunk_texts_after(
    connection: &Connection,
    namespace: i64,
    after: ChunkId,
    limit: usize,
) -> Result<Vec<ChunkText>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id, d.language, c.text FROM chunk c JOIN document d ON d.id = c.document
         WHERE c.id > ?1 AND c.retracted_at IS NULL AND d.namespace = ?2 ORDER BY c.id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![after.0, namespace, limit as i64], read_text)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_text(row: &rusqlite::Row<'_>) -> rusqlite::Result<ChunkText> {
    let language: String = row.get(1)?;
    Ok(ChunkText {
        id: ChunkId(row.get(0)?),
        language: language.parse().unwrap_or(Language::Other),
        text: row.get(2)?,
    })
}

/// Number of current chunks of a namespace.
pub(crate) fn count_chunks(connection: &Connection, namespace: i64) -> Result<usize> {
    let count: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document
             WHERE c.retracted_at IS NULL AND d.namespace = ?1",
        )?
        .query_row([namespace], |row| row.get(0))?;
    Ok(count as usize)
}

/// A current chunk with the place of its text, as evidence shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EvidenceChunk {
    pub document: DocumentId,
    pub uri: String,
    pub title: String,
    pub language: Language,
    pub heading_path: Vec<String>,
    pub line: usize,
    pub start: usize,
    pub end: usize,
    pub text: String,
}

impl EvidenceChunk {
    /// Where these bytes of its text stand in its document.
    pub(crate) fn citation(&self, range: Range<usize>) -> Citation {
        let lines_before = self.text[..range.start]
            .bytes()
            .filter(|&byte| byte == b'\n');
        Citation {
            document: self.document,
            uri: self.uri.clone(),
            title: self.title.clone(),
            line: self.line + lines_before.count(),
            start: self.start + range.start,
            end: self.start + range.end,
            quote: self.text[range].to_owned(),
        }
    }
}

/// A chunk as evidence; `None` when it is not current.
pub(crate) fn evidence_chunk(
    connection: &Connection,
    id: ChunkId,
) -> Result<Option<EvidenceChunk>> {
    Ok(connection
        .prepare_cached(
            "SELECT d.id, d.uri, d.title, d.language, c.heading_path, c.line, c.start, c.end, c.text
             FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = ?1 AND c.retracted_at IS NULL",
        )?
        .query_row([id.0], |row| {
            let language: String = row.get(3)?;
            let heading_path: String = row.get(4)?;
            Ok(EvidenceChunk {
                document: DocumentId(row.get(0)?),
                uri: row.get(1)?,
                title: row.get(2)?,
                language: language.parse().unwrap_or(Language::Other),
                heading_path: serde_json::from_str(&heading_path).unwrap_or_default(),
                line: row.get::<_, i64>(5)? as usize,
                start: row.get::<_, i64>(6)? as usize,
                end: row.get::<_, i64>(7)? as usize,
                text: row.get(8)?,
            })
        })
        .optional()?)
}

/// Whether a current chunk of the document holds this text at this byte of the document.
pub(crate) fn quote_stands(
    connection: &Connection,
    document: DocumentId,
    start: usize,
    quote: &str,
) -> Result<bool> {
    let end = start + quote.len();
    let mut statement = connection.prepare_cached(
        "SELECT start, text FROM chunk WHERE document = ?1 AND retracted_at IS NULL AND start <= ?2 AND end >= ?3",
    )?;
    let mut rows = statement.query(params![document.0, start as i64, end as i64])?;
    while let Some(row) = rows.next()? {
        let offset = start - row.get::<_, i64>(0)? as usize;
        let text: String = row.get(1)?;
        if text.get(offset..offset + quote.len()) == Some(quote) {
            return Ok(true);
        }
    }
    Ok(false)
}
