//! Where something stands: document, bytes, line and words.

use rusqlite::{Connection, Row, params};

use crate::Result;
use crate::types::{ChunkId, Citation, DocumentId, RelationId};

/// Line of evidence `e` in document `d`. That of a link or of an imported fact is stored; that of a statement is counted in its passage, or in
/// a text that the store keeps.
pub(super) const LINE_OF_EVIDENCE: &str = "coalesce(e.line,
    (SELECT min(l.line) FROM link l WHERE l.document = e.document AND l.quote_start = e.start),
    (SELECT b.line + length(b.before) - length(replace(b.before, char(10), ''))
     FROM (SELECT c.line, CAST(substr(CAST(c.text AS BLOB), 1, e.start - c.start) AS TEXT) AS before
           FROM chunk c WHERE c.id = e.chunk) b),
    (SELECT 1 + length(b.before) - length(replace(b.before, char(10), ''))
     FROM (SELECT CAST(substr(CAST(d.text AS BLOB), 1, e.start) AS TEXT) AS before) b), 0)";

/// Where a relation is stated: up to `limit` passages by uri.
pub(crate) fn citations_of_relation(
    connection: &Connection,
    relation: RelationId,
    limit: usize,
) -> Result<Vec<Citation>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, d.uri, d.title, e.start, e.quote, {LINE_OF_EVIDENCE}
         FROM evidence e JOIN document d ON d.id = e.document
         WHERE e.relation = ?1 ORDER BY d.uri, e.start LIMIT ?2",
    ))?;
    let rows = statement.query_map(params![relation.0, limit as i64], citation)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A passage, whole.
pub(crate) fn citation_of_chunk(connection: &Connection, chunk: ChunkId) -> Result<Citation> {
    Ok(connection
        .prepare_cached(
            "SELECT d.id, d.uri, d.title, c.start, c.text, c.line
             FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = ?1",
        )?
        .query_row([chunk.0], citation)?)
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Citation> {
    let start = row.get::<_, i64>(3)? as usize;
    let quote: String = row.get(4)?;
    Ok(Citation {
        document: DocumentId(row.get(0)?),
        uri: row.get(1)?,
        title: row.get(2)?,
        start,
        end: start + quote.len(),
        line: row.get::<_, i64>(5)? as usize,
        quote,
    })
}
