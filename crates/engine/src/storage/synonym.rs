//! Vectors of names, and the synonyms found by them.

use rusqlite::{Connection, params};

use super::embedding::{bytes_of, floats_at};
use crate::Result;
use crate::text::name_key;
use crate::types::EntityId;

/// Up to `limit` current entities above `after` whose names have no vector in the space, by row id.
pub(crate) fn names_without_vector(
    connection: &Connection,
    namespace: i64,
    space: i64,
    after: EntityId,
    limit: usize,
) -> Result<Vec<(EntityId, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.name FROM entity e
         WHERE e.id > ?1 AND e.namespace = ?2 AND e.retracted_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM name_embedding n WHERE n.space = ?3 AND n.entity = e.id)
         ORDER BY e.id LIMIT ?4",
    )?;
    let rows = statement.query_map(params![after.0, namespace, space, limit as i64], |row| {
        Ok((EntityId(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn insert_name_vectors(
    connection: &Connection,
    space: i64,
    vectors: &[(EntityId, Vec<f32>)],
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO name_embedding (space, entity, vector) SELECT ?1, id, ?3 FROM entity WHERE id = ?2",
    )?;
    for (entity, vector) in vectors {
        statement.execute(params![space, entity.0, bytes_of(vector)])?;
    }
    Ok(())
}

/// The vectors of current names, by entity, each with whether its synonyms have been looked for.
pub(crate) fn name_vectors(
    connection: &Connection,
    space: i64,
) -> Result<Vec<(EntityId, Vec<f32>, bool)>> {
    let mut statement = connection.prepare_cached(
        "SELECT n.entity, n.vector, n.is_joined FROM name_embedding n JOIN entity e ON e.id = n.entity
         WHERE n.space = ?1 AND e.retracted_at IS NULL ORDER BY n.entity",
    )?;
    let rows = statement.query_map([space], |row| {
        Ok((EntityId(row.get(0)?), floats_at(row, 1)?, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Stores what lies near an entity's name, in both directions.
pub(crate) fn insert_synonyms(
    connection: &Connection,
    space: i64,
    entity: EntityId,
    near: &[(EntityId, f64)],
) -> Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT OR REPLACE INTO synonym VALUES (?1, ?2, ?3, ?4)")?;
    for &(other, cosine) in near {
        insert.execute(params![space, entity.0, other.0, cosine])?;
        insert.execute(params![space, other.0, entity.0, cosine])?;
    }
    connection
        .prepare_cached("UPDATE name_embedding SET is_joined = 1 WHERE space = ?1 AND entity = ?2")?
        .execute([space, entity.0])?;
    Ok(())
}

/// Forgets the vectors of an entity's name and what lies near them: the name is another one, or gone. One that
/// returns is compared anew.
pub(super) fn delete_name_vectors(connection: &Connection, entity: EntityId) -> Result<()> {
    for sql in [
        "DELETE FROM synonym WHERE (space, entity, other) IN (SELECT space, other, entity FROM synonym
             WHERE space IN (SELECT id FROM embedding_space) AND entity = ?1)",
        "DELETE FROM synonym WHERE space IN (SELECT id FROM embedding_space) AND entity = ?1",
        "DELETE FROM name_embedding WHERE space IN (SELECT id FROM embedding_space) AND entity = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([entity.0])?;
    }
    Ok(())
}

/// Every pair of a space, by the first.
pub(crate) fn synonyms(
    connection: &Connection,
    space: i64,
) -> Result<Vec<(EntityId, EntityId, f64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT entity, other, cosine FROM synonym WHERE space = ?1 ORDER BY entity, other",
    )?;
    let rows = statement.query_map([space], |row| {
        Ok((EntityId(row.get(0)?), EntityId(row.get(1)?), row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Pairs of keys of current names that have at least this cosine in the space that is searched, each pair once.
pub(crate) fn near_names(
    connection: &Connection,
    namespace: i64,
    least: f64,
) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT a.name, b.name FROM embedding_space p JOIN synonym s ON s.space = p.id
         JOIN entity a ON a.id = s.entity JOIN entity b ON b.id = s.other
         WHERE p.namespace = ?1 AND p.state = 'active' AND s.cosine >= ?2 AND a.id < b.id
             AND a.retracted_at IS NULL AND b.retracted_at IS NULL",
    )?;
    let rows = statement.query_map(params![namespace, least], |row| {
        let (one, other): (String, String) = (row.get(0)?, row.get(1)?);
        Ok((name_key(&one), name_key(&other)))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
