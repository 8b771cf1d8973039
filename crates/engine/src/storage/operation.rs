//! Changes that people and agents made, so that they can be undone.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::{ClaimId, DocumentId, OperationView, RelationId, Timestamp};

/// A change as undoing it needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationRow {
    pub(crate) kind: String,
    /// Paths of the episodes it added.
    pub(crate) episodes: Vec<String>,
    /// Facts it took back.
    pub(crate) retracted: Vec<RelationId>,
    /// Claims it took back.
    pub(crate) claims: Vec<ClaimId>,
    pub(crate) undone: bool,
}

/// A change about to be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewOperation<'a> {
    pub(crate) kind: &'a str,
    pub(crate) summary: &'a str,
    /// Paths of the episodes it added.
    pub(crate) episodes: &'a [String],
    /// Facts it took back.
    pub(crate) facts: &'a [RelationId],
    /// Claims it took back.
    pub(crate) claims: &'a [ClaimId],
}

impl<'a> NewOperation<'a> {
    /// One that added and took back nothing.
    pub(crate) const fn new(kind: &'a str) -> Self {
        Self {
            kind,
            summary: "",
            episodes: &[],
            facts: &[],
            claims: &[],
        }
    }
}

/// Records a change.
pub(crate) fn save_operation(
    connection: &Connection,
    namespace: i64,
    operation: &NewOperation<'_>,
    now: Timestamp,
) -> Result<i64> {
    let episodes = serde_json::Value::from(operation.episodes.to_vec()).to_string();
    connection
        .prepare_cached(
            "INSERT INTO operation (namespace, at, kind, summary, episodes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            namespace,
            now.0,
            operation.kind,
            operation.summary,
            episodes
        ])?;
    let id = connection.last_insert_rowid();
    for claim in operation.claims {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO operation_claim (operation, claim) VALUES (?1, ?2)",
            )?
            .execute(params![id, claim.0])?;
    }
    for relation in operation.facts {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO operation_fact (operation, relation) VALUES (?1, ?2)",
            )?
            .execute(params![id, relation.0])?;
    }
    Ok(id)
}

/// A change of the namespace; `None` when there is none of this number.
pub(crate) fn operation(
    connection: &Connection,
    namespace: i64,
    id: i64,
) -> Result<Option<OperationRow>> {
    let Some((kind, episodes, undone)) = connection
        .prepare_cached(
            "SELECT kind, episodes, undone_at IS NOT NULL FROM operation WHERE id = ?2 AND namespace = ?1",
        )?
        .query_row(params![namespace, id], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?))
        })
        .optional()?
    else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT relation FROM operation_fact WHERE operation = ?1 ORDER BY relation",
    )?;
    let retracted = statement.query_map([id], |row| row.get(0).map(RelationId))?;
    let mut claims = connection
        .prepare_cached("SELECT claim FROM operation_claim WHERE operation = ?1 ORDER BY claim")?;
    let claims = claims
        .query_map([id], |row| row.get(0).map(ClaimId))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(OperationRow {
        kind,
        episodes: serde_json::from_str(&episodes).unwrap_or_default(),
        retracted: retracted.collect::<rusqlite::Result<_>>()?,
        claims,
        undone,
    }))
}

/// Marks a change as undone.
pub(crate) fn mark_undone(connection: &Connection, id: i64, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached("UPDATE operation SET undone_at = ?2 WHERE id = ?1")?
        .execute(params![id, now.0])?;
    Ok(())
}

/// The latest changes, newest first.
pub(crate) fn operations(
    connection: &Connection,
    namespace: i64,
    limit: usize,
) -> Result<Vec<OperationView>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, kind, summary, undone_at FROM operation WHERE namespace = ?1
         ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![namespace, limit as i64], |row| {
        Ok(OperationView {
            id: row.get(0)?,
            at: Timestamp(row.get(1)?).to_string(),
            kind: row.get(2)?,
            summary: row.get(3)?,
            undone_at: row
                .get::<_, Option<i64>>(4)?
                .map(|at| Timestamp(at).to_string()),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// When anything was last changed this way: later changes are recorded at a later moment, whatever the clock
/// says.
pub(crate) fn last_operation(connection: &Connection, namespace: i64) -> Result<Option<Timestamp>> {
    let at: Option<i64> = connection
        .prepare_cached("SELECT max(at) FROM operation WHERE namespace = ?1")?
        .query_row([namespace], |row| row.get(0))?;
    Ok(at.map(Timestamp))
}

/// Takes back what a document states. Returns the relations that lost a line.
pub(crate) fn withdraw_document(
    connection: &Connection,
    document: DocumentId,
    now: Timestamp,
) -> Result<Vec<RelationId>> {
    let mut statement = connection.prepare_cached(
        "UPDATE evidence SET retracted_at = ?2 WHERE document = ?1 AND retracted_at IS NULL
         RETURNING relation",
    )?;
    let rows = statement.query_map(params![document.0, now.0], |row| row.get(0).map(RelationId))?;
    let mut touched = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    touched.sort_unstable();
    touched.dedup();
    Ok(touched)
}
