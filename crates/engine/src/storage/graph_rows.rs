//! The rows a graph is built from.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::graph::{ChunkRow, DocumentRow, Graph, GraphBuilder, GraphDelta, RelationRow, Window};
use crate::types::{
    ChunkId, DocumentId, EntityId, Mention, MentionHow, RelationId, RelationTypeId, Timestamp,
};

/// Entities that are current, or that closed relations of the past connect.
const IN_GRAPH: &str =
    "(retracted_at IS NULL OR EXISTS (SELECT 1 FROM relation WHERE source = entity.id)
    OR EXISTS (SELECT 1 FROM relation WHERE target = entity.id))";

/// Builds the graph of a namespace from nothing.
pub(crate) fn build_graph(
    connection: &Connection,
    namespace: i64,
    generation: u64,
) -> Result<Graph> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id FROM entity WHERE namespace = ?1 AND {IN_GRAPH} ORDER BY id"
    ))?;
    let entities = statement
        .query_map([namespace], |row| Ok(EntityId(row.get(0)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT id, entity FROM document WHERE namespace = ?1 AND retracted_at IS NULL ORDER BY id",
    )?;
    let documents = statement
        .query_map([namespace], |row| {
            Ok(DocumentRow {
                id: DocumentId(row.get(0)?),
                title: Some(EntityId(row.get(1)?)),
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut builder = GraphBuilder::new(generation, entities, documents);
    add_relations(connection, namespace, &mut builder)?;
    add_chunks(connection, namespace, &mut builder)?;
    let (graph, dangling) = builder.build();
    if dangling != crate::graph::Dangling::default() {
        tracing::debug!(
            ?dangling,
            "rows that point to what is not current were left out of the graph"
        );
    }
    Ok(graph)
}

fn add_relations(
    connection: &Connection,
    namespace: i64,
    builder: &mut GraphBuilder,
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT id, source, target, type, weight, valid_from, valid_to, recorded_at, retracted_at
         FROM relation WHERE namespace = ?1 ORDER BY source, target, type, version",
    )?;
    let mut rows = statement.query([namespace])?;
    while let Some(row) = rows.next()? {
        builder.relation(&relation_row(row)?);
    }
    Ok(())
}

fn relation_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<RelationRow> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    Ok(RelationRow {
        id: RelationId(row.get(0)?),
        source: EntityId(row.get(1)?),
        target: EntityId(row.get(2)?),
        relation_type: RelationTypeId(row.get(3)?),
        weight: row.get::<_, f64>(4)? as f32,
        window: Window::new(time(5)?, time(6)?, Timestamp(row.get(7)?), time(8)?),
    })
}

fn add_chunks(connection: &Connection, namespace: i64, builder: &mut GraphBuilder) -> Result<()> {
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
        let document = DocumentId(row.get(1)?);
        let ordinal = row.get::<_, i64>(2)? as u32;
        builder.chunk(&ChunkRow::new(id, document, ordinal, &of_chunk));
    }
    Ok(())
}

fn next_mention(rows: &mut rusqlite::Rows<'_>) -> Result<Option<Mention>> {
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(read_mention(row)?))
}

fn read_mention(row: &rusqlite::Row<'_>) -> rusqlite::Result<Mention> {
    Ok(Mention {
        chunk: ChunkId(row.get(0)?),
        start: row.get(1)?,
        end: row.get(2)?,
        entity: EntityId(row.get(3)?),
        how: MentionHow::parse(row.get_ref(4)?.as_str()?).unwrap_or(MentionHow::Name),
    })
}

/// Fills a delta with the present rows of these ids, and with the ids of those that are not current any more.
pub(crate) fn fill_delta(
    connection: &Connection,
    delta: &mut GraphDelta,
    entities: impl Iterator<Item = EntityId>,
    documents: impl Iterator<Item = DocumentId>,
    chunks: impl Iterator<Item = ChunkId>,
    relations: impl Iterator<Item = RelationId>,
) -> Result<()> {
    let mut is_current = connection.prepare_cached(&format!(
        "SELECT 1 FROM entity WHERE id = ?1 AND {IN_GRAPH}"
    ))?;
    for id in entities {
        if is_current.exists([id.0])? {
            delta.entities.push(id);
        } else {
            delta.removed_entities.push(id);
        }
    }
    let mut title = connection
        .prepare_cached("SELECT entity FROM document WHERE id = ?1 AND retracted_at IS NULL")?;
    for id in documents {
        match title
            .query_row([id.0], |row| Ok(EntityId(row.get(0)?)))
            .optional()?
        {
            Some(title) => delta.documents.push(DocumentRow {
                id,
                title: Some(title),
            }),
            None => delta.removed_documents.push(id),
        }
    }
    for id in chunks {
        match graph_chunk(connection, id)? {
            Some(row) => delta.chunks.push(row),
            None => delta.removed_chunks.push(id),
        }
    }
    let mut relation = connection.prepare_cached(
        "SELECT id, source, target, type, weight, valid_from, valid_to, recorded_at, retracted_at
         FROM relation WHERE id = ?1",
    )?;
    for id in relations {
        match relation.query_row([id.0], relation_row).optional()? {
            Some(row) => delta.relations.push(row),
            None => delta.removed_relations.push(id),
        }
    }
    Ok(())
}

/// A current chunk as a graph row; `None` when it is not current.
fn graph_chunk(connection: &Connection, id: ChunkId) -> Result<Option<ChunkRow>> {
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
    let mentions = statement
        .query_map(params![id.0], read_mention)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Some(ChunkRow::new(id, document, ordinal, &mentions)))
}
