//! Facts that join two entities.

use rusqlite::{Connection, OptionalExtension};

use crate::Result;
use crate::types::{EntityId, RelationId, RelationTypeId};

/// A current fact that joins two entities, with the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JoiningFact {
    pub(crate) id: RelationId,
    pub(crate) kind: RelationTypeId,
    pub(crate) relation: String,
    pub(crate) sentence: Option<String>,
}

/// The current facts from one entity to another, by row id; hand-made links are no facts.
pub(crate) fn facts_between(
    connection: &Connection,
    source: EntityId,
    target: EntityId,
) -> Result<Vec<JoiningFact>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.type, t.name, r.fact FROM relation r JOIN relation_type t ON t.id = r.type
         WHERE r.source = ?1 AND r.target = ?2 AND r.origin <> 'link' AND r.retracted_at IS NULL ORDER BY r.id",
    )?;
    let rows = statement.query_map([source.0, target.0], |row| {
        Ok(JoiningFact {
            id: RelationId(row.get(0)?),
            kind: RelationTypeId(row.get(1)?),
            relation: row.get(2)?,
            sentence: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The first document that states a fact now.
pub(crate) fn first_uri_of_fact(
    connection: &Connection,
    relation: RelationId,
) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "SELECT d.uri FROM evidence e JOIN document d ON d.id = e.document
             WHERE e.relation = ?1 AND e.retracted_at IS NULL ORDER BY d.uri LIMIT 1",
        )?
        .query_row([relation.0], |row| row.get(0))
        .optional()?)
}
