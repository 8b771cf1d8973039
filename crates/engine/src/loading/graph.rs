use rusqlite::Connection;

use crate::Result;
use crate::graph::{
    ChunkRow, Dangling, DocumentRow, Graph, GraphBuilder, GraphDelta, RelationRow, Window,
};
use crate::storage::{self, StoredRelation};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId};

/// Builds the graph of a namespace from nothing.
pub(crate) fn build_graph(
    connection: &Connection,
    namespace: i64,
    generation: u64,
) -> Result<Graph> {
    let entities = storage::graph_entities(connection, namespace)?;
    let documents = storage::graph_documents(connection, namespace)?
        .into_iter()
        .map(|(id, entity)| DocumentRow {
            id,
            title: Some(entity),
        })
        .collect();
    let mut builder = GraphBuilder::new(generation, entities, documents);
    storage::for_each_relation(connection, namespace, |relation| {
        builder.relation(&relation_row(relation));
    })?;
    storage::for_each_chunk(connection, namespace, |id, document, ordinal, mentions| {
        builder.chunk(&ChunkRow::new(id, document, ordinal, mentions));
    })?;
    let (graph, dangling) = builder.build();
    if dangling != Dangling::default() {
        tracing::debug!(
            ?dangling,
            "rows that point to what is not current were left out of the graph"
        );
    }
    Ok(graph)
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
    for id in entities {
        if storage::is_in_graph(connection, id)? {
            delta.entities.push(id);
        } else {
            delta.removed_entities.push(id);
        }
    }
    for id in documents {
        match storage::entity_of_current_document(connection, id)? {
            Some(title) => delta.documents.push(DocumentRow {
                id,
                title: Some(title),
            }),
            None => delta.removed_documents.push(id),
        }
    }
    for id in chunks {
        match storage::graph_chunk(connection, id)? {
            Some((document, ordinal, mentions)) => {
                delta
                    .chunks
                    .push(ChunkRow::new(id, document, ordinal, &mentions));
            }
            None => delta.removed_chunks.push(id),
        }
    }
    for id in relations {
        match storage::stored_relation(connection, id)? {
            Some(relation) => delta.relations.push(relation_row(&relation)),
            None => delta.removed_relations.push(id),
        }
    }
    Ok(())
}

fn relation_row(relation: &StoredRelation) -> RelationRow {
    RelationRow {
        id: relation.id,
        source: relation.source,
        target: relation.target,
        relation_type: relation.kind,
        weight: relation.weight as f32,
        window: Window::new(
            relation.valid_from,
            relation.valid_to,
            relation.recorded_at,
            relation.retracted_at,
        ),
    }
}
