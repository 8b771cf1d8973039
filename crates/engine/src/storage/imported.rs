//! What other programs found in documents.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::DocumentId;

/// Keeps what another program found in a document, instead of what it found before.
pub(crate) fn save_imported(
    connection: &Connection,
    namespace: i64,
    document: DocumentId,
    format: &str,
    reply: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO imported (namespace, document, format, content_hash, reply)
             SELECT ?1, ?2, ?3, content_hash, ?4 FROM document WHERE id = ?2",
        )?
        .execute(params![namespace, document.0, format, reply])?;
    Ok(())
}

/// What was found in the documents as they are now, by document.
pub(crate) fn imported(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(DocumentId, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT i.document, i.reply FROM imported i JOIN document d ON d.id = i.document
         WHERE i.namespace = ?1 AND d.retracted_at IS NULL AND d.content_hash = i.content_hash
         ORDER BY i.document, i.format",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok((DocumentId(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether anything was imported.
pub(crate) fn has_imported(connection: &Connection, namespace: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM imported WHERE namespace = ?1")?
        .exists([namespace])?)
}

/// The current document at a uri, or the only one whose uri ends with it.
pub(crate) fn document_named(
    connection: &Connection,
    namespace: i64,
    uri: &str,
) -> Result<Option<DocumentId>> {
    let exact: Option<i64> = connection
        .prepare_cached(
            "SELECT id FROM document WHERE namespace = ?1 AND uri = ?2 AND retracted_at IS NULL",
        )?
        .query_row(params![namespace, uri], |row| row.get(0))
        .optional()?;
    if let Some(id) = exact {
        return Ok(Some(DocumentId(id)));
    }
    let mut statement = connection.prepare_cached(
        "SELECT id FROM document WHERE namespace = ?1 AND retracted_at IS NULL
             AND substr(uri, -length(?2) - 1) IN ('/' || ?2, '#' || ?2) LIMIT 2",
    )?;
    let found: Vec<i64> = statement
        .query_map(params![namespace, uri], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(match found[..] {
        [id] => Some(DocumentId(id)),
        _ => None,
    })
}
