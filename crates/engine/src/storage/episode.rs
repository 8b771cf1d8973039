//! Sessions and their episodes.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::{ChunkId, DocumentId, EntityId, Timestamp};

/// What an episode is besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpisodeValues<'a> {
    pub(crate) session: i64,
    pub(crate) ordinal: i64,
    pub(crate) speaker: Option<EntityId>,
    pub(crate) said_at: Timestamp,
    pub(crate) said_at_written: Option<&'a str>,
}

/// The row id of a session, made if it is not there.
pub(crate) fn ensure_session(connection: &Connection, namespace: i64, name: &str) -> Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO session (namespace, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute(params![namespace, name])?;
    Ok(connection
        .prepare_cached("SELECT id FROM session WHERE namespace = ?1 AND name = ?2")?
        .query_row(params![namespace, name], |row| row.get(0))?)
}

/// The place after the last episode of a session, from 1.
pub(crate) fn next_ordinal(connection: &Connection, namespace: i64, session: &str) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(max(e.ordinal), 0) + 1 FROM episode e JOIN session s ON s.id = e.session
             WHERE s.namespace = ?1 AND s.name = ?2",
        )?
        .query_row(params![namespace, session], |row| row.get(0))?)
}

/// Records what an episode is; one that is replaced keeps its place.
pub(crate) fn save_episode(
    connection: &Connection,
    document: DocumentId,
    values: &EpisodeValues<'_>,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO episode (document, session, ordinal, speaker, said_at, said_at_written)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (document) DO UPDATE SET speaker = excluded.speaker, said_at = excluded.said_at,
                 said_at_written = excluded.said_at_written",
        )?
        .execute(params![
            document.0,
            values.session,
            values.ordinal,
            values.speaker.map(|id| id.0),
            values.said_at.0,
            values.said_at_written
        ])?;
    Ok(())
}

/// When an episode was said, as written or in UTC; the stated date of another document.
pub(crate) fn said_at(connection: &Connection, document: DocumentId) -> Result<Option<String>> {
    let found: Option<(Option<String>, Option<i64>)> = connection
        .prepare_cached(
            "SELECT coalesce(e.said_at_written, d.valid_from_written), coalesce(e.said_at, d.valid_from)
             FROM document d LEFT JOIN episode e ON e.document = d.id WHERE d.id = ?1",
        )?
        .query_row([document.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found.and_then(|(written, at)| written.or(at.map(|at| Timestamp(at).to_string()))))
}

/// A passage of an episode, as the ranking of conversations sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) session: i64,
    pub(crate) ordinal: i64,
    pub(crate) speaker: Option<EntityId>,
}

/// The turns of the current episodes of a namespace, by passage.
pub(crate) fn turns(connection: &Connection, namespace: i64) -> Result<Vec<(ChunkId, Turn)>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id, e.session, e.ordinal, e.speaker FROM episode e
         JOIN document d ON d.id = e.document AND d.retracted_at IS NULL AND d.namespace = ?1
         JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL ORDER BY c.id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let turn = Turn {
            session: row.get(1)?,
            ordinal: row.get(2)?,
            speaker: row.get::<_, Option<i64>>(3)?.map(EntityId),
        };
        Ok((ChunkId(row.get(0)?), turn))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
