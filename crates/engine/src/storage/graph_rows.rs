//! The rows a graph is built from.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::types::{
    ChunkId, DocumentId, EntityId, EntityKind, Mention, MentionHow, RelationId, RelationTypeId,
    Timestamp,
};

/// Entities that are current, or that closed relations of the past connect.
const IN_GRAPH: &str =
    "(retracted_at IS NULL OR EXISTS (SELECT 1 FROM relation WHERE source = entity.id)
    OR EXISTS (SELECT 1 FROM relation WHERE target = entity.id))";

/// The columns of [`StoredRelation`]. A hand-made link that its note no longer has held until then, and that
/// stays known: only what is stated of the world is retracted.
const RELATION: &str = "id, source, target, type, weight, valid_from, valid_to, recorded_at,
    iif(origin = 'link', NULL, retracted_at)";

/// A relation version with its four times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredRelation {
    pub id: RelationId,
    pub source: EntityId,
    pub target: EntityId,
    pub kind: RelationTypeId,
    pub weight: f64,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    pub recorded_at: Timestamp,
    pub retracted_at: Option<Timestamp>,
}

/// The entities of a namespace that belong to its graph, by row id.
pub(crate) fn graph_entities(connection: &Connection, namespace: i64) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id FROM entity WHERE namespace = ?1 AND {IN_GRAPH} ORDER BY id"
    ))?;
    let rows = statement.query_map([namespace], |row| Ok(EntityId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The entities that are there now, whatever joins them, by row id; whether each was given directly.
pub(crate) fn current_entities(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(EntityId, bool)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, kind = ?2 FROM entity WHERE namespace = ?1 AND retracted_at IS NULL ORDER BY id",
    )?;
    let given = EntityKind::Concept.as_str();
    let rows = statement.query_map(params![namespace, given], |row| {
        Ok((EntityId(row.get(0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether an entity belongs to its namespace's graph.
pub(crate) fn is_in_graph(connection: &Connection, id: EntityId) -> Result<bool> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT 1 FROM entity WHERE id = ?1 AND {IN_GRAPH}"
        ))?
        .exists([id.0])?)
}

/// The current documents with the entities that stand for them, by row id.
pub(crate) fn graph_documents(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(DocumentId, EntityId)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, entity FROM document WHERE namespace = ?1 AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok((DocumentId(row.get(0)?), EntityId(row.get(1)?)))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The entity of a document; `None` when the document is not current.
pub(crate) fn entity_of_current_document(
    connection: &Connection,
    id: DocumentId,
) -> Result<Option<EntityId>> {
    Ok(connection
        .prepare_cached("SELECT entity FROM document WHERE id = ?1 AND retracted_at IS NULL")?
        .query_row([id.0], |row| Ok(EntityId(row.get(0)?)))
        .optional()?)
}

/// Calls `each` with every relation version of a namespace.
pub(crate) fn for_each_relation(
    connection: &Connection,
    namespace: i64,
    mut each: impl FnMut(&StoredRelation),
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        &format!("SELECT {RELATION} FROM relation WHERE namespace = ?1 ORDER BY source, target, type, version"),
    )?;
    let mut rows = statement.query([namespace])?;
    while let Some(row) = rows.next()? {
        each(&read_relation(row)?);
    }
    Ok(())
}

/// A relation version.
pub(crate) fn stored_relation(
    connection: &Connection,
    id: RelationId,
) -> Result<Option<StoredRelation>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {RELATION} FROM relation WHERE id = ?1"))?
        .query_row([id.0], read_relation)
        .optional()?)
}

fn read_relation(row: &Row<'_>) -> rusqlite::Result<StoredRelation> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    Ok(StoredRelation {
        id: RelationId(row.get(0)?),
        source: EntityId(row.get(1)?),
        target: EntityId(row.get(2)?),
        kind: RelationTypeId(row.get(3)?),
        weight: row.get(4)?,
        valid_from: time(5)?,
        valid_to: time(6)?,
        recorded_at: Timestamp(row.get(7)?),
        retracted_at: time(8)?,
    })
}

/// Calls `each` with every current chunk of a namespace, by row id: document, ordinal, mentions.
pub(crate) fn for_each_chunk(
    connection: &Connection,
    namespace: i64,
    mut each: impl FnMut(ChunkId, DocumentId, u32, &[Mention]),
) -> Result<()> {
    let mut chunks = connection.prepare_cached(
        "SELECT c.id, c.document, c.ordinal FROM chunk c JOIN document d ON d.id = c.document
         WHERE c.retracted_at IS NULL AND d.namespace = ?1 ORDER BY c.id",
    )?;
    let mut mentions = connection
        .prepare_cached("SELECT chunk, start, end, entity, how FROM mention ORDER BY chunk")?;
    let mut mention_rows = mentions.query([])?;
    let mut next = next_mention(&mut mention_rows)?;
    let mut rows = chunks.query([namespace])?;
    let mut of_chunk: Vec<Mention> = Vec::new();
    while let Some(row) = rows.next()? {
        let id = ChunkId(row.get(0)?);
        of_chunk.clear();
        while let Some(mention) = next {
            if mention.chunk > id {
                break;
            }
            if mention.chunk == id {
                of_chunk.push(mention);
            }
            next = next_mention(&mut mention_rows)?;
        }
        let ordinal = row.get::<_, i64>(2)? as u32;
        each(id, DocumentId(row.get(1)?), ordinal, &of_chunk);
    }
    Ok(())
}

/// A chunk's document, ordinal and mentions; `None` when it is not current.
pub(crate) fn graph_chunk(
    connection: &Connection,
    id: ChunkId,
) -> Result<Option<(DocumentId, u32, Vec<Mention>)>> {
    let Some((document, ordinal)) = connection
        .prepare_cached(
            "SELECT document, ordinal FROM chunk WHERE id = ?1 AND retracted_at IS NULL",
        )?
        .query_row([id.0], |row| {
            Ok((DocumentId(row.get(0)?), row.get::<_, i64>(1)? as u32))
        })
        .optional()?
    else {
        return Ok(None);
    };
    let mut statement = connection
        .prepare_cached("SELECT chunk, start, end, entity, how FROM mention WHERE chunk = ?1")?;
    let mentions = statement.query_map(params![id.0], read_mention)?;
    Ok(Some((
        document,
        ordinal,
        mentions.collect::<rusqlite::Result<_>>()?,
    )))
}

fn next_mention(rows: &mut rusqlite::Rows<'_>) -> Result<Option<Mention>> {
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(read_mention(row)?))
}

fn read_mention(row: &Row<'_>) -> rusqlite::Result<Mention> {
    Ok(Mention {
        chunk: ChunkId(row.get(0)?),
        start: row.get(1)?,
        end: row.get(2)?,
        entity: EntityId(row.get(3)?),
        how: MentionHow::parse(row.get_ref(4)?.as_str()?).unwrap_or(MentionHow::Name),
    })
}
