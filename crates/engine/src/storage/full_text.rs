//! Full text of the current chunks in FTS5: terms of our own tokenizer in, BM25 out.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use crate::Result;
use crate::text::QueryTerm;
use crate::types::{ChunkId, DocumentId};

/// Adds a chunk's terms, blank-separated.
pub(crate) fn insert(
    connection: &Connection,
    chunk: ChunkId,
    title: &str,
    heading: &str,
    body: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO chunk_fts (rowid, title, heading, body) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![chunk.0, title, heading, body])?;
    Ok(())
}

/// Takes a chunk out.
pub(crate) fn delete(connection: &Connection, chunk: ChunkId) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM chunk_fts WHERE rowid = ?1")?
        .execute([chunk.0])?;
    Ok(())
}

/// Chunks by BM25, best first, ties by row id. `documents` restricts the search; user text never
/// reaches the FTS grammar, only quoted terms do.
pub(crate) fn search(
    connection: &Connection,
    namespace: i64,
    terms: &[QueryTerm],
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<(ChunkId, f64)>> {
    let meaningful: Vec<&QueryTerm> = terms.iter().filter(|term| !term.stop).collect();
    let used = if meaningful.is_empty() {
        terms.iter().collect()
    } else {
        meaningful
    };
    let words: Vec<String> = used
        .iter()
        .flat_map(|term| term.alternatives.iter())
        .map(|term| quoted(term))
        .collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let filter = match documents {
        Some(_) => "AND d.id IN (SELECT value FROM json_each(?4))",
        None => "AND ?4 IS NULL",
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT f.rowid, -bm25(chunk_fts, 1.0, 1.0, 1.0) AS score FROM chunk_fts f
         JOIN chunk c ON c.id = f.rowid JOIN document d ON d.id = c.document
         WHERE chunk_fts MATCH ?1 AND d.namespace = ?2 {filter}
         ORDER BY score DESC, f.rowid LIMIT ?3"
    ))?;
    let documents = documents.map(|ids| {
        serde_json::Value::from(ids.iter().map(|id| id.0).collect::<Vec<_>>()).to_string()
    });
    let rows = statement.query_map(
        params![words.join(" OR "), namespace, limit as i64, documents],
        |row| Ok((ChunkId(row.get(0)?), row.get(1)?)),
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Current chunks that hold, of every group, at least one term.
pub(crate) fn chunks_with_all(
    connection: &Connection,
    namespace: i64,
    groups: &[Vec<String>],
) -> Result<Vec<ChunkId>> {
    let query = groups
        .iter()
        .map(|group| {
            let terms: Vec<String> = group.iter().map(|term| quoted(term)).collect();
            format!("({})", terms.join(" OR "))
        })
        .collect::<Vec<_>>()
        .join(" AND ");
    let mut statement = connection.prepare_cached(
        "SELECT f.rowid FROM chunk_fts f JOIN chunk c ON c.id = f.rowid JOIN document d ON d.id = c.document
         WHERE chunk_fts MATCH ?1 AND d.namespace = ?2 ORDER BY f.rowid",
    )?;
    let rows = statement.query_map(
        params_from_iter([Value::from(query), Value::from(namespace)]),
        |row| Ok(ChunkId(row.get(0)?)),
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A term as an FTS5 string.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}
