//! What is written about the nodes and relationships of the graph, for queries that ask for it by name.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::Result;
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId};

/// A value of a column, as `SQLite` holds it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Cell {
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        Ok(match row.get_ref(column)? {
            ValueRef::Null | ValueRef::Blob(_) => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
        })
    }
}

/// Names of the columns that [`entity_cells`] reads.
pub(crate) const ENTITY_CELLS: &[&str] = &["id", "name", "kind", "description", "properties"];
/// Names of the columns that [`relation_cells`] reads.
pub(crate) const RELATION_CELLS: &[&str] = &[
    "id",
    "fact",
    "weight",
    "confidence",
    "origin",
    "valid_from",
    "valid_to",
    "recorded_at",
    "retracted_at",
    "observed_at",
    "properties",
];
/// Names of the columns that [`document_cells`] reads.
pub(crate) const DOCUMENT_CELLS: &[&str] = &[
    "id",
    "uri",
    "title",
    "kind",
    "language",
    "valid_from",
    "observed_at",
    "recorded_at",
];
/// Names of the columns that [`chunk_cells`] reads.
pub(crate) const CHUNK_CELLS: &[&str] = &["id", "text", "ordinal", "line", "heading", "tokens"];
/// Names of the columns that [`community_cells`] reads.
pub(crate) const COMMUNITY_CELLS: &[&str] =
    &["id", "level", "title", "summary", "report", "rating"];

fn cells(connection: &Connection, sql: &str, id: i64, columns: usize) -> Result<Vec<Cell>> {
    Ok(connection.prepare_cached(sql)?.query_row([id], |row| {
        (0..columns).map(|column| Cell::read(row, column)).collect()
    })?)
}

/// Columns of an entity.
pub(crate) fn entity_cells(connection: &Connection, id: EntityId) -> Result<Vec<Cell>> {
    let sql = "SELECT public_id, name, kind, description, properties FROM entity WHERE id = ?1";
    cells(connection, sql, id.0, ENTITY_CELLS.len())
}

/// Name of an entity.
pub(crate) fn entity_name(connection: &Connection, id: EntityId) -> Result<String> {
    Ok(connection
        .prepare_cached("SELECT name FROM entity WHERE id = ?1")?
        .query_row([id.0], |row| row.get(0))?)
}

/// Names of all current entities, by row id.
pub(crate) fn entity_names(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(EntityId, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name FROM entity WHERE namespace = ?1 AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((EntityId(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Columns of a relation version.
pub(crate) fn relation_cells(connection: &Connection, id: RelationId) -> Result<Vec<Cell>> {
    let sql = "SELECT id, fact, weight, confidence, origin, valid_from, valid_to, recorded_at, retracted_at,
            observed_at, properties FROM relation WHERE id = ?1";
    cells(connection, sql, id.0, RELATION_CELLS.len())
}

/// Columns of a document.
pub(crate) fn document_cells(connection: &Connection, id: DocumentId) -> Result<Vec<Cell>> {
    let sql = "SELECT public_id, uri, title, kind, language, valid_from, observed_at, recorded_at
         FROM document WHERE id = ?1";
    cells(connection, sql, id.0, DOCUMENT_CELLS.len())
}

/// Columns of a chunk; its headings are joined, outermost first.
pub(crate) fn chunk_cells(connection: &Connection, id: ChunkId) -> Result<Vec<Cell>> {
    let sql = "SELECT id, text, ordinal, line,
            (SELECT group_concat(value, ' > ') FROM json_each(heading_path)), tokens
         FROM chunk WHERE id = ?1";
    cells(connection, sql, id.0, CHUNK_CELLS.len())
}

/// Columns of a community.
pub(crate) fn community_cells(connection: &Connection, id: i64) -> Result<Vec<Cell>> {
    let sql = "SELECT id, level, title, summary, report, rating FROM community WHERE id = ?1";
    cells(connection, sql, id, COMMUNITY_CELLS.len())
}

/// Row ids of the communities, coarsest level first.
pub(crate) fn community_ids(connection: &Connection, namespace: i64) -> Result<Vec<i64>> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM community WHERE namespace = ?1 ORDER BY level, id")?;
    let rows = statement.query_map([namespace], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Entities with the communities that they belong to, each pair once though it may stand at several levels, by entity
/// and level.
pub(crate) fn memberships(connection: &Connection, namespace: i64) -> Result<Vec<(EntityId, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT m.entity, m.community FROM membership m
         JOIN community c ON c.id = m.community AND c.namespace = ?1
         GROUP BY m.entity, m.community ORDER BY m.entity, min(m.level)",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((EntityId(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Types of the current entities, each pair once, by type and entity.
pub(crate) fn typed_entities(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(String, EntityId)>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT t.type, t.entity FROM entity_type t
         JOIN entity e ON e.id = t.entity AND e.namespace = ?1 AND e.retracted_at IS NULL
         ORDER BY t.type, t.entity",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((row.get(0)?, EntityId(row.get(1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Names of the relation types, by row id.
pub(crate) fn relation_type_names(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(RelationTypeId, String)>> {
    let mut statement = connection
        .prepare_cached("SELECT id, name FROM relation_type WHERE namespace = ?1 ORDER BY id")?;
    let rows = statement.query_map([namespace], |row| {
        Ok((RelationTypeId(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Names of the properties that entities and relations were given, sorted.
pub(crate) fn given_properties(connection: &Connection, namespace: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        // What a model said stands apart, in `extracted`.
        "SELECT DISTINCT j.key FROM entity e, json_each(e.properties) j
             WHERE e.namespace = ?1 AND e.retracted_at IS NULL AND json_type(e.properties) = 'object'
                 AND j.key <> 'extracted'
         UNION SELECT DISTINCT j.key FROM entity e, json_each(e.properties, '$.extracted.properties') j
             WHERE e.namespace = ?1 AND e.retracted_at IS NULL
                 AND json_type(e.properties, '$.extracted.properties') = 'object'
         UNION SELECT DISTINCT j.key FROM relation r, json_each(r.properties) j
             WHERE r.namespace = ?1 AND json_type(r.properties) = 'object'
         ORDER BY 1",
    )?;
    let rows = statement.query_map(params![namespace], |row| row.get::<_, Option<String>>(0))?;
    let names = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(names.into_iter().flatten().collect())
}
