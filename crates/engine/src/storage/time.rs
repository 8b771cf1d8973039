//! What the store held at another moment.

use rusqlite::{Connection, Row, params};
use rustc_hash::FxHashSet;

use crate::Result;
use crate::types::{ChunkId, EntityId, RelationId, RelationTimes, Timestamp};

/// Current passages that a question about another moment may not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) chunks: FxHashSet<ChunkId>,
    /// Passages that were current then and have been replaced since: the search index no longer has them.
    pub(crate) replaced: usize,
}

/// Passages recorded after `known`, and those of documents that are dated after `valid`.
pub(crate) fn hidden_chunks(
    connection: &Connection,
    namespace: i64,
    valid: Timestamp,
    known: Timestamp,
) -> Result<Hidden> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id FROM chunk c JOIN document d ON d.id = c.document
         WHERE d.namespace = ?1 AND c.retracted_at IS NULL AND (c.recorded_at > ?3 OR d.valid_from > ?2)",
    )?;
    let chunks = statement.query_map(params![namespace, valid.0, known.0], |row| {
        row.get(0).map(ChunkId)
    })?;
    let replaced: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document
             WHERE d.namespace = ?1 AND c.recorded_at <= ?3 AND c.retracted_at > ?3
                 AND coalesce(d.valid_from, ?2) <= ?2",
        )?
        .query_row(params![namespace, valid.0, known.0], |row| row.get(0))?;
    Ok(Hidden {
        chunks: chunks.collect::<rusqlite::Result<_>>()?,
        replaced: replaced as usize,
    })
}

/// What a relation version says besides its end points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelationDetail {
    pub(crate) fact: Option<String>,
    pub(crate) confidence: f64,
    pub(crate) times: RelationTimes,
    /// What ended it, as a sentence.
    pub(crate) ended_by: Option<String>,
}

/// The detail of a relation version.
pub(crate) fn relation_detail(connection: &Connection, id: RelationId) -> Result<RelationDetail> {
    Ok(connection
        .prepare_cached(
            "SELECT r.fact, r.confidence, r.valid_from, r.valid_from_written, r.valid_to, r.valid_to_written,
                    r.recorded_at, r.retracted_at, r.observed_at,
                    (SELECT coalesce(s.fact, a.name || ' ' || t.name || ' ' || b.name) FROM relation s
                     JOIN entity a ON a.id = s.source JOIN entity b ON b.id = s.target
                     JOIN relation_type t ON t.id = s.type WHERE s.id = r.superseded_by)
             FROM relation r WHERE r.id = ?1",
        )?
        .query_row([id.0], |row| {
            Ok(RelationDetail {
                fact: row.get(0)?,
                confidence: row.get(1)?,
                times: RelationTimes {
                    valid_from: moment(row, 2)?,
                    valid_from_written: row.get(3)?,
                    valid_to: moment(row, 4)?,
                    valid_to_written: row.get(5)?,
                    recorded_at: Timestamp(row.get(6)?).to_string(),
                    retracted_at: moment(row, 7)?,
                    observed_at: moment(row, 8)?,
                },
                ended_by: row.get(9)?,
            })
        })?)
}

/// The confidence in a relation version, and when its source was last seen to be fresh: when it was recorded, where
/// nothing else is known.
pub(crate) fn confidence_of(connection: &Connection, id: RelationId) -> Result<(f64, Timestamp)> {
    Ok(connection
        .prepare_cached(
            "SELECT confidence, coalesce(observed_at, recorded_at) FROM relation WHERE id = ?1",
        )?
        .query_row([id.0], |row| Ok((row.get(0)?, Timestamp(row.get(1)?))))?)
}

pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let at: Option<i64> = row.get(column)?;
    Ok(at.map(|at| Timestamp(at).to_string()))
}

/// Entities of this name or public id that are no longer current, by row id: what a question about the past
/// may still name.
pub(crate) fn past_entities(
    connection: &Connection,
    namespace: i64,
    name: &str,
    folded: &str,
) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM entity WHERE namespace = ?1 AND retracted_at IS NOT NULL
             AND (public_id = ?2 OR name = ?2 OR key = ?3) ORDER BY id",
    )?;
    let rows = statement.query_map(params![namespace, name, folded], |row| {
        row.get(0).map(EntityId)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
