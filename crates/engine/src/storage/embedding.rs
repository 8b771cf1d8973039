//! Vectors of chunks, and the spaces they live in.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::language_model::EmbeddingSpace;
use crate::types::{ChunkId, Timestamp};

/// Whether a space is searched or still being filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpaceState {
    Active,
    Building,
}

impl SpaceState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Building => "building",
        }
    }
}

/// A space of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSpace {
    pub id: i64,
    pub space: EmbeddingSpace,
    pub generation: u64,
}

/// What a vector is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassageRow {
    pub chunk: ChunkId,
    pub uri: String,
    pub line: usize,
    pub title: String,
    pub heading_path: Vec<String>,
    pub text: String,
}

/// The space of a namespace in this state.
pub(crate) fn space(
    connection: &Connection,
    namespace: i64,
    state: SpaceState,
) -> Result<Option<StoredSpace>> {
    Ok(connection
        .prepare_cached(
            "SELECT id, model, dimensions, query_prefix, passage_prefix, pooling, is_normalized, generation
             FROM embedding_space WHERE namespace = ?1 AND state = ?2",
        )?
        .query_row(params![namespace, state.as_str()], |row| {
            Ok(StoredSpace {
                id: row.get(0)?,
                space: EmbeddingSpace {
                    model: row.get(1)?,
                    dimensions: row.get::<_, i64>(2)? as usize,
                    query_prefix: row.get(3)?,
                    passage_prefix: row.get(4)?,
                    pooling: row.get(5)?,
                    is_normalized: row.get(6)?,
                },
                generation: row.get::<_, i64>(7)? as u64,
            })
        })
        .optional()?)
}

/// Adds an empty space.
pub(crate) fn insert_space(
    connection: &Connection,
    namespace: i64,
    space: &EmbeddingSpace,
    state: SpaceState,
    now: Timestamp,
) -> Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO embedding_space (namespace, model, dimensions, query_prefix, passage_prefix, pooling,
                 is_normalized, state, generation, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, random() & 0x3fffffff, ?9)",
        )?
        .execute(params![
            namespace,
            space.model,
            space.dimensions as i64,
            space.query_prefix,
            space.passage_prefix,
            space.pooling,
            space.is_normalized,
            state.as_str(),
            now.0
        ])?;
    Ok(connection.last_insert_rowid())
}

/// Deletes a space with its vectors.
pub(crate) fn delete_space(connection: &Connection, space: i64) -> Result<()> {
    for sql in [
        "DELETE FROM embedding WHERE space = ?1",
        "DELETE FROM embedding_failure WHERE space = ?1",
        "DELETE FROM synonym WHERE space = ?1",
        "DELETE FROM name_embedding WHERE space = ?1",
        "DELETE FROM embedding_space WHERE id = ?1",
    ] {
        connection.execute(sql, [space])?;
    }
    Ok(())
}

/// Makes a space that was being filled the one that is searched.
pub(crate) fn activate_space(connection: &Connection, space: i64) -> Result<()> {
    connection.execute(
        "UPDATE embedding_space SET state = 'active' WHERE id = ?1",
        [space],
    )?;
    Ok(())
}

/// Up to `limit` current chunks above `after` that have no vector in the space, by row id.
pub(crate) fn passages_without_vector(
    connection: &Connection,
    namespace: i64,
    space: i64,
    after: ChunkId,
    limit: usize,
) -> Result<Vec<PassageRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id, d.uri, c.line, d.title, c.heading_path, c.text
         FROM chunk c JOIN document d ON d.id = c.document
         WHERE c.id > ?1 AND c.retracted_at IS NULL AND d.namespace = ?2
           AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = ?3 AND e.chunk = c.id)
         ORDER BY c.id LIMIT ?4",
    )?;
    let rows = statement.query_map(params![after.0, namespace, space, limit as i64], |row| {
        let heading_path: String = row.get(4)?;
        Ok(PassageRow {
            chunk: ChunkId(row.get(0)?),
            uri: row.get(1)?,
            line: row.get::<_, i64>(2)? as usize,
            title: row.get(3)?,
            heading_path: serde_json::from_str(&heading_path).unwrap_or_default(),
            text: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many current chunks have no vector in the space.
pub(crate) fn count_without_vector(
    connection: &Connection,
    namespace: i64,
    space: i64,
) -> Result<usize> {
    let count: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document
             WHERE c.retracted_at IS NULL AND d.namespace = ?1
               AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = ?2 AND e.chunk = c.id)",
        )?
        .query_row([namespace, space], |row| row.get(0))?;
    Ok(count as usize)
}

/// Stores vectors of chunks that are still current, and forgets that they failed before.
pub(crate) fn insert_vectors(
    connection: &Connection,
    space: i64,
    vectors: &[(ChunkId, Vec<f32>)],
) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO embedding (space, chunk, vector)
         SELECT ?1, id, ?3 FROM chunk WHERE id = ?2 AND retracted_at IS NULL",
    )?;
    let mut succeed = connection
        .prepare_cached("DELETE FROM embedding_failure WHERE space = ?1 AND chunk = ?2")?;
    for (chunk, vector) in vectors {
        insert.execute(params![space, chunk.0, bytes_of(vector)])?;
        succeed.execute(params![space, chunk.0])?;
    }
    touch(connection, space)
}

/// Notes that a chunk has no usable vector.
pub(crate) fn insert_failure(
    connection: &Connection,
    space: i64,
    chunk: ChunkId,
    reason: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO embedding_failure (space, chunk, reason)
             SELECT ?1, id, ?3 FROM chunk WHERE id = ?2 AND retracted_at IS NULL",
        )?
        .execute(params![space, chunk.0, reason])?;
    Ok(())
}

/// Marks caches of the space as stale. By a random step, like the store's own generation.
fn touch(connection: &Connection, space: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE embedding_space SET generation = generation + 1 + (random() & 0x3fffffff) WHERE id = ?1",
        )?
        .execute([space])?;
    Ok(())
}

/// Takes a chunk's vectors out of every space.
pub(super) fn delete_vectors(connection: &Connection, chunk: ChunkId) -> Result<()> {
    for sql in [
        "DELETE FROM embedding WHERE chunk = ?1 AND space IN (SELECT id FROM embedding_space)",
        "DELETE FROM embedding_failure WHERE chunk = ?1 AND space IN (SELECT id FROM embedding_space)",
    ] {
        connection.prepare_cached(sql)?.execute([chunk.0])?;
    }
    Ok(())
}

/// Every vector of a space, by chunk.
pub(crate) fn for_each_vector(
    connection: &Connection,
    space: i64,
    mut each: impl FnMut(i64, Vec<f32>),
) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT chunk, vector FROM embedding WHERE space = ?1 ORDER BY chunk")?;
    let mut rows = statement.query([space])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, floats_at(row, 1)?);
    }
    Ok(())
}

/// A vector as it is stored.
pub(super) fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub(super) fn floats_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<f32>> {
    let bytes = row.get_ref(column)?.as_blob()?;
    Ok(bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect())
}

/// Counts for `stats`: vectors, and chunks that have none because the model failed on them.
pub(crate) fn count_vectors(connection: &Connection, space: i64) -> Result<(usize, usize)> {
    let count = |sql: &str| -> Result<usize> {
        let count: i64 = connection.query_row(sql, [space], |row| row.get(0))?;
        Ok(count as usize)
    };
    Ok((
        count("SELECT count(*) FROM embedding WHERE space = ?1")?,
        count("SELECT count(*) FROM embedding_failure WHERE space = ?1")?,
    ))
}
