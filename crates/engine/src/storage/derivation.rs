//! What passages were found to say, kept so that it need not be read from replies again.

use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use crate::Result;
use crate::types::DocumentId;

/// What a passage was found to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Derivation {
    /// Over all that it follows from.
    pub fingerprint: Vec<u8>,
    /// As JSON.
    pub found: String,
}

/// All of a namespace, by document and first byte of the passage.
pub(crate) fn derivations(
    connection: &Connection,
    namespace: i64,
) -> Result<FxHashMap<(DocumentId, usize), Derivation>> {
    let mut statement = connection.prepare_cached(
        "SELECT document, start, fingerprint, found FROM derivation WHERE namespace = ?1",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let place = (DocumentId(row.get(0)?), row.get::<_, i64>(1)? as usize);
        let derivation = Derivation {
            fingerprint: row.get(2)?,
            found: row.get(3)?,
        };
        Ok((place, derivation))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Stores what a passage was found to say.
pub(crate) fn save_derivation(
    connection: &Connection,
    namespace: i64,
    (document, start): (DocumentId, usize),
    derivation: &Derivation,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO derivation (namespace, document, start, fingerprint, found)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            namespace,
            document.0,
            start as i64,
            derivation.fingerprint,
            derivation.found
        ])?;
    Ok(())
}

/// Drops what a passage was found to say.
pub(crate) fn delete_derivation(
    connection: &Connection,
    namespace: i64,
    (document, start): (DocumentId, usize),
) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM derivation WHERE namespace = ?1 AND document = ?2 AND start = ?3",
        )?
        .execute(params![namespace, document.0, start as i64])?;
    Ok(())
}
