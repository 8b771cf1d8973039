//! Relations, their types and their evidence.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId, Timestamp};

/// Where a relation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A link of a note.
    Link,
    /// A line of a file of facts.
    Import,
    /// Said by a person or an agent.
    Stated,
    /// A model found it in a passage.
    Llm,
}

impl Origin {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Import => "import",
            Self::Stated => "stated",
            Self::Llm => "llm",
        }
    }
}

/// A current relation as runs compare it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelationRow {
    pub id: RelationId,
    pub target: EntityId,
    pub kind: RelationTypeId,
    pub weight: f64,
    pub valid_from: Option<Timestamp>,
    pub valid_from_written: Option<String>,
    pub recorded_at: Timestamp,
}

/// A passage that states a relation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EvidenceRow {
    pub document: DocumentId,
    pub start: usize,
    pub end: usize,
    pub chunk: Option<ChunkId>,
    pub quote: String,
}

/// The row id of a relation type, which keeps the first spelling it was seen in.
pub(crate) fn relation_type_id(
    connection: &Connection,
    namespace: i64,
    key: &str,
    name: &str,
) -> Result<RelationTypeId> {
    if let Some(id) = connection
        .prepare_cached("SELECT id FROM relation_type WHERE namespace = ?1 AND key = ?2")?
        .query_row(params![namespace, key], |row| row.get(0))
        .optional()?
    {
        return Ok(RelationTypeId(id));
    }
    connection
        .prepare_cached("INSERT INTO relation_type (namespace, key, name) VALUES (?1, ?2, ?3)")?
        .execute(params![namespace, key, name])?;
    Ok(RelationTypeId(connection.last_insert_rowid()))
}

/// The current relations that start at an entity and have this origin, by target and type.
pub(crate) fn current_relations(
    connection: &Connection,
    source: EntityId,
    origin: Origin,
) -> Result<Vec<RelationRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, target, type, weight, valid_from, valid_from_written, recorded_at FROM relation
         WHERE source = ?1 AND origin = ?2 AND retracted_at IS NULL ORDER BY target, type",
    )?;
    let rows = statement.query_map(params![source.0, origin.as_str()], |row| {
        Ok(RelationRow {
            id: RelationId(row.get(0)?),
            target: EntityId(row.get(1)?),
            kind: RelationTypeId(row.get(2)?),
            weight: row.get(3)?,
            valid_from: row.get::<_, Option<i64>>(4)?.map(Timestamp),
            valid_from_written: row.get(5)?,
            recorded_at: Timestamp(row.get(6)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What a new relation window holds.
#[derive(Debug, Clone)]
pub(crate) struct RelationValues<'a> {
    /// Above all others: see [`next_relation_id`].
    pub id: RelationId,
    pub namespace: i64,
    pub source: EntityId,
    pub target: EntityId,
    pub kind: RelationTypeId,
    pub weight: f64,
    pub valid_from: Timestamp,
    pub valid_from_written: Option<&'a str>,
    pub observed_at: Option<Timestamp>,
    pub origin: Origin,
}

/// Opens a window of a relation: version 1, or one more than the last closed one.
pub(crate) fn insert_relation(
    connection: &Connection,
    values: &RelationValues<'_>,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO relation (source, target, type, version, id, namespace, weight, valid_from,
                 valid_from_written, recorded_at, observed_at, origin)
             VALUES (?1, ?2, ?3,
                 (SELECT coalesce(max(version), 0) + 1 FROM relation WHERE source = ?1 AND target = ?2 AND type = ?3),
                 ?11, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(
            params![
                values.source.0,
                values.target.0,
                values.kind.0,
                values.namespace,
                values.weight,
                values.valid_from.0,
                values.valid_from_written,
                now.0,
                values.observed_at.map(|at| at.0),
                values.origin.as_str(),
                values.id.0,
            ],
        )?;
    Ok(())
}

/// The smallest row id above those of all relations.
pub(crate) fn next_relation_id(connection: &Connection) -> Result<RelationId> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM relation")?
        .query_row([], |row| row.get(0).map(RelationId))?)
}

/// Updates weight and stated start of a current relation.
pub(crate) fn update_relation(
    connection: &Connection,
    id: RelationId,
    weight: f64,
    valid_from: Option<(Timestamp, Option<&str>)>,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE relation SET weight = ?2 WHERE id = ?1")?
        .execute(params![id.0, weight])?;
    if let Some((at, written)) = valid_from {
        connection
            .prepare_cached(
                "UPDATE relation SET valid_from = ?2, valid_from_written = ?3 WHERE id = ?1",
            )?
            .execute(params![id.0, at.0, written])?;
    }
    Ok(())
}

/// Closes a hand-made relation: it is no longer stated, so it holds until now.
pub(crate) fn close_relation(
    connection: &Connection,
    id: RelationId,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE relation SET retracted_at = ?2, valid_to = coalesce(valid_to, max(?2, coalesce(valid_from, ?2)))
             WHERE id = ?1",
        )?
        .execute(params![id.0, now.0])?;
    connection
        .prepare_cached(
            "UPDATE evidence SET retracted_at = ?2 WHERE relation = ?1 AND retracted_at IS NULL",
        )?
        .execute(params![id.0, now.0])?;
    Ok(())
}

/// Entities at which current hand-made relations start, by row id.
pub(crate) fn linked_sources(connection: &Connection, namespace: i64) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT source FROM relation
         WHERE namespace = ?1 AND origin = 'link' AND retracted_at IS NULL ORDER BY source",
    )?;
    let rows = statement.query_map([namespace], |row| Ok(EntityId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Replaces the evidence of a current relation; a new one has none to replace.
pub(crate) fn save_evidence(
    connection: &Connection,
    relation: RelationId,
    rows: &[EvidenceRow],
    is_new: bool,
) -> Result<()> {
    if !is_new {
        connection
            .prepare_cached("DELETE FROM evidence WHERE relation = ?1")?
            .execute([relation.0])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO evidence (relation, document, start, end, chunk, quote) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for row in rows {
        insert.execute(params![
            relation.0,
            row.document.0,
            row.start as i64,
            row.end as i64,
            row.chunk.map(|chunk| chunk.0),
            row.quote
        ])?;
    }
    Ok(())
}
