//! Facts of models as people see and judge them.

use rusqlite::{Connection, params};

use super::Origin;
use super::tombstone::keyed_hash;
use crate::Result;
use crate::types::{RelationId, ReviewFact, Timestamp};

/// A current fact that a model stated, with the first passage that says so.
pub(crate) struct FactToReview {
    pub fact: ReviewFact,
    /// Names and dates that it is known by.
    pub key: String,
}

/// All current facts of models.
pub(crate) fn facts_to_review(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<FactToReview>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, a.name, t.name, b.name, r.fact, r.confidence, d.uri, c.line, c.text, v.quote,
                v.start - c.start,
                a.key || char(10) || t.key || char(10) || b.key || char(10) || coalesce(r.valid_from, '')
         FROM relation r JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
         JOIN relation_type t ON t.id = r.type
         JOIN evidence v ON v.relation = r.id AND (v.document, v.start) =
             (SELECT x.document, x.start FROM evidence x WHERE x.relation = r.id AND x.retracted_at IS NULL
              ORDER BY x.document, x.start LIMIT 1)
         JOIN document d ON d.id = v.document JOIN chunk c ON c.id = v.chunk
         WHERE r.namespace = ?1 AND r.origin = ?2 AND r.retracted_at IS NULL
         ORDER BY r.id",
    )?;
    let rows = statement.query_map(params![namespace, Origin::Llm.as_str()], |row| {
        let fact = ReviewFact {
            id: row.get(0)?,
            source: row.get(1)?,
            kind: row.get(2)?,
            target: row.get(3)?,
            fact: row.get(4)?,
            confidence: row.get(5)?,
            uri: row.get(6)?,
            line: row.get::<_, i64>(7)? as usize,
            passage: row.get(8)?,
            quote: row.get(9)?,
            quote_start: row.get::<_, i64>(10)?.max(0) as usize,
        };
        Ok(FactToReview {
            fact,
            key: row.get(11)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether a person has judged a fact.
pub(crate) fn has_verdict(connection: &Connection, namespace: i64, parts: &[&str]) -> Result<bool> {
    let hash = keyed_hash(connection, parts)?;
    Ok(connection
        .prepare_cached("SELECT 1 FROM verdict WHERE namespace = ?1 AND hash = ?2")?
        .exists(params![namespace, hash])?)
}

/// Notes what a person says of a fact; the last word counts.
pub(crate) fn save_verdict(
    connection: &Connection,
    namespace: i64,
    parts: &[&str],
    kind: &str,
    is_right: bool,
    now: Timestamp,
) -> Result<()> {
    let hash = keyed_hash(connection, parts)?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO verdict (namespace, hash, type, is_right, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![namespace, hash, kind, is_right, now.0])?;
    Ok(())
}

/// By type of relation: how many facts were judged right, and wrong.
pub(crate) fn verdict_counts(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(String, usize, usize)>> {
    let mut statement = connection.prepare_cached(
        "SELECT type, sum(is_right), sum(NOT is_right) FROM verdict WHERE namespace = ?1 GROUP BY type ORDER BY type",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok((
            row.get(0)?,
            row.get::<_, i64>(1)? as usize,
            row.get::<_, i64>(2)? as usize,
        ))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The fact of a model, current or not, that has this number.
pub(crate) fn is_fact_of_model(
    connection: &Connection,
    namespace: i64,
    id: RelationId,
) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM relation WHERE namespace = ?1 AND id = ?2 AND origin = ?3")?
        .exists(params![namespace, id.0, Origin::Llm.as_str()])?)
}
